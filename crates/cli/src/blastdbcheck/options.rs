//! The options of `blastdbcheck` in types of their own.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::{Error, exit};
use fleetblast_stats::release::Release;

use crate::options::blastdbcheck::{self as table, BLASTDBCHECK};
use crate::options::parse::GivenOptions;
use crate::options::values::Values;

/// Number of sequences in the sample if no option selects sequences.
const DEFAULT_SAMPLE: i32 = 200;

/// Values of the options of `blastdbcheck`.
#[derive(Debug)]
pub(super) struct Options {
    /// The databases to test; `None` if neither `-db` nor `-dir` names any.
    pub(super) target: Option<Target>,
    /// `-dbtype`; `None` to guess.
    pub(super) kind: Option<SequenceKind>,
    pub(super) logfile: Option<OsString>,
    /// `-verbosity`.
    pub(super) level: Level,
    /// The sequences to test, in the order of the tests.
    pub(super) tests: Vec<Selection>,
    /// Whether no option selects sequences.
    pub(super) is_default_test: bool,
    /// Whether to look up identifiers; false with `-no_isam`.
    pub(super) looks_up_ids: bool,
    /// `-legacy`.
    pub(super) checks_legacy_files: bool,
    /// `-must_have_taxids`.
    pub(super) requires_taxids: bool,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

/// The verbosity of the output, or the lowest verbosity that writes a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Silent,
    Brief,
    Summary,
    Details,
    Minutiae,
}

impl Level {
    /// Returns the level with this number, which must be one of `-verbosity`.
    pub(super) fn from_number(number: u8) -> Self {
        match number {
            0 => Self::Silent,
            1 => Self::Brief,
            2 => Self::Summary,
            3 => Self::Details,
            _ => Self::Minutiae,
        }
    }

    /// Returns BLAST+'s name of the level.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Silent => "Quiet",
            Self::Brief => "Brief",
            Self::Summary => "Summary",
            Self::Details => "Detailed",
            Self::Minutiae => "Minutiae",
        }
    }
}

/// The databases to test.
#[derive(Debug)]
pub(super) enum Target {
    /// The databases of `-db`, separated by blanks.
    Databases(OsString),
    /// The databases in the directory of `-dir`.
    Directory { path: OsString, is_recursive: bool },
}

/// A choice of sequences of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// `-full`.
    All,
    /// `-stride`: each sequence whose OID is a multiple of this number.
    Stride(u32),
    /// `-random`: this many random sequences.
    Sample(i32),
    /// `-ends`: this many sequences at each end.
    Ends(i32),
}

impl Selection {
    /// Describes the choice for the head of the output.
    pub(super) fn describe(self, is_default: bool) -> String {
        match self {
            Self::All => "Using `full' mode: every OID will be tested.".to_owned(),
            Self::Stride(stride) => format!("Testing every {stride}-th OID."),
            Self::Sample(count) if is_default => {
                format!("By default, testing {count} randomly sampled OIDs.")
            }
            Self::Sample(count) => format!("Testing {count} randomly sampled OIDs."),
            Self::Ends(count) => format!("Testing first {count} and last {count} OIDs."),
        }
    }
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// Options that FleetBLAST does not support; a stride with which BLAST+ never ends.
    pub(super) fn new(given: &GivenOptions) -> Result<Self, Error> {
        let values = Values::new(&BLASTDBCHECK, given);
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        let mut tests = selections(&values)?;
        let is_default_test = tests.is_empty();
        if is_default_test {
            tests.push(Selection::Sample(DEFAULT_SAMPLE));
        }
        Ok(Self {
            target: target(&values),
            kind: values.get(&table::DBTYPE),
            logfile: values.optional(&table::LOGFILE),
            level: Level::from_number(values.get(&table::VERBOSITY)),
            tests,
            is_default_test,
            looks_up_ids: !values.get(&table::NO_ISAM),
            checks_legacy_files: values.get(&table::LEGACY),
            requires_taxids: values.get(&table::MUST_HAVE_TAXIDS),
            release: values.release(),
        })
    }
}

fn target(values: &Values<'_>) -> Option<Target> {
    let named = |option| values.optional(option).filter(|name: &OsString| !name.is_empty());
    match (named(&table::DB), named(&table::DIR)) {
        (Some(names), _) => Some(Target::Databases(names)),
        (None, Some(path)) => {
            Some(Target::Directory { path, is_recursive: values.get(&table::RECURSIVE) })
        }
        (None, None) => None,
    }
}

fn selections(values: &Values<'_>) -> Result<Vec<Selection>, Error> {
    let stride = values.optional(&table::STRIDE).map(|stride| match u32::try_from(stride) {
        Ok(stride) if stride > 0 => Ok(Selection::Stride(stride)),
        _ => {
            let message =
                format!("-stride {stride} tests the same sequence without end; give at least 1");
            Err(Error::new(exit::INPUT, message))
        }
    });
    let all = values.get(&table::FULL).then_some(Selection::All);
    let sample = values.optional(&table::RANDOM).map(Selection::Sample);
    let ends = values.optional(&table::ENDS).map(Selection::Ends);
    Ok([all, stride.transpose()?, sample, ends].into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_tested() {
        // Only a directory can be searched recursively.
        let also = &["dir"];
        each_option_counts(&BLASTDBCHECK, also, |given| format!("{:?}", Options::new(given)));
    }
}
