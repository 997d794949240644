//! `convert2blastmask`: reads masks from FASTA, and writes them for makeblastdb.

use std::ffi::OsString;
use std::io::BufRead;
use std::os::unix::ffi::OsStringExt;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::{Output, leave_empty};
use fleetblast_report::masking::{MaskAlgorithm, MaskEncoding, MaskFileWriter};
use fleetblast_seq::convert::{exception, printable};
use fleetblast_seq::fasta::{FastaError, FastaErrorKind, Options as FastaOptions, Reader, Rules};
use fleetblast_seq::id::choose_best_id;

use super::input::open_file;
use super::numbering::Numbering;
use crate::exceptions::convert_last_error;
use crate::options::convert2blastmask::{
    CONVERT2BLASTMASK, MASKING_ALGORITHM, MASKING_OPTIONS, OUTFMT,
};
use crate::options::masker::{IN, OUT, PARSE_SEQIDS};
use crate::options::parse::GivenOptions;
use crate::options::values::Values;
use crate::plan;

/// Values of the options of `convert2blastmask`.
#[derive(Debug)]
struct Options {
    /// `-in`.
    input: OsString,
    out: OsString,
    parse_seqids: bool,
    /// The encoding of a file of masks; `None` for intervals.
    encoding: Option<MaskEncoding>,
    algorithm: MaskAlgorithm,
}

impl Options {
    fn new(given: &GivenOptions) -> Self {
        let values = Values::new(&CONVERT2BLASTMASK, given);
        let (program, name) = program(&values.get(&MASKING_ALGORITHM).to_string_lossy());
        let options = values.get(&MASKING_OPTIONS).into_vec();
        Self {
            input: values.get(&IN),
            out: values.get(&OUT),
            parse_seqids: values.get(&PARSE_SEQIDS),
            encoding: match values.get(&OUTFMT).to_string_lossy().as_ref() {
                "maskinfo_asn1_bin" => Some(MaskEncoding::Binary),
                "maskinfo_asn1_text" => Some(MaskEncoding::Text),
                "maskinfo_xml" => Some(MaskEncoding::Xml),
                _ => None,
            },
            algorithm: MaskAlgorithm { id: 0, program, name, options },
        }
    }
}

/// Returns NCBI's number and name of a masking program.
fn program(name: &str) -> (i64, &'static str) {
    match name.to_ascii_lowercase().as_str() {
        "not_set" => (0, "not-set"),
        "dust" => (10, "dust"),
        "seg" => (20, "seg"),
        "windowmasker" => (30, "windowmasker"),
        "repeat" => (40, "repeat"),
        _ => (100, "other"),
    }
}

/// Runs `convert2blastmask`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn convert2blastmask(given: &GivenOptions) -> Result<(), Error> {
    convert(&Options::new(given)).map_err(convert_last_error)
}

fn convert(options: &Options) -> Result<(), Error> {
    let input = open_file(&options.input)?;
    let target = plan::input::destination(OUT.name(), &options.out)?;
    let mut output = Output::open(&target)?;
    let mut file =
        options.encoding.map(|encoding| MaskFileWriter::new(options.algorithm.clone(), encoding));
    let converted = convert_all(input, options, &mut file, &mut output);
    // BLAST+ completes a file of masks also after an error.
    let mut end = Vec::new();
    file.into_iter().for_each(|file| file.end(&mut end));
    output.write(&end)?;
    if converted.is_ok() {
        return output.commit();
    }
    drop(output);
    leave_empty(&target);
    converted
}

/// Converts the masks of all sequences of the input.
fn convert_all(
    input: Box<dyn BufRead + Send>,
    options: &Options,
    file: &mut Option<MaskFileWriter>,
    output: &mut Output,
) -> Result<(), Error> {
    let reading = FastaOptions {
        parse_deflines: options.parse_seqids,
        rules: Rules::Masks,
        ..FastaOptions::default()
    };
    let mut reader = Reader::new(input, &options.input, reading);
    let mut numbering = Numbering::default();
    while let Some(record) = reader.next_record().map_err(|error| failure(&error))? {
        let (ids, masks) = (numbering.identify(&record.ids), &record.lower_case);
        let mut text = Vec::new();
        match (file.as_mut(), choose_best_id(&ids)) {
            _ if masks.is_empty() => {}
            (Some(file), Some(id)) => file.add(id, masks, &mut text),
            _ => masks.iter().for_each(|mask| {
                text.extend(format!("{} - {}\n", mask.start, mask.end - 1).into_bytes());
            }),
        }
        output.write(&text)?;
    }
    Ok(())
}

/// Converts an error of the FASTA reader to BLAST+'s exception.
fn failure(error: &FastaError) -> Error {
    const READER: &str = "CObjReaderParseException";
    let message = match error {
        FastaError::Invalid { problem: FastaErrorKind::BadPosition { text, position }, .. } => {
            position_exception(text, *position)
        }
        FastaError::Invalid { line, problem, .. } => {
            let (source_line, code, function) = match problem {
                FastaErrorKind::NoDefline => {
                    (355, "eNoDefline", "ncbi::objects::CFastaReader::ReadOneSeq() - ")
                }
                FastaErrorKind::UnknownMolecule => {
                    (1568, "eAmbiguous", "ncbi::objects::CFastaReader::AssignMolType() - ")
                }
                FastaErrorKind::NoRecord => (2112, "eEOF", ""),
                FastaErrorKind::NoResidues => (2112, "eNoResidues", ""),
                _ => (2112, "eFormat", ""),
            };
            let what = error.blast_message().unwrap_or_else(|| error.to_string());
            let what = format!("({READER}::{code}) {function}{what} (m_Pos = {line})");
            exception(source_line, &what)
        }
        FastaError::Read { .. } => format!("Error: {error}"),
    };
    Error::new(exit::INPUT, message)
}

/// Formats BLAST+'s exception for a text in the place of a position.
fn position_exception(text: &str, position: Option<usize>) -> String {
    let shown = printable(text.as_bytes());
    let (line, function, kind, position) = match position {
        Some(0) if text.is_empty() => (897, "StringToUInt8", "Uint8", 0),
        Some(position) => (910, "StringToUInt8", "Uint8", position),
        None => (652, "StringToUInt", "unsigned int, overflow", 0),
    };
    let what = format!("Cannot convert string '{shown}' to {kind} (m_Pos = {position})");
    exception(line, &format!("(CStringException::eConvert) ncbi::NStr::{function}() - {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::compat::{COMPAT, released};
    use crate::options::parse::GivenOptions;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_converted() {
        // Only help and the version depend on the release.
        let release = |given: &GivenOptions| given.get(COMPAT.name()).and_then(released);
        each_option_counts(&CONVERT2BLASTMASK, &[], |given| {
            format!("{:?} {:?}", Options::new(given), release(given))
        });
    }
}
