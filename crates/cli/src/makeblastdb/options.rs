//! Values of the options of `makeblastdb`.

use std::ffi::OsString;
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;

use fleetblast_job::error::Error;
use fleetblast_makedb::{DatabaseKind, FormatVersion};
use fleetblast_stats::release::Release;

use super::names::database_title;
use super::options_error;
use crate::database_metadata::file_prefix;
use crate::options::makeblastdb::{self as table, MAKEBLASTDB};
use crate::options::parse::GivenOptions;
use crate::options::values::Values;
use crate::threads;

/// Values of the options of `makeblastdb`.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) kind: DatabaseKind,
    pub(super) version: FormatVersion,
    pub(super) input: OsString,
    /// Whether the input is databases (`-input_type blastdb`).
    pub(super) reads_databases: bool,
    pub(super) out: OsString,
    pub(super) title: OsString,
    /// Whether identifiers are parsed and indexed; always so for databases.
    pub(super) parse_ids: bool,
    pub(super) hash_index: bool,
    pub(super) max_file_size: OsString,
    pub(super) logfile: Option<OsString>,
    pub(super) taxid: Option<i32>,
    pub(super) taxid_map: Option<OsString>,
    pub(super) mask_data: Option<OsString>,
    pub(super) mask_id: Option<OsString>,
    pub(super) mask_desc: Option<OsString>,
    pub(super) threads: NonZero<usize>,
    /// Text before the names of files in the metadata.
    pub(super) metadata_prefix: Vec<u8>,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

impl Options {
    /// Reads the options, and checks them in the order of BLAST+.
    pub(super) fn new(given: &GivenOptions) -> Result<Self, Error> {
        let values = Values::new(&MAKEBLASTDB, given);
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        let input = values.get(&table::IN);
        let reads_databases = values.get(&table::INPUT_TYPE) == "blastdb";
        let out = values.optional(&table::OUT).unwrap_or_else(|| input.clone());
        if reads_databases && out == input {
            return Err(options_error(
                "Cannot create a BLAST database from an existing one without changing the output \
                 name, please provide a (different) database name using -out",
            ));
        }
        if out == "-" || out.as_bytes().contains(&b' ') {
            return Err(options_error("Please provide a database name using -out"));
        }
        let kind = values.get(&table::DBTYPE);
        let title = match values.optional(&table::TITLE) {
            Some(title) => title,
            None if reads_databases => database_title(&input, kind, values.release())?,
            None => input.clone(),
        };
        if title == "-" {
            return Err(options_error("Please provide a title using -title"));
        }
        let threads = threads::for_process(values.optional(&table::NUM_THREADS))?;
        Ok(Self {
            kind,
            version: match values.get(&table::BLASTDB_VERSION) {
                4 => FormatVersion::Version4,
                _ => FormatVersion::Version5,
            },
            input,
            reads_databases,
            out,
            title,
            parse_ids: values.get(&table::PARSE_SEQIDS) || reads_databases,
            hash_index: values.get(&table::HASH_INDEX),
            max_file_size: values.get(&table::MAX_FILE_SZ),
            logfile: values.optional(&table::LOGFILE),
            taxid: values.optional(&table::TAXID),
            taxid_map: values.optional(&table::TAXID_MAP),
            mask_data: values.optional(&table::MASK_DATA),
            mask_id: values.optional(&table::MASK_ID),
            mask_desc: values.optional(&table::MASK_DESC),
            metadata_prefix: file_prefix(
                values.optional_if_listed(&table::METADATA_OUTPUT_PREFIX).as_deref(),
            ),
            release: values.release(),
            threads: NonZero::new(threads.count).unwrap_or(NonZero::<usize>::MIN),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_made() {
        // `-in` is always given: standard input provides no name for the database.
        let also = [table::IN.name()];
        each_option_counts(&MAKEBLASTDB, &also, |given| format!("{:?}", Options::new(given)));
    }
}
