//! BLAST+'s errors for words, or parts of words, that are not identifiers.

use std::fmt;

use crate::convert::{ValueParseError, exception};

/// An exception of BLAST+ 2.12.0 about an identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct IdException {
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cause {
    /// A `CSeqIdException`.
    Format {
        /// The function of BLAST+ that throws, as its message names it.
        function: &'static str,
        /// The line of BLAST+'s source that throws.
        line: u32,
        text: String,
    },
    /// A text stands where only a number is allowed.
    Choice,
    /// A text is not a valid number.
    Convert(ValueParseError),
}

/// BLAST+'s message for a text where only a number is allowed.
const TEXT: &str = "CObject_id::GetId(): Invalid choice selection: NCBI-General::Object-id.str";

impl fmt::Display for IdException {
    /// Writes the exception as BLAST+ prints it, without the text that BLAST+ prints before it
    /// (`Error: `, `Warning: (1306.7) [blastp] `).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&match &self.cause {
            Cause::Format { function, line, text } => {
                let what =
                    format!("(CSeqIdException::eFormat) ncbi::objects::{function}() - {text}");
                exception(*line, &what)
            }
            Cause::Choice => exception(96, &format!("(CInvalidChoiceSelection::eFail) {TEXT}")),
            Cause::Convert(error) => error.exception(),
        })
    }
}

impl From<ValueParseError> for IdException {
    fn from(error: ValueParseError) -> Self {
        Self { cause: Cause::Convert(error) }
    }
}

impl IdException {
    /// Returns the message without the position in BLAST+'s source.
    pub fn text(&self) -> &str {
        match &self.cause {
            Cause::Format { text, .. } => text,
            Cause::Choice => TEXT,
            Cause::Convert(error) => error.message(),
        }
    }

    /// Creates the error for a text where only a number is allowed.
    pub(super) fn no_choice() -> Self {
        Self { cause: Cause::Choice }
    }

    /// Creates the error for an empty word.
    pub(super) fn empty() -> Self {
        Self::new("CSeq_id::Set", 2457, "Empty bare accession supplied".to_owned())
    }

    /// Creates the error for a word that is neither an accession nor a valid local identifier.
    pub(super) fn malformed(word: &[u8]) -> Self {
        Self::new("CSeq_id::Set", 2490, format!("Malformatted ID {}", to_text(word)))
    }

    /// Creates the error for a part that stands in the place of a tag but is none.
    pub(super) fn unsupported_tag(part: &[u8]) -> Self {
        Self::new("CSeq_id::ParseIDs", 2646, format!("Unsupported ID type {}", to_text(part)))
    }

    /// Creates the error for more than one identifier.
    pub(super) fn too_many_parts(word: &[u8]) -> Self {
        let text = format!("FASTA-style ID {} has too many parts.", to_text(word));
        Self::new("CSeq_id::Set", 2531, text)
    }

    /// Creates the error for missing parts after a tag.
    pub(super) fn too_few_parts(tag: &str) -> Self {
        Self::new("CSeq_id::x_Init", 2721, format!("Not enough fields for ID of type {tag}"))
    }

    /// Creates the error for an invalid sequence number of a patent. `parts` are the country, the
    /// patent number and the sequence number.
    pub(super) fn patent(parts: [&[u8]; 3]) -> Self {
        let [country, number, sequence] = parts.map(to_text);
        let text = format!("Bad sequence number {sequence} for {country} patent {number}");
        Self::new("CSeq_id::x_Init", 2779, text)
    }

    /// Creates the error for an invalid PDB entry.
    pub(super) fn pdb(entry: &[u8]) -> Self {
        Self::new("CSeq_id::x_Init", 2793, format!("Malformatted PDB ID {}", to_text(entry)))
    }

    /// Creates the error for an invalid identifier of a type whose identifiers are numbers.
    pub(super) fn no_number(kind: &str, part: &[u8]) -> Self {
        let part = to_text(part);
        let text = format!("Negative, excessively large, or non-numeric {kind} ID {part}");
        Self::new("CSeq_id::Set", 2921, text)
    }

    /// Creates the error for an invalid version after the dot of an accession. BLAST+ checks it in
    /// two functions.
    pub(super) fn version(function: &'static str, line: u32, accession: &[u8]) -> Self {
        let accession = to_text(accession);
        let text = format!("Version embedded in accession {accession} is not a positive integer");
        Self::new(function, line, text)
    }

    /// Creates the error for an identifier with neither accession nor name.
    pub(super) fn nameless(release: &[u8]) -> Self {
        let release = to_text(release);
        let text = format!(
            "Accession and name missing for Textseq-id (but got version 0, release {release})"
        );
        Self::new("CTextseq_id::Set", 129, text)
    }

    const fn new(function: &'static str, line: u32, text: String) -> Self {
        Self { cause: Cause::Format { function, line, text } }
    }
}

fn to_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
