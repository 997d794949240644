//! Keys, and the fingerprints by which the two sites identify each other.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::str::FromStr;

use ring::digest::{SHA256, digest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::LinkError;

/// Most bytes of a file with a key.
const MOST_BYTES: u64 = 1 << 16;
/// Mode bits of a file that give access to others than its owner.
const OTHERS: u32 = 0o077;

/// SHA-256 digest of a certificate. Its text is 64 hexadecimal digits. Colons in the text are
/// ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Computes the fingerprint of a certificate.
    pub fn from_certificate(certificate: &CertificateDer) -> Self {
        let mut sum = [0; 32];
        sum.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Fingerprint(sum)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Fingerprint {
    type Err = LinkError;

    fn from_str(text: &str) -> Result<Self, LinkError> {
        let wrong =
            || LinkError::Key(format!("'{text}' is no fingerprint: it has 64 digits 0-9, a-f"));
        let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b':').collect();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(wrong());
        }
        let mut sum = [0; 32];
        for (byte, pair) in sum.iter_mut().zip(digits.chunks(2)) {
            let pair = str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Fingerprint(sum))
    }
}

/// A private key with its certificate.
#[derive(Debug)]
pub struct Key {
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) private: PrivateKeyDer<'static>,
}

impl Key {
    /// Creates a key in a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists already, or cannot be written. A file that was written in part is removed.
    pub fn create(path: &Path) -> Result<Fingerprint, LinkError> {
        let fault = |what: &dyn fmt::Display| LinkError::Key(format!("{}: {what}", path.display()));
        let made = rcgen::generate_simple_self_signed(["fleetblast".to_owned()]);
        let made = made.map_err(|error| fault(&error))?;
        let text = made.signing_key.serialize_pem() + &made.cert.pem();
        let file = File::options().write(true).create_new(true).mode(0o600).open(path);
        let mut file = file.map_err(|error| fault(&error))?;
        if let Err(error) = file.write_all(text.as_bytes()).and_then(|()| file.sync_all()) {
            // A truncated file would make the next attempt fail.
            let _ = fs::remove_file(path);
            return Err(fault(&error));
        }
        Ok(Fingerprint::from_certificate(made.cert.der()))
    }

    /// Reads a key from a file.
    ///
    /// # Errors
    /// The file holds no key, or others than its owner can read or write it.
    pub fn read(path: &Path) -> Result<Key, LinkError> {
        let fault = |what: &dyn fmt::Display| LinkError::Key(format!("{}: {what}", path.display()));
        let no_key = || fault(&"this is no key that 'fleetblast keygen' made");
        let mut text = Vec::new();
        let mut file = open_secret(path)?.take(MOST_BYTES + 1);
        file.read_to_end(&mut text).map_err(|error| fault(&error))?;
        if text.len() as u64 > MOST_BYTES {
            return Err(no_key());
        }
        let certificate = CertificateDer::from_pem_slice(&text).map_err(|_| no_key())?;
        let private = PrivateKeyDer::from_pem_slice(&text).map_err(|_| no_key())?;
        Ok(Key { certificate, private })
    }

    /// Returns the fingerprint of the certificate of this key.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::from_certificate(&self.certificate)
    }
}

/// Opens a file that holds a secret, such as a key. It may be a pipe, as from a shell's `<(...)`.
/// The owner of the file is not checked: a file that only its owner can read was opened by its
/// owner, or by a user who may open anything.
///
/// # Errors
/// The file cannot be opened, or others than its owner can read or write it.
pub fn open_secret(path: &Path) -> Result<File, LinkError> {
    let failed = |what: &dyn fmt::Display| LinkError::Key(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mode = file.metadata().map_err(|error| failed(&error))?.mode();
    if mode & OTHERS != 0 {
        return Err(failed(&"others than its owner can read or write this file: chmod 600"));
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keys_are_read_again_and_kept_secret() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let made = Key::create(&path).unwrap();
        assert_eq!(Key::read(&path).unwrap().fingerprint(), made);
        assert_eq!(made.to_string().parse::<Fingerprint>().unwrap(), made);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(Key::create(&path).is_err(), "a key is never written over");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Key::read(&path).unwrap_err().to_string().contains("chmod 600"));
        let other = dir.path().join("other");
        fs::write(&other, "no key").unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Key::read(&other).unwrap_err().to_string().contains("no key"));
    }

    #[test]
    fn fingerprints_are_64_digits() {
        let text = "aB:".repeat(31) + "01";
        assert_eq!(text.parse::<Fingerprint>().unwrap().to_string(), "ab".repeat(31) + "01");
        for wrong in ["", "ab", &"g".repeat(64), &"a".repeat(66)] {
            assert!(wrong.parse::<Fingerprint>().is_err());
        }
    }
}
