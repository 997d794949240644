//! The database that sequences are retrieved from.

use std::cell::{OnceCell, RefCell};
use std::os::unix::ffi::OsStrExt;

use fleetblast_db::masks::DatabaseMasks;
use fleetblast_db::restrict::{ListEntries, Restriction};
use fleetblast_db::{
    Database, DbError, Defline, Lookup, OidCursor, SearchPath, SequenceKind, TaxidSign, TaxonNames,
    TaxonomyNames, UnprintableHeader,
};
use fleetblast_job::error::{Error, exit};
use fleetblast_stats::release::Release;

use super::options::{Options, Taxids};
use super::{Stop, messages};
use crate::database_metadata::DescribedDatabase;
use crate::options::compat;

/// An open database with its identifiers, taxonomy and masks.
pub(super) struct Source {
    pub(super) database: Database,
    pub(super) lookup: Lookup,
    /// Cursor that determines whether the database includes an OID. As in BLAST+, its first lookup
    /// can change the results of later ones.
    pub(super) cursor: RefCell<OidCursor>,
    search: SearchPath,
    names: OnceCell<TaxonomyNames>,
    /// The first error of the taxonomy database that [`Source::check_taxonomy`] has not returned
    /// yet.
    taxonomy_error: RefCell<Option<DbError>>,
    masks: OnceCell<DatabaseMasks>,
    takes_proteins: bool,
    /// The release that the program follows.
    pub(super) release: &'static Release,
}

impl Source {
    /// Opens the database to describe it.
    pub(super) fn open_to_describe(options: &Options, search: SearchPath) -> Result<Self, Error> {
        let names = options.db.to_string_lossy();
        Self::open(options, search, None, |kind, search| {
            Database::open_to_describe(&names, kind, search)
        })
    }

    /// Opens the database to list its taxa (`-tax_info`).
    pub(super) fn open_to_retrieve(options: &Options, search: SearchPath) -> Result<Self, Error> {
        let names = options.db.to_string_lossy();
        Self::open(options, search, None, |kind, search| {
            Database::open_to_retrieve(&names, kind, search, None)
        })
    }

    /// Opens the database to retrieve sequences. With `taxids` and `-target_only`, definition lines
    /// with other taxids are hidden.
    pub(super) fn open_for(
        options: &Options,
        search: SearchPath,
        taxids: Option<&Taxids>,
    ) -> Result<Self, Stop> {
        let restriction = taxids.filter(|_| options.target_only).map(|taxids| {
            Restriction::new(ListEntries::Taxids(taxids.iter().copied().collect()), false)
        });
        let names = options.db.to_string_lossy();
        let mut fault = None;
        let source = Self::open(options, search, taxids, |kind, search| {
            let opened = Database::open_to_retrieve(&names, kind, search, restriction.as_ref());
            let error = match opened {
                Err(error) if restriction.is_none() => error,
                opened => return opened,
            };
            // BLAST+ finds errors in the lists only after it has opened the database.
            let described = Database::open_to_describe(&names, kind, search);
            if described.is_err() {
                return Err(error);
            }
            fault = Some(error);
            described
        })?;
        fault.map_or(Ok(source), |error| Err(compat::in_words_of(options.release, error).into()))
    }

    fn open(
        options: &Options,
        search: SearchPath,
        taxids: Option<&Taxids>,
        mut open_with_codec: impl FnMut(SequenceKind, &SearchPath) -> Result<Database, DbError>,
    ) -> Result<Self, Error> {
        let mut open = |kind| {
            let database = open_with_codec(kind, &search)
                .map_err(|error| compat::in_words_of(options.release, error))?;
            let lookup =
                database.lookup().map_err(|error| compat::in_words_of(options.release, error))?;
            Ok::<_, DbError>((database, lookup))
        };
        let (database, lookup) = match options.kind {
            Some(kind) => {
                open(kind).map_err(|error| compat::convert_error(options.release, error.into()))?
            }
            None => match open(SequenceKind::Protein) {
                Ok(found) => found,
                // An unexpected exception ends BLAST+.
                Err(first) if first.exit_code() == exit::UNKNOWN => return Err(first.into()),
                // After any other error with proteins, BLAST+ tries nucleotides.
                Err(first) => open(SequenceKind::Nucleotide)
                    .map_err(|second| no_database_error(options.release, first, second))?,
            },
        };
        // When BLAST+ searches for taxids, it takes sequences of a guessed type for nucleotides.
        let takes_proteins = match taxids {
            Some(_) => options.kind == Some(SequenceKind::Protein),
            None => database.kind() == SequenceKind::Protein,
        };
        Ok(Self {
            cursor: RefCell::new(database.oid_cursor()),
            database,
            lookup,
            search,
            names: OnceCell::new(),
            taxonomy_error: RefCell::new(None),
            masks: OnceCell::new(),
            takes_proteins,
            release: options.release,
        })
    }

    /// Returns whether options for nucleotides, such as `-strand`, have no effect.
    pub(super) fn takes_proteins(&self) -> bool {
        self.takes_proteins
    }

