//! `-phi_pattern`: a file with a pattern in the syntax of PROSITE, and the search with it
//! (`CPhiBlastArgs`, blast_args.cpp).

use std::ffi::OsStr;

use fleetblast_engine::params::{CompositionMode, ProteinParams};
use fleetblast_engine::pattern::{Pattern, PatternSearch};
use fleetblast_job::error::Error;
use fleetblast_stats::pattern::PatternStatistics;

use crate::options::search::psi::PHI_PATTERN;
use crate::plan::contents;

/// Largest number of characters in a line; BLAST+ stops reading at a longer line.
const LONGEST_LINE: usize = 4096;

/// The contents of the file of `-phi_pattern`.
pub struct InputPattern {
    /// The pattern; `None` if there is a fault.
    pattern: Option<Pattern>,
    /// BLAST+'s error about the pattern, which it prints when it searches.
    pub fault: Option<Error>,
}

impl InputPattern {
    /// Reads the file of `-phi_pattern`.
    ///
    /// # Errors
    /// A file without a pattern, or with a pattern on which BLAST+ loops forever.
    pub fn read(file: &OsStr) -> Result<Self, Error> {
        let bytes = contents::bytes(PHI_PATTERN.name(), file)?;
        let Some(text) = line(&bytes)? else {
            return Err(Error::query_options("PHI pattern not read"));
        };
        let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii());
        let text = text.ok_or_else(|| Error::query_options("the PHI pattern is not in ASCII"))?;
        match Pattern::parse(text) {
            Ok(pattern) => Ok(InputPattern { pattern: Some(pattern), fault: None }),
            Err(error) if error.is_reported() => {
                Ok(InputPattern { pattern: None, fault: Some(Error::warning(error)) })
            }
            Err(error) => Err(Error::query_options(format_args!("PHI pattern: {error}"))),
        }
    }

    /// Returns the parameters of a search with the pattern; `params` are those of a search without
    /// it.
    pub fn params(&self, params: &ProteinParams) -> Result<ProteinParams, Error> {
        let scoring = &params.scoring;
        let statistics = PatternStatistics::for_scoring(scoring).ok_or_else(|| {
            Error::unsupported(
                "psiblast",
                format_args!(
                    "-phi_pattern with {} and gap costs of {} and {}, which have no statistics with patterns",
                    scoring.name, scoring.gap_open, scoring.gap_extend
                ),
            )
        })?;
        let mut common = params.common.clone();
        (common.keeps_all_preliminary_subjects, common.subject_besthit) = (false, false);
        let later_scoring = Box::new(scoring.clone());
        // The pattern is missing only if there is a `fault`.
        let pattern = self.pattern.clone().map(|pattern| PatternSearch {
            pattern,
            statistics,
            later_scoring,
        });
        Ok(ProteinParams {
            common,
            scoring: statistics.replace_parameters(scoring.clone()),
            composition: CompositionMode::Off,
            unified_p: false,
            smith_waterman: false,
            pattern,
            ..params.clone()
        })
    }
}

/// Returns the text of the last line that begins with `PA`, from its fifth character on; `None` if
/// it is empty.
fn line(bytes: &[u8]) -> Result<Option<&[u8]>, Error> {
    let mut found = None;
    let lines = bytes.split(|&byte| byte == b'\n');
    for line in lines.take_while(|line| line.len() < LONGEST_LINE) {
        let rest = match line.get(..2) {
            Some(b"ID" | b"PA") => line.get(4..).ok_or_else(|| short_line_error(line))?,
            _ => continue,
        };
        if line.starts_with(b"PA") {
            found = Some(rest);
        }
    }
    Ok(found.filter(|rest| !rest.is_empty()))
}

/// Returns the error for a line that is too short, in the words of the C++ library.
fn short_line_error(line: &[u8]) -> Error {
    Error::new(
        255,
        format!(
            "Error: basic_string::substr: __pos (which is 4) > this->size() (which is {})",
            line.len()
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pattern_counts() {
        let of = |text: &'static str| line(text.as_bytes()).unwrap().map(<[u8]>::to_vec);
        assert_eq!(of("ID   A\nPA   G-K\nHI   1\nPA  G-H.\n").as_deref(), Some(&b"G-H."[..]));
        assert_eq!(of("PA   \n").as_deref(), Some(&b" "[..]));
        assert_eq!((of(""), of("G-K\n"), of("PA  \n")), (None, None, None));
        assert!(line(b"PA\n").is_err() && line(b"ID\nPA   G-K\n").is_err());
    }
}
