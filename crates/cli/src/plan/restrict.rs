//! Restrictions of a search to a part of the database: lists of identifiers, GIs or taxids, and
//! stored masks.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use fleetblast_db::restrict::list::{self, ListError, SeqIdList};
use fleetblast_db::restrict::{ListEntries, Restriction};
use fleetblast_db::{DbError, SearchPath};
use fleetblast_job::error::Error;
use fleetblast_job::plan::{DatabaseMask, MaskAlgorithm};
use fleetblast_stats::release::Release;

use crate::options::search::database::DatabaseOptions;
use crate::options::typed::to_text;
use crate::options::{compat, number};
use crate::taxa;

/// Returns the stored masks that the options select, if any.
pub fn mask(options: &DatabaseOptions) -> Option<DatabaseMask> {
    let soft = options.db_soft_mask.as_deref().map(|name| (name, false));
    let (name, has_hard_masks) =
        soft.or_else(|| options.db_hard_mask.as_deref().map(|name| (name, true)))?;
    let algorithm = match number::parse_int4(name.as_bytes()) {
        Ok(number) => MaskAlgorithm::Number(number),
        Err(_) => MaskAlgorithm::Name(to_text(name)),
    };
    Some(DatabaseMask { algorithm, has_hard_masks })
}

/// Reads the list of GIs, identifiers or taxids that the options name, if any. At most one is
/// given.
///
/// Taxids stand for the taxa with all their descendants if the release says so. A message, if there
/// is one, is added to `warnings`.
pub fn restriction(
    options: &DatabaseOptions,
    release: &Release,
    warnings: &mut Vec<String>,
) -> Result<Option<Restriction>, Error> {
    let lists = &options.lists;
    if lists == &Default::default() {
        return Ok(None);
    }
    let search = SearchPath::from_environment()?;
    let given =
        |positive: &Option<_>, negative: &Option<_>| -> Option<(std::ffi::OsString, bool)> {
            let given = positive.clone().map(|name| (name, false));
            given.or_else(|| negative.clone().map(|name| (name, true)))
        };
    let mut expanded = |text: &[u8], separators: &[u8]| -> Result<ListEntries, Error> {
        let tree = match release.expands_taxa && !lists.no_taxid_expansion {
            true => Some(taxa::find_tree(&search, warnings)?),
            false => None,
        };
        let taxids = taxids(text, separators)?;
        Ok(ListEntries::Taxids(match tree {
            None => taxids,
            Some(Some(tree)) => tree.with_descendants(&taxids)?,
            // BLAST+ then searches the whole database.
            Some(None) => Vec::new(),
        }))
    };
    let (ids, negative) = if let Some((name, negative)) = given(&lists.gis, &lists.negative_gis) {
        (ListEntries::Gis(read(&name, &search, release, list::parse_gis)?), negative)
    } else if let Some((name, negative)) = given(&lists.seqids, &lists.negative_seqids) {
        (ListEntries::Sequences(read(&name, &search, release, SeqIdList::parse)?), negative)
    } else if let Some((text, negative)) = given(&lists.taxids, &lists.negative_taxids) {
        (expanded(text.as_bytes(), b",")?, negative)
    } else if let Some((name, negative)) = given(&lists.taxid_file, &lists.negative_taxid_file) {
        let found = list::find_and_read(&to_text(&name), &search);
        let (_, contents) = found.map_err(|error| match error {
            DbError::MissingList { .. } => {
                Error::query_options(format_args!("File is not acessible: {}", to_text(&name)))
            }
            error => error.into(),
        })?;
        (expanded(&contents, b"\r\n")?, negative)
    } else {
        return Ok(None);
    };
    Ok(Some(Restriction::new(ids, negative)))
}

fn taxids(text: &[u8], separators: &[u8]) -> Result<Vec<i32>, Error> {
    list::parse_typed_taxids(text, separators)
        .ok_or_else(|| Error::query_options("Invalid taxidlist file "))
}

fn read<T>(
    name: &OsStr,
    search: &SearchPath,
    release: &Release,
    parse: impl Fn(&[u8]) -> Result<T, ListError>,
) -> Result<T, Error> {
    let (path, contents) = read_list(&to_text(name), search, release)?;
    parse(&contents).map_err(|problem| DbError::InvalidList { path, problem }.into())
}

/// Reads the list with this name. Returns its path and contents.
///
/// # Errors
/// A list that does not exist, in the words of the release, or that cannot be read.
pub fn read_list(
    name: &str,
    search: &SearchPath,
    release: &Release,
) -> Result<(PathBuf, Vec<u8>), Error> {
    list::find_and_read(name, search).map_err(|error| match error {
        // BLAST+ does not print the name of the list.
        DbError::MissingList { .. } => {
            let error = DbError::MissingList { path: PathBuf::new(), later_words: false };
            let error = compat::in_words_of(release, error);
            let advice = format!("\n(list {name} was not found; check the name)");
            Error::new(error.exit_code(), error.stderr_line() + &advice)
        }
        error => error.into(),
    })
}