    /// Reads the definition lines of a sequence.
    pub(super) fn deflines(&self, oid: u32) -> Result<Vec<Defline>, DbError> {
        self.database.deflines(oid)
    }

    /// Returns warnings about the definition lines read so far.
    pub(super) fn odd_headers(&self) -> Vec<UnprintableHeader> {
        self.database.unprintable_headers()
    }

    /// Returns the OIDs of an identifier; an empty list if the database does not have it.
    pub(super) fn oids_of_id(&self, id: &[u8]) -> Result<Vec<u32>, DbError> {
        let oids = self.lookup.oids_of_id(id, &mut self.cursor.borrow_mut());
        oids.map_err(|error| compat::in_words_of(self.release, error))
    }

    /// Returns the OIDs of sequences with one of the taxids, ascending.
    pub(super) fn oids_of_taxids(&self, taxids: &Taxids) -> Result<Vec<u32>, DbError> {
        let oids = taxid_oids(&self.lookup, taxids);
        let mut oids = oids.map_err(|error| compat::in_words_of(self.release, error))?;
        oids.retain(|&oid| self.cursor.borrow_mut().includes_oid(oid));
        Ok(oids)
    }

    /// Returns the taxids of the included sequences.
    pub(super) fn included_taxids(&self) -> Result<Vec<i32>, Error> {
        let taxids = self.lookup.included_taxids();
        taxids.map_err(|error| compat::database_error(self.release, error))
    }

    /// Formats the metadata of the database, with `prefix` before the names of files.
    pub(super) fn metadata(&self, options: &Options, prefix: &[u8]) -> Result<Vec<u8>, Error> {
        let (database, lookup) = (&self.database, &self.lookup);
        let (names, release) = (options.db.as_bytes(), self.release);
        DescribedDatabase { database, lookup, names, prefix, release }.to_json()
    }

    /// Counts the included sequences of a taxid.
    pub(super) fn sequence_count_of_taxid(&self, taxid: i32) -> Result<usize, DbError> {
        Ok(self.oids_of_taxids(&Taxids::from([taxid]))?.len())
    }

    /// Returns the masks stored with the database.
    pub(super) fn masks(&self) -> Result<&DatabaseMasks, DbError> {
        if self.masks.get().is_none() {
            // Only this function sets them, so the cell is empty.
            let _ = self.masks.set(self.database.masks()?);
        }
        self.masks.get().ok_or(DbError::InMemoryDatabase)
    }

    /// Opens the taxonomy database when names are first needed. Warns of one that cannot be used.
    pub(super) fn taxonomy(&self) -> &TaxonomyNames {
        self.names.get_or_init(|| {
            let names = TaxonomyNames::find_on_search_path(&self.search);
            if let Some(fault) = names.fault() {
                fault.blast_message.iter().for_each(|said| messages::error(said));
                messages::warn(&format!("there are no names of taxa: {}", fault.reason));
            }
            names
        })
    }

    /// Looks up the names of a taxon; `None` without a taxonomy database or names in it. Keeps an
    /// error for [`Source::check_taxonomy`].
    pub(super) fn taxon(&self, taxid: i64) -> Option<TaxonNames> {
        self.taxonomy().names_of_taxid(taxid).unwrap_or_else(|error| {
            self.taxonomy_error.borrow_mut().get_or_insert(error);
            None
        })
    }

    /// Returns the first error of [`Source::taxon`] since the last call.
    ///
    /// # Errors
    /// A taxonomy database whose index contradicts its data.
    pub(super) fn check_taxonomy(&self) -> Result<(), Error> {
        self.taxonomy_error.take().map_or(Ok(()), |error| Err(error.into()))
    }
}

/// Looks up the OIDs of taxids, ascending, each once.
fn taxid_oids(lookup: &Lookup, taxids: &Taxids) -> Result<Vec<u32>, DbError> {
    let (mut oids, mut known) = (Vec::new(), false);
    // The version of the database is checked even without taxids.
    if taxids.is_empty() {
        lookup.taxids()?;
    }
    for &taxid in taxids {
        known |= lookup.oids_of_taxid(taxid, &mut oids)?;
    }
    if !known {
        return Err(lookup.no_such_taxids(TaxidSign::Positive));
    }
    oids.sort_unstable();
    oids.dedup();
    Ok(oids)
}

/// Returns the error for a database with neither proteins nor nucleotides. BLAST+ prints only the
/// error for nucleotides, which is misleading if there are proteins that cannot be used.
fn no_database_error(release: &Release, protein: DbError, nucleotide: DbError) -> Error {
    let is_missing = |error: &DbError| matches!(error, DbError::NotFound { .. });
    let unlike = is_missing(&nucleotide) && !is_missing(&protein);
    let mut error = compat::convert_error(release, nucleotide.into());
    if unlike {
        let protein = Error::from(protein);
        error.message.push_str(&format!("\n(as a database of proteins: {protein})"));
    }
    error
}
