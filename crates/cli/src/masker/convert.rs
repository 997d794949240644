//! `convert2blastmask`: reads masks from FASTA, and writes them for makeblastdb.

use std::ffi::OsString;
use std::io::BufRead;
use std::os::unix::ffi::OsStringExt;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::output::{Output, leave_empty};
use fleetblast_report::masking::{MaskAlgorithm, MaskEncoding, MaskFileWriter};
use fleetblast_seq::convert::printable;
use fleetblast_seq::fasta::{FastaError, FastaErrorKind, Options as FastaOptions, Reader, Rules};
use fleetblast_seq::id::choose_best_id;
use fleetblast_stats::release::Release;

use super::input::{defline_exception, line_exception, open_file, reader_exception};
use super::numbering::Numbering;
use crate::exceptions::{Exception, conversion_exception, convert_last_error};
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
    release: &'static Release,
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
            release: values.release(),
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
    let options = Options::new(given);
    convert(&options).map_err(|error| convert_last_error(options.release, error))
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
        id_end: options.release.id_end,
        checks_whole_ids: true,
    };
    let mut reader = Reader::new(input, &options.input, reading);
    let mut numbering = Numbering::default();
    while let Some(record) =
        reader.next_record().map_err(|error| failure(options.release, &error))?
    {
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
fn failure(release: &Release, error: &FastaError) -> Error {
    let message = match error {
        FastaError::Invalid { problem: FastaErrorKind::BadPosition { text, position }, .. } => {
            position_exception(release, text, *position)
        }
        FastaError::Invalid { line, problem, .. } => {
            let exception = match problem {
                FastaErrorKind::UnknownMolecule => UNKNOWN_MOLECULE,
                FastaErrorKind::NoRecord => line_exception("eEOF"),
                FastaErrorKind::NoResidues => line_exception("eNoResidues"),
                _ => defline_exception(problem).unwrap_or(line_exception("eFormat")),
            };
            let what = error.blast_message().unwrap_or_else(|| error.to_string());
            exception.format(release, &format!("{what} (m_Pos = {line})"))
        }
        FastaError::Read { .. } => format!("Error: {error}"),
    };
    Error::new(exit::INPUT, message)
}

/// The exception for a sequence that may be a protein or a nucleotide.
const UNKNOWN_MOLECULE: Exception =
    reader_exception([1568, 1606, 1606], "eAmbiguous", "objects::CFastaReader::AssignMolType");

/// Formats BLAST+'s exception for a text in the place of a position.
fn position_exception(release: &Release, text: &str, position: Option<usize>) -> String {
    let shown = printable(text.as_bytes());
    let (lines, function, kind, position) = match position {
        Some(0) if text.is_empty() => ([897, 897, 895], "NStr::StringToUInt8", "Uint8", 0),
        Some(position) => ([910, 910, 908], "NStr::StringToUInt8", "Uint8", position),
        None => ([652; 3], "NStr::StringToUInt", "unsigned int, overflow", 0),
    };
    let what = format!("Cannot convert string '{shown}' to {kind} (m_Pos = {position})");
    conversion_exception(lines, function).format(release, &what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_converted() {
        each_option_counts(&CONVERT2BLASTMASK, &[], |given| format!("{:?}", Options::new(given)));
    }
}
