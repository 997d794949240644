//! Conversion of lists of GIs from text to binary.

use std::path::Path;

use fleetblast_job::error::Error;
use fleetblast_job::output::leave_empty;
use fleetblast_job::plan::Destination;
use fleetblast_makedb::encode_gi_list;
use fleetblast_seq::convert::parse_integer;

use super::options::GiConversion;
use super::{destination, with_extension, write_file};
use crate::hint;
use crate::messages::say;
use crate::options::blastdb_aliastool::{GI_FILE_IN, GI_FILE_OUT};
use crate::options::compat::database_file_error;
use crate::plan::input;
use crate::text_file::read_text_file;

/// Parses a list of GIs, one on each line. Empty lines and lines that start with `#` are ignored.
/// BLAST+ drops lines that are not a number without a message; a hint on a terminal names them.
pub(super) fn parse(text: &[u8]) -> Vec<i64> {
    let lines = text.split(|&byte| byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
    let (mut gis, mut invalid_lines) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        match parse_integer(line, 10) {
            Ok(gi) => gis.push(gi),
            Err(_) => invalid_lines.push(at + 1),
        }
    }
    hint::invalid_lines(&invalid_lines, "GIs");
    gis
}

/// Converts the list of `-gi_file_in`.
pub(super) fn convert_file(options: &GiConversion) -> Result<(), Error> {
    let target = match &options.output {
        // BLAST+ opens this file before it reads the list.
        Some(path) if path != "-" => input::destination(GI_FILE_OUT.name(), path)?,
        Some(path) => destination(path),
        None => destination(&with_extension(&options.input, ".bgl")),
    };
    let text = read_text_file(GI_FILE_IN.name(), &options.input).inspect_err(|_| {
        if options.output.is_some() {
            leave_empty(&target);
        }
    })?;
    let gis = parse(&text);
    say(format!("Converted {} GIs into binary GI file", gis.len()).as_bytes());
    let written = write_file(&target, &encode_gi_list(gis));
    match &target {
        // BLAST+ reports also that there is no such regular file after it has written to a pipe.
        Destination::File(path) if !Path::new(path).is_file() => {
            let what = format_args!("{} not written", path.display());
            Err(database_file_error(options.release, what))
        }
        _ => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected GIs are those of `blastdb_aliastool -gi_file_in`.
    #[test]
    fn lines_that_are_no_number_are_dropped() {
        assert_eq!(
            parse(b"1\n+2\n\n#3\n 4\n5 \n6\r\n0x7\n-8\n99999999999999999999\n9"),
            [1, 2, -8, 9]
        );
    }
}
