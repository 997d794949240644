//! The options of `blastdb_aliastool` in types of their own.

use std::ffi::OsString;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::Error;
use fleetblast_stats::release::Release;

use crate::options::blastdb_aliastool::{self as table, BLASTDB_ALIASTOOL};
use crate::options::parse::GivenOptions;
use crate::options::values::Values;

/// The operation that the options request. If they request several, the first of these counts:
/// description of a list, conversion of identifiers, conversion of GIs, creation of an alias.
#[derive(Debug)]
pub(super) enum Operation {
    /// Conversion of a list of GIs.
    Gis(GiConversion),
    /// Conversion of a list of identifiers.
    SeqIds(SeqIdConversion),
    /// Description of this binary list of identifiers (`-seqid_file_info`) in the words of the
    /// release.
    SeqIdInfo(OsString, &'static Release),
    /// Creation of an alias.
    Alias(AliasOptions),
}

/// Options of the conversion of a list of GIs.
#[derive(Debug)]
pub(super) struct GiConversion {
    /// `-gi_file_in`.
    pub(super) input: OsString,
    /// `-gi_file_out`.
    pub(super) output: Option<OsString>,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

/// Options of the conversion of a list of identifiers.
#[derive(Debug)]
pub(super) struct SeqIdConversion {
    /// `-seqid_file_in`.
    pub(super) input: OsString,
    /// `-seqid_file_out`.
    pub(super) output: Option<OsString>,
    /// `-seqid_title`.
    pub(super) title: Option<OsString>,
    /// `-seqid_db`.
    pub(super) db: Option<OsString>,
    /// `-seqid_dbtype`; `None` to guess.
    pub(super) kind: Option<SequenceKind>,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

/// Options of the creation of an alias.
#[derive(Debug)]
pub(super) struct AliasOptions {
    pub(super) db: Option<OsString>,
    pub(super) kind: SequenceKind,
    pub(super) title: Option<OsString>,
    pub(super) gilist: Option<OsString>,
    pub(super) seqidlist: Option<OsString>,
    pub(super) taxidlist: Option<OsString>,
    /// `-out`; all options that make an alias require it.
    pub(super) out: Option<OsString>,
    pub(super) dblist: Option<OsString>,
    pub(super) dblist_file: Option<OsString>,
    pub(super) vdblist: Option<OsString>,
    pub(super) vdblist_file: Option<OsString>,
    pub(super) num_volumes: Option<u32>,
    /// The words of BLAST+ for the options that restrict a database.
    pub(super) restrictions: &'static str,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

impl Operation {
    /// Reads the options.
    ///
    /// # Errors
    /// `-seqid_file_out` without a list to convert.
    pub(super) fn new(given: &GivenOptions) -> Result<Self, Error> {
        let values = &Values::new(&BLASTDB_ALIASTOOL, given);
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        if let Some(path) = values.optional(&table::SEQID_FILE_INFO) {
            return Ok(Self::SeqIdInfo(path, values.release()));
        }
        if let Some(input) = values.optional(&table::SEQID_FILE_IN) {
            return Ok(Self::SeqIds(SeqIdConversion {
                input,
                output: values.optional(&table::SEQID_FILE_OUT),
                title: values.optional(&table::SEQID_TITLE),
                db: values.optional(&table::SEQID_DB),
                kind: values.optional(&table::SEQID_DBTYPE),
                release: values.release(),
            }));
        }
        if let Some(input) = values.optional(&table::GI_FILE_IN) {
            let output = values.optional(&table::GI_FILE_OUT);
            return Ok(Self::Gis(GiConversion { input, output, release: values.release() }));
        }
        // BLAST+ then makes an alias, for which it reads -dbtype.
        if values.is_given(&table::SEQID_FILE_OUT) {
            return Err(Error::excluded(table::DBTYPE.name()));
        }
        Ok(Self::Alias(AliasOptions {
            db: values.optional(&table::DB),
            kind: values.get(&table::DBTYPE),
            title: values.optional(&table::TITLE),
            gilist: values.optional(&table::GILIST),
            seqidlist: values.optional(&table::SEQIDLIST),
            taxidlist: values.optional(&table::TAXIDLIST),
            out: values.optional(&table::OUT),
            dblist: values.optional(&table::DBLIST),
            dblist_file: values.optional(&table::DBLIST_FILE),
            vdblist: values.optional(&table::VDBLIST),
            vdblist_file: values.optional(&table::VDBLIST_FILE),
            num_volumes: values.optional(&table::NUM_VOLUMES),
            restrictions: match values.has(&table::OID_MASKS) {
                true => "gilist, seqid_list, taxidlist or oid_masks",
                false => "gilist or seqid_list",
            },
            release: values.release(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_made() {
        each_option_counts(&BLASTDB_ALIASTOOL, &[], |given| format!("{:?}", Operation::new(given)));
    }
}
