//! `segmasker` and `dustmasker` find low complexity in sequences; `convert2blastmask` reads masks
//! from FASTA.
//!
//! Output and exit codes are those of BLAST+ (`segmasker.cpp`, `dust_mask_app.cpp`,
//! `convert2blastmask.cpp`).

mod convert;
mod dust;
mod input;
mod numbering;
mod options;
mod output;

use std::ops::Range;

use fleetblast_job::error::Error;
use fleetblast_job::output::{Output, leave_empty};
use fleetblast_seq::seg;

pub use self::convert::convert2blastmask;
use self::dust::mask_bases;
use self::input::Sequences;
use self::options::{Algorithm, InputFormat, Options};
use self::output::MaskWriter;
use crate::exceptions::convert_last_error;
use crate::options::masker::OUT;
use crate::options::parse::GivenOptions;
use crate::plan;

/// Runs `segmasker`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn segmasker(given: &GivenOptions) -> Result<(), Error> {
    let options = Options::of_segmasker(given)?;
    run(&options).map_err(|error| convert_last_error(options.release, error))
}

/// Runs `dustmasker`.
///
/// # Errors
/// A message and BLAST+'s exit code.
pub fn dustmasker(given: &GivenOptions) -> Result<(), Error> {
    run(&Options::of_dustmasker(given)?)
}

fn run(options: &Options) -> Result<(), Error> {
    // segmasker opens its input before its output.
    let early = if options.is_dust() { None } else { Some(input::open(options)?) };
    let target = plan::input::destination(OUT.name(), &options.out)?;
    let opened = early.map_or_else(|| input::open(options), Ok);
    // dustmasker opens its output before a database.
    let is_output_open = options.input_format == InputFormat::Database && options.is_dust();
    let opened = if is_output_open { opened } else { Ok(opened?) };
    let mut writer = MaskWriter::new(options, Output::open(&target)?);
    let masked = opened.and_then(|sequences| mask_all(sequences, options, &mut writer));
    // BLAST+ completes a file of masks also after an error.
    let ended = writer.end();
    match masked {
        Ok(()) => ended?.commit(),
        Err(error) => {
            drop(ended?);
            leave_empty(&target);
            Err(error)
        }
    }
}

/// Finds the ranges of the letters of a sequence that are masked.
type FindMasks = dyn FnMut(&[u8]) -> Vec<Range<u32>>;

/// Masks all sequences of the input.
fn mask_all(
    sequences: Sequences<'_>,
    options: &Options,
    writer: &mut MaskWriter,
) -> Result<(), Error> {
    let mut mask: Box<FindMasks> = match options.algorithm {
        Algorithm::Seg(params) => {
            let mut seg = seg::Masker::for_segmasker(&params);
            Box::new(move |residues| seg.segments(residues))
        }
        Algorithm::Dust { window, params } => {
            Box::new(move |bases| mask_bases(bases, window, &params))
        }
    };
    for sequence in sequences {
        let sequence = sequence?;
        writer.write(&sequence, &mask(&sequence.residues))?;
    }
    Ok(())
}
