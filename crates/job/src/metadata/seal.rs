//! Metadata that only those can read for whom they are: encrypted where they lie, in the format of age.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use age::stream::{StreamReader, StreamWriter};
use age::{DecryptError, Decryptor, Encryptor, IdentityFile};
use fleetblast_link::key::open_secret;

use crate::error::{Error, exit};
use crate::output::Output;

/// How what is encrypted begins.
const MAGIC: &[u8] = b"age-encryption.org/v1\n";
/// The same as text (`age --armor`).
const MAGIC_OF_TEXT: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";

/// For whom something is encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient(age::x25519::Recipient);

impl FromStr for Recipient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what| format!("'{text}' is no key of a recipient, such as age1...: {what}");
        text.parse().map(Recipient).map_err(wrong)
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Encrypts what goes to an output.
pub struct Sealed(StreamWriter<Through>);

/// An output whose errors come back.
struct Through(Output);

impl Write for Through {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sealed {
    /// For one recipient at least.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn new(output: Output, recipients: &[Recipient]) -> Result<Self, Error> {
        let recipients = recipients.iter().map(|Recipient(key)| key as &dyn age::Recipient);
        let encryptor = Encryptor::with_recipients(recipients);
        let encryptor = encryptor.map_err(|error| Error::engine(error.to_string()))?;
        Ok(Sealed(encryptor.wrap_output(Through(output)).map_err(failure)?))
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.write_all(bytes).map_err(failure)
    }

    /// The output, now that everything is written.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn finish(self) -> Result<Output, Error> {
        let Through(output) = self.0.finish().map_err(failure)?;
        Ok(output)
    }
}

/// What the output said.
fn failure(error: io::Error) -> Error {
    error.downcast().unwrap_or_else(Error::output)
}

/// Reads what is encrypted. Each piece that comes out was put in by somebody who knew the recipient, and in this place.
struct Unsealed {
    reader: StreamReader<BufReader<Ending<BufReader<File>>>>,
    at_end: Arc<AtomicBool>,
}

impl Read for Unsealed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.reader.read(into).map_err(|error| match error.kind() {
            // What is left of a piece that was cut cannot be told from one that was altered.
            ErrorKind::InvalidData if self.at_end.load(Ordering::Relaxed) => {
                ErrorKind::UnexpectedEof.into()
            }
            _ => error,
        })
    }
}

/// Tells when the end is reached.
struct Ending<R> {
    inner: R,
    at_end: Arc<AtomicBool>,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        if count == 0 && !into.is_empty() {
            self.at_end.store(true, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// Opens a file that may be encrypted: then for one of the identities in another.
///
/// # Errors
/// A file that cannot be read, or that is for somebody else; an identity for a file that is not encrypted.
pub fn open(path: &Path, identity: Option<&Path>) -> Result<Box<dyn Read + Send>, Error> {
    let wrong = |what: String| Error::new(exit::INPUT, what);
    let cannot =
        |path: &Path, error: io::Error| wrong(format!("cannot open {}: {error}", path.display()));
    let file = File::open(path).map_err(|error| cannot(path, error))?;
    let mut file = BufReader::new(file);
    let begin = file.fill_buf().map_err(|error| cannot(path, error))?;
    let (is_sealed, place) = (begin.starts_with(MAGIC), path.display());
    if begin.starts_with(MAGIC_OF_TEXT) {
        return Err(wrong(format!(
            "{place} is encrypted as text: have 'age -d' decrypt it, or encrypt it without -a"
        )));
    }
    let Some(identity) = identity else {
        return match is_sealed {
            false => Ok(Box::new(file)),
            true => Err(wrong(format!(
                "{place} is encrypted: name the file of an identity for which it is with -identity"
            ))),
        };
    };
    if !is_sealed {
        return Err(wrong(format!("{place} is not encrypted, so that -identity is of no use")));
    }
    let keys = open_secret(identity).map_err(|error| wrong(error.to_string()))?;
    let keys = IdentityFile::from_buffer(BufReader::new(keys));
    let unusable =
        |error: &dyn fmt::Display| wrong(format!("{}: {}", identity.display(), first_line(error)));
    let keys = keys.map_err(|error| unusable(&error))?.into_identities();
    let keys = keys.map_err(|error| unusable(&error))?;
    let at_end = Arc::new(AtomicBool::new(false));
    let ending = Ending { inner: file, at_end: Arc::clone(&at_end) };
    let reader = Decryptor::new_buffered(BufReader::new(ending))
        .and_then(|decryptor| decryptor.decrypt(keys.iter().map(|key| &**key)));
    match reader {
        Ok(reader) => Ok(Box::new(Unsealed { reader, at_end })),
        Err(DecryptError::NoMatchingKeys) => Err(wrong(format!(
            "{place} is encrypted for others than the identity in {}",
            identity.display()
        ))),
        Err(error) => Err(wrong(format!(
            "{place} is damaged, or cut off, where its encryption begins: {}",
            first_line(&error)
        ))),
    }
}

/// An error of age in one line: others are what somebody might try.
fn first_line(error: &dyn fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
