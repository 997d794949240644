//! The options of `blastdbcmd` in types of their own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use fleetblast_db::{SequenceKind, TaxonTree};
use fleetblast_job::error::Error;
use fleetblast_seq::convert::trim_spaces;
use fleetblast_stats::release::Release;

use crate::database_metadata::file_prefix;
use crate::exceptions::conversion_error;
use crate::options::blastdbcmd::{BLASTDBCMD, output, retrieval};
use crate::options::number;
use crate::options::parse::GivenOptions;
use crate::options::values::Values;
use crate::plan::has_long_seqids;
use crate::text_file::read_text_file;

/// Taxids to search for.
pub(super) type Taxids = BTreeSet<i32>;

/// Values of the options of `blastdbcmd`.
#[derive(Debug)]
pub(super) struct Options {
    /// `-db`.
    pub(super) db: OsString,
    /// `-dbtype`; `None` to guess.
    pub(super) kind: Option<SequenceKind>,
    pub(super) what: Operation,
    /// `-range`.
    pub(super) range: Option<OsString>,
    /// `-strand minus`.
    pub(super) minus: bool,
    /// `-mask_sequence_with`.
    pub(super) mask: Option<OsString>,
    /// `-out`.
    pub(super) out: OsString,
    /// `-outfmt`.
    pub(super) outfmt: Vec<u8>,
    /// `-target_only`.
    pub(super) target_only: bool,
    /// `-get_dups`.
    pub(super) get_dups: bool,
    /// `-line_length`, at least 1.
    pub(super) line_length: usize,
    /// `-ctrl_a`.
    pub(super) ctrl_a: bool,
    /// `-long_seqids`.
    pub(super) long_seqids: bool,
    /// `-no_taxid_expansion`.
    no_taxid_expansion: bool,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

/// The operation that the options request. If they request several, the variant that comes first
/// here counts.
#[derive(Debug)]
pub(super) enum Operation {
    /// `-show_blastdb_search_path`.
    SearchPath,
    /// `-list`.
    List(List),
    /// `-info`.
    Info {
        /// `-exact_length`.
        exact_length: bool,
    },
    /// `-metadata`, with the text of `-metadata_output_prefix` before the names of files.
    Metadata {
        /// Text before the names of files.
        prefix: Vec<u8>,
    },
    /// `-tax_info`.
    TaxInfo,
    /// Retrieval of the selected sequences.
    Entries(Selection),
}

/// The selection of sequences to retrieve.
#[derive(Debug)]
pub(super) enum Selection {
    /// `-taxids`.
    Taxids(OsString),
    /// `-taxidlist`.
    TaxidFile(OsString),
    /// `-entry all`.
    All,
    /// `-entry_batch`.
    Batch(OsString),
    /// `-entry`.
    Ids(Vec<u8>),
    /// `-ipg`.
    Pig(i32),
    /// `-ipg_batch`.
    PigBatch(OsString),
    /// No option selects sequences.
    Nothing,
}

/// Values of `-list` and its options.
#[derive(Debug)]
pub(super) struct List {
    pub(super) directory: OsString,
    pub(super) recursive: bool,
    pub(super) remove_redundant: bool,
    /// `-list_outfmt`.
    pub(super) format: Vec<u8>,
}

impl Options {
    /// Reads the options.
    ///
    /// # Errors
    /// Options that FleetBLAST refuses, and options that need another one.
    pub(super) fn new(given: &GivenOptions) -> Result<Self, Error> {
        let values = Values::new(&BLASTDBCMD, given);
        if let Some(error) = values.unsupported() {
            return Err(error);
        }
        Ok(Self {
            db: values.get(&retrieval::DB),
            kind: values.get(&retrieval::DBTYPE),
            what: Operation::new(&values)?,
            range: values.optional(&retrieval::RANGE),
            minus: values.get(&retrieval::STRAND),
            mask: values.optional(&retrieval::MASK_SEQUENCE_WITH),
            out: values.get(&output::OUT),
            outfmt: values.get(&output::OUTFMT).into_vec(),
            target_only: values.get(&output::TARGET_ONLY),
            get_dups: values.get(&output::GET_DUPS),
            line_length: values.get(&output::LINE_LENGTH),
            ctrl_a: values.get(&output::CTRL_A),
            long_seqids: values.get(&output::LONG_SEQIDS) || has_long_seqids(),
            no_taxid_expansion: values.flag_if_listed(&retrieval::NO_TAXID_EXPANSION),
            release: values.release(),
        })
    }

