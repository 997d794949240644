//! The options of the masking programs in types of their own.

use std::ffi::OsString;

use fleetblast_job::error::Error;
use fleetblast_job::output::leave_empty;
use fleetblast_report::masking::MaskEncoding;
use fleetblast_seq::dust::DustParams;
use fleetblast_seq::id::Molecule;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::release::Release;

use crate::exceptions::Exception;
use crate::options::dustmasker::{self, DUSTMASKER};
use crate::options::masker as shared;
use crate::options::parse::GivenOptions;
use crate::options::segmasker::{self, SEGMASKER};
use crate::options::values::Values;
use crate::plan::input;
use crate::stream_number::stream_number;

/// Exit code of `segmasker` after an error in its input.
const SEG_FAILURE: u8 = 1;
/// Exit code after an uncaught exception.
const UNCAUGHT: u8 = 3;

/// Values of the options of a masking program.
#[derive(Debug)]
pub(super) struct Options {
    /// `-in`: a file, or the name of a database.
    pub(super) input: OsString,
    pub(super) input_format: InputFormat,
    pub(super) out: OsString,
    pub(super) parse_seqids: bool,
    pub(super) format: Format,
    pub(super) algorithm: Algorithm,
    /// The options of the algorithm, as files of masks state them.
    pub(super) description: String,
    /// `-hard_masking`: FASTA has `N` instead of masked letters.
    pub(super) hard_masking: bool,
    /// The release that the program follows.
    pub(super) release: &'static Release,
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

/// `-infmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFormat {
    Fasta,
    Database,
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
    Location(MaskEncoding),
    /// A file of masks for makeblastdb, in ASN.1.
    MaskInfo(MaskEncoding),
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
        let options = Self::new(&values, Algorithm::Dust { window, params }, description)?;
        let hard_masking = values.flag_if_listed(&dustmasker::HARD_MASKING);
        if hard_masking && options.format != Format::Fasta {
            // BLAST+ has opened its output by now.
            leave_empty(&input::destination(shared::OUT.name(), &options.out)?);
            return Err(execution_failure("Hard masking can only be applied for fasta output"));
        }
        Ok(Self { hard_masking, ..options })
    }

    fn new(values: &Values<'_>, algorithm: Algorithm, description: String) -> Result<Self, Error> {
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        let mut options = Self {
            input: values.get(&shared::IN),
            input_format: InputFormat::Fasta,
            out: values.get(&shared::OUT),
            parse_seqids: values.get(&shared::PARSE_SEQIDS),
            format: Format::new(&values.get(&shared::OUTFMT).to_string_lossy()),
            algorithm,
            description,
            hard_masking: false,
            release: values.release(),
        };
        match values.get(&shared::INFMT).to_string_lossy().as_ref() {
            "fasta" => Ok(options),
            "blastdb" => {
                options.input_format = InputFormat::Database;
                Ok(options)
            }
            _ => {
                let message = "Error: (106.7) Application's execution failed: Unknown input format";
                Err(Error::new(options.failure_code(), message))
            }
        }
    }

    /// Returns whether the program is `dustmasker`.
    pub(super) fn is_dust(&self) -> bool {
        matches!(self.algorithm, Algorithm::Dust { .. })
    }

    /// Returns the exit code after an error in the input.
    pub(super) fn failure_code(&self) -> u8 {
        match self.algorithm {
            Algorithm::Seg(_) => SEG_FAILURE,
            Algorithm::Dust { .. } => UNCAUGHT,
        }
    }

    /// Returns the error for an exception of BLAST+ with a description.
    pub(super) fn exception(&self, exception: &Exception, what: &str) -> Error {
        match self.algorithm {
            Algorithm::Seg(_) => Error::new(SEG_FAILURE, exception.format(self.release, what)),
            Algorithm::Dust { .. } => dust_failure(&exception.name(self.release), what),
        }
    }
}

/// Returns the error for an exception that no program of BLAST+ catches itself.
pub(super) fn execution_failure(what: &str) -> Error {
    let message = format!("Error: (106.7) Application's execution failed: {what}");
    Error::new(UNCAUGHT, message)
}

/// Returns the error of `dustmasker` for an exception with this name and description.
pub(super) fn dust_failure(name: &str, what: &str) -> Error {
    let message = format!(
        "Error: ({name}) {what}\nError: (106.16) Application's execution failed ({name}) {what}"
    );
    Error::new(UNCAUGHT, message)
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
            "maskinfo_asn1_bin" => Self::MaskInfo(MaskEncoding::Binary),
            "maskinfo_asn1_text" => Self::MaskInfo(MaskEncoding::Text),
            "maskinfo_xml" => Self::MaskInfo(MaskEncoding::Xml),
            "seqloc_asn1_bin" => Self::Location(MaskEncoding::Binary),
            "seqloc_asn1_text" => Self::Location(MaskEncoding::Text),
            "seqloc_xml" => Self::Location(MaskEncoding::Xml),
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
