//! The options of the masking programs in types of their own.

use std::ffi::OsString;

use fleetblast_job::error::Error;
use fleetblast_seq::dust::DustParams;
use fleetblast_seq::id::Molecule;
use fleetblast_seq::seg::SegParams;

use crate::options::dustmasker::{self, DUSTMASKER};
use crate::options::masker as shared;
use crate::options::parse::GivenOptions;
use crate::options::segmasker::{self, SEGMASKER};
use crate::options::values::Values;
use crate::stream_number::stream_number;

/// Exit code of `segmasker` after an error in its input.
const SEG_FAILURE: u8 = 1;
/// Exit code of `dustmasker` after an error in its input: that of an uncaught exception.
const DUST_FAILURE: u8 = 3;

/// Values of the options of a masking program.
#[derive(Debug)]
pub(super) struct Options {
    /// `-in`.
    pub(super) input: OsString,
    pub(super) out: OsString,
    pub(super) parse_seqids: bool,
    pub(super) format: Format,
    pub(super) algorithm: Algorithm,
    /// The options of the algorithm, as files of masks state them.
    pub(super) description: String,
}

/// The algorithm with its parameters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Algorithm {
    Seg(SegParams),
    Dust {
        /// `-window`: runs of more `N`s than this divide a sequence.
        window: u32,
        params: DustParams,
    },
}

/// The format of masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The definition line of each sequence, then its masks.
    Interval,
    /// The definition line with each mask.
    AccessionList,
    /// The sequences with masked letters in lower case.
    Fasta,
    /// The location of the masks of each sequence, in ASN.1.
    Location(Encoding),
    /// A file of masks for makeblastdb, in ASN.1.
    MaskInfo(Encoding),
}

/// The encoding of ASN.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Binary,
    Text,
}

impl Options {
    pub(super) fn of_segmasker(given: &GivenOptions) -> Result<Self, Error> {
        let values = Values::new(&SEGMASKER, given);
        let window = values.get(&shared::WINDOW);
        let (locut, hicut) = (values.get(&segmasker::LOCUT), values.get(&segmasker::HICUT));
        let cuts = [("locut", locut), ("hicut", hicut)];
        let cuts = cuts.map(|(name, value)| format!("; {name}={}", stream_number(value)));
        let algorithm = Algorithm::Seg(SegParams { window, locut, hicut });
        Self::new(&values, algorithm, format!("window={window}{}", cuts.concat()))
    }

    pub(super) fn of_dustmasker(given: &GivenOptions) -> Result<Self, Error> {
        let values = Values::new(&DUSTMASKER, given);
        let numbers = [&shared::WINDOW, &dustmasker::LEVEL, &dustmasker::LINKER];
        let [window, level, linker] = numbers.map(|option| values.get(option));
        let description = format!("window={window}; level={level}; linker={linker}");
        // BLAST+ takes negative numbers for large ones.
        let [window, level, linker] = [window, level, linker].map(i32::cast_unsigned);
        let params = DustParams { level, window, linker };
        Self::new(&values, Algorithm::Dust { window, params }, description)
    }

    fn new(values: &Values<'_>, algorithm: Algorithm, description: String) -> Result<Self, Error> {
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        let options = Self {
            input: values.get(&shared::IN),
            out: values.get(&shared::OUT),
            parse_seqids: values.get(&shared::PARSE_SEQIDS),
            format: Format::new(&values.get(&shared::OUTFMT).to_string_lossy()),
            algorithm,
            description,
        };
        match values.get(&shared::INFMT).to_string_lossy().as_ref() {
            "fasta" => Ok(options),
            "blastdb" => Err(Error::unsupported(options.program(), "-infmt blastdb")),
            _ => {
                let message = "Error: (106.7) Application's execution failed: Unknown input format";
                Err(Error::new(options.failure_code(), message))
            }
        }
    }

    fn program(&self) -> &'static str {
        match self.algorithm {
            Algorithm::Seg(_) => SEGMASKER.name,
            Algorithm::Dust { .. } => DUSTMASKER.name,
        }
    }

    /// Returns the exit code after an error in the input.
    pub(super) fn failure_code(&self) -> u8 {
        match self.algorithm {
            Algorithm::Seg(_) => SEG_FAILURE,
            Algorithm::Dust { .. } => DUST_FAILURE,
        }
    }

    /// Returns the error for an exception of BLAST+'s FASTA reader. `code` is its name for the kind
    /// of error, and `line` the line of its source.
    pub(super) fn exception(&self, code: &str, line: u32, what: &str) -> Error {
        let function = match what.starts_with("CFastaReader") {
            true => "ncbi::objects::CFastaReader::ReadOneSeq() - ",
            false => "",
        };
        let text = format!("(CObjReaderParseException::{code}) {what}");
        let message = match self.algorithm {
            Algorithm::Seg(_) => format!(
                "NCBI C++ Exception:\n    T0 \"c++/include/corelib/ncbidiag.hpp\", line {line}: \
                 Error: (CObjReaderParseException::{code}) {function}{what}\n"
            ),
            Algorithm::Dust { .. } => {
                format!("Error: {text}\nError: (106.16) Application's execution failed {text}")
            }
        };
        Error::new(self.failure_code(), message)
    }
}

impl Algorithm {
    /// Returns the type of sequences that the algorithm masks.
    pub(super) fn molecule(self) -> Molecule {
        match self {
            Self::Seg(_) => Molecule::Protein,
            Self::Dust { .. } => Molecule::Nucleotide,
        }
    }
}

impl Format {
    fn new(name: &str) -> Self {
        match name {
            "fasta" => Self::Fasta,
            "acclist" => Self::AccessionList,
            "maskinfo_asn1_bin" => Self::MaskInfo(Encoding::Binary),
            "maskinfo_asn1_text" => Self::MaskInfo(Encoding::Text),
            "seqloc_asn1_bin" => Self::Location(Encoding::Binary),
            "seqloc_asn1_text" => Self::Location(Encoding::Text),
            _ => Self::Interval,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_masked() {
        let show = |options: Result<Options, Error>| format!("{options:?}");
        each_option_counts(&SEGMASKER, &[], |given| show(Options::of_segmasker(given)));
        each_option_counts(&DUSTMASKER, &[], |given| show(Options::of_dustmasker(given)));
    }
}