    /// Returns whether taxids stand for taxa with their descendants.
    pub(super) fn expands_taxa(&self) -> bool {
        self.release.expands_taxa && !self.no_taxid_expansion
    }
}

impl Operation {
    fn new(values: &Values<'_>) -> Result<Self, Error> {
        let recursive = values.get(&output::RECURSIVE);
        let remove_redundant = values.get(&output::REMOVE_REDUNDANT_DBS);
        let format = values.get(&output::LIST_OUTFMT).into_vec();
        let list = values.optional(&output::LIST);
        let exact_length = values.get(&output::EXACT_LENGTH);
        let info = values.get(&retrieval::INFO).then_some(Self::Info { exact_length });
        let prefix = values.optional_if_listed(&retrieval::METADATA_OUTPUT_PREFIX);
        let metadata = values.flag_if_listed(&retrieval::METADATA);
        let metadata = metadata.then(|| Self::Metadata { prefix: file_prefix(prefix.as_deref()) });
        let tax_info = values.get(&retrieval::TAX_INFO).then_some(Self::TaxInfo);
        let wanted = Selection::new(values)?;
        if values.get(&output::SHOW_BLASTDB_SEARCH_PATH) {
            return Ok(Self::SearchPath);
        }
        if let Some(directory) = list {
            return Ok(Self::List(List { directory, recursive, remove_redundant, format }));
        }
        // With these options BLAST+ does not read -db, and they have no effect without -list.
        if recursive || remove_redundant || values.is_given(&output::LIST_OUTFMT) {
            return Err(Error::excluded(retrieval::DB.name()));
        }
        Ok(info.or(metadata).or(tax_info).unwrap_or(Self::Entries(wanted)))
    }
}

impl Selection {
    fn new(values: &Values<'_>) -> Result<Self, Error> {
        let taxids = values.optional(&retrieval::TAXIDS);
        let taxid_file = values.optional(&retrieval::TAXIDLIST);
        let batch = values.optional(&retrieval::ENTRY_BATCH);
        let pig = values.optional(&retrieval::IPG).map(Self::Pig);
        let pigs = values.optional(&retrieval::IPG_BATCH).map(Self::PigBatch);
        let by_pig = pig.or(pigs);
        if by_pig.is_some() && (taxids.is_some() || taxid_file.is_some()) {
            // BLAST+ then ignores the taxids, but it opens the database in another way.
            return Err(Error::unsupported(BLASTDBCMD.name, "taxids with -ipg or -ipg_batch"));
        }
        let entry = values.optional(&retrieval::ENTRY);
        Ok(match (taxids, taxid_file, entry, batch) {
            (Some(taxids), ..) => Self::Taxids(taxids),
            (_, Some(path), ..) => Self::TaxidFile(path),
            (_, _, Some(entry), _) if entry == "all" => Self::All,
            (_, _, _, Some(path)) => Self::Batch(path),
            (_, _, Some(entry), None) => Self::Ids(entry.into_vec()),
            (_, _, None, None) => by_pig.unwrap_or(Self::Nothing),
        })
    }

    /// Returns the taxids if sequences are selected by taxids, else `None`. They include all
    /// descendants if there is a tree, which is opened only if there are taxids.
    pub(super) fn taxids(
        &self,
        release: &Release,
        open_tree: impl FnOnce() -> Result<Option<TaxonTree>, Error>,
    ) -> Result<Option<Taxids>, Error> {
        let text = match self {
            Self::Taxids(text) => text.as_bytes().to_vec(),
            Self::TaxidFile(path) => read_text_file(retrieval::TAXIDLIST.name(), path)?,
            _ => return Ok(None),
        };
        let separator = if matches!(self, Self::Taxids(_)) { b',' } else { b'\n' };
        let words = text.split(|&b| b == separator);
        // Empty lines are skipped; an empty entry between commas is not.
        let words = words.filter(|word| separator == b',' && !text.is_empty() || !word.is_empty());
        let taxid = |word: &[u8]| {
            let word = trim_spaces(word);
            number::parse_int4(word)
                .map_err(|error| conversion_error(&error.after_spaces(word), release))
        };
        let tree = open_tree()?;
        let taxids = words.map(taxid).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(match tree {
            Some(tree) => tree.with_descendants(&taxids)?.into_iter().collect(),
            None => taxids.into_iter().collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::each_option_counts;

    #[test]
    fn each_option_counts_in_what_is_looked_up() {
        each_option_counts(&BLASTDBCMD, &[], |given| format!("{:?}", Options::new(given)));
    }
}
