//! Range, strand and masks of the sequences that `blastdbcmd` writes: from its options, or from
//! each line of the file of `-entry_batch`.

use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use fleetblast_db::SequenceKind;

use super::Stop;
use super::messages;
use super::options::Options;
use super::source::Source;
use crate::options::number;

/// Range, strand and masks of the sequences to write.
#[derive(Clone, Debug, Default)]
pub(super) struct Config {
    /// Bases or residues to write, counted from 0; `None` for the whole sequence. The range may
    /// begin or end after the end of the sequence.
    range: Option<Range<u32>>,
    /// Whether to write the minus strand.
    pub(super) minus: bool,
    /// Algorithm whose masks are written in lower case.
    pub(super) mask: Option<i32>,
    /// Algorithm whose masks `%m` writes.
    pub(super) shown_mask: Option<i32>,
}

impl Config {
    /// Creates a configuration with the strand of the options, which has no effect for proteins.
    pub(super) fn new(options: &Options, source: &Source) -> Self {
        Self { minus: options.minus && !source.takes_proteins(), ..Self::default() }
    }

    /// Adds the mask and the range from the options.
    pub(super) fn select(&mut self, options: &Options, source: &Source) -> Result<(), Stop> {
        if let Some(mask) = &options.mask {
            let id = match number::parse_int4(mask.as_bytes()) {
                Ok(id) => id,
                Err(_) => source.masks()?.algorithm_by_name(mask.as_bytes()).ok_or_else(|| {
                    let message = "Cannot find string algorithm id in algorithm map.";
                    Stop::Message(message.to_owned())
                })?,
            };
            let unknown = "Invalid filtering algorithm ID for mask_sequence_with.";
            self.mask = choose_mask(id, source)?.known(unknown)?;
        }
        if let Some(text) = &options.range {
            self.range = parse_range(text.as_bytes()).map_err(Stop::Message)?;
        }
        Ok(())
    }

    /// Reads strand, range and mask from `text`, the rest of an `-entry_batch` line after its key.
    /// Returns false, after a message, if a mask does not exist.
    pub(super) fn read_specifiers(&mut self, text: &[u8], source: &Source) -> Result<bool, Stop> {
        let nucleotide = source.database.kind() == SequenceKind::Nucleotide;
        *self = Self { shown_mask: self.shown_mask, ..Self::default() };
        let mut good = true;
        for word in text.split(|b| b" \t".contains(b)).filter(|word| !word.is_empty()) {
            if word.contains(&b'-') {
                // BLAST+ ignores a malformed range here.
                if let Ok(range) = parse_range(word) {
                    self.range = range;
                }
            } else if nucleotide && word.eq_ignore_ascii_case(b"minus") {
                self.minus = true;
            } else {
                let id = number::parse_int4(word).ok().filter(|&id| id >= 0).unwrap_or(-1);
                match choose_mask(id, source)? {
                    MaskChoice::NoMask => self.mask = None,
                    MaskChoice::Algorithm(id) => self.mask = Some(id),
                    MaskChoice::Unknown => good = false,
                }
            }
        }
        Ok(good)
    }

    /// Clips the range to a sequence of `length` letters. Returns `None` for the whole sequence,
    /// also if the range begins after its end.
    pub(super) fn part(&self, length: u32) -> Option<Range<u32>> {
        let range = self.range.as_ref()?;
        (range.start < length).then(|| range.start..range.end.min(length))
    }
}

/// The masks that the number of an algorithm selects.
pub(super) enum MaskChoice {
    /// No mask, because the number is negative.
    NoMask,
    /// The masks of an algorithm of the database.
    Algorithm(i32),
    /// The database has no masking algorithm with this number, so there are no masks.
    Unknown,
}

impl MaskChoice {
    /// Returns the number of the algorithm, or `None` for no mask.
    ///
    /// # Errors
    /// The algorithm is unknown; the error has the text `message`.
    pub(super) fn known(self, message: &str) -> Result<Option<i32>, Stop> {
        match self {
            Self::NoMask => Ok(None),
            Self::Algorithm(id) => Ok(Some(id)),
            Self::Unknown => Err(Stop::Message(message.to_owned())),
        }
    }
}

/// Checks the number of a masking algorithm. Prints a message if it is unknown.
pub(super) fn choose_mask(id: i32, source: &Source) -> Result<MaskChoice, Stop> {
    if id < 0 {
        return Ok(MaskChoice::NoMask);
    }
    if source.masks()?.algorithms().iter().any(|algorithm| algorithm.id == id) {
        return Ok(MaskChoice::Algorithm(id));
    }
    messages::error(&format!("Invalid filtering algorithm ID: {id}"));
    Ok(MaskChoice::Unknown)
}

/// Parses `START-STOP` or `START-`, counted from 1 (`ParseSequenceRangeOpenEnd`,
/// blast_input_aux.cpp). Text between the first and the last `-` is ignored; a start without a `-`
/// is also the stop. Returns `None` for an empty range, which means the whole sequence.
fn parse_range(text: &[u8]) -> Result<Option<Range<u32>>, String> {
    const FAILED: &str = "Failed to parse sequence range";
    let mut parts = text.split(|&b| b == b'-');
    let first = parts.next().unwrap_or_default();
    let last = parts.next_back().unwrap_or(first);
    if first.is_empty() {
        return Err(format!("{FAILED} (start cannot be empty)"));
    }
    let number = |text| number::parse_int4(text).map_err(|error| error.message().to_owned());
    let start = number(first)?;
    if last.is_empty() {
        // A start of 0 becomes -1, which BLAST+ takes for a position after the end.
        let start = u32::try_from(i64::from(start) - 1).ok();
        return Ok(start.map(|start| start..u32::MAX));
    }
    let stop = number(last)?;
    if start <= 0 || stop <= 0 {
        return Err(format!("{FAILED} (range elements cannot be less than or equal to 0)"));
    }
    if start > stop {
        return Err(format!("{FAILED} (start cannot be larger than stop)"));
    }
    Ok(Some(start.unsigned_abs() - 1..stop.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are from `blastdbcmd -db DB -entry ID -range TEXT`.
    #[test]
    fn ranges_are_read_as_by_blast() {
        for (text, range) in [
            ("3-10", Some(2..10)),
            ("5", Some(4..5)),
            ("3-", Some(2..u32::MAX)),
            ("3-4-5", Some(2..5)),
            ("0-", None),
            ("+3-+4", Some(2..4)),
        ] {
            assert_eq!(parse_range(text.as_bytes()), Ok(range), "{text}");
        }
        for (text, error) in [
            ("", "Failed to parse sequence range (start cannot be empty)"),
            ("--", "Failed to parse sequence range (start cannot be empty)"),
            ("5-3", "Failed to parse sequence range (start cannot be larger than stop)"),
            (
                "0-3",
                "Failed to parse sequence range (range elements cannot be less than or equal to 0)",
            ),
            ("a-3", "Cannot convert string 'a' to Int8"),
            ("3 - 5", "Cannot convert string '3 ' to Int8"),
            ("99999999999-", "Cannot convert string '99999999999' to int, overflow"),
        ] {
            assert_eq!(parse_range(text.as_bytes()), Err(error.to_owned()), "{text}");
        }
    }

    #[test]
    fn parts_end_with_the_sequence() {
        let config = |range| Config { range: Some(range), ..Config::default() };
        assert_eq!(config(2..10).part(20), Some(2..10));
        assert_eq!(config(2..u32::MAX).part(20), Some(2..20));
        assert_eq!(config(20..u32::MAX).part(20), None);
        assert_eq!(Config::default().part(20), None);
    }
}
