//! The database that is looked into.

use std::cell::{OnceCell, RefCell};

use fleetblast_db::masks::Masks;
use fleetblast_db::restrict::{Ids, Restriction};
use fleetblast_db::{
    Database, DbError, Defline, Lookup, OddHeader, OidCursor, SearchPath, SequenceKind, TaxidSign,
    TaxonNames, TaxonomyNames,
};
use fleetblast_job::error::{Error, exit};

use super::Stop;
use super::options::{Options, Taxids};

/// An opened database and what belongs to it.
pub(super) struct Source {
    pub(super) database: Database,
    pub(super) lookup: Lookup,
    /// The questions for included sequences; the first one may get another answer than later ones.
    pub(super) cursor: RefCell<OidCursor>,
    search: SearchPath,
    names: OnceCell<TaxonomyNames>,
    masks: OnceCell<Masks>,
    takes_proteins: bool,
}

impl Source {
    /// Opens the database of the options to describe it.
    pub(super) fn open_to_describe(options: &Options, search: SearchPath) -> Result<Self, Error> {
        let names = options.db.to_string_lossy();
        Self::open(options, search, None, |kind, search| {
            Database::open_to_describe(&names, kind, search)
        })
    }

    /// Opens it for its taxonomy.
    pub(super) fn open_to_retrieve(options: &Options, search: SearchPath) -> Result<Self, Error> {
        let names = options.db.to_string_lossy();
        Self::open(options, search, None, |kind, search| {
            Database::open_to_retrieve(&names, kind, search, None)
        })
    }

    /// Opens it to retrieve sequences, by taxids if there are any: `-target_only` then hides all
    /// other definition lines.
    pub(super) fn open_for(
        options: &Options,
        search: SearchPath,
        taxids: Option<&Taxids>,
    ) -> Result<Self, Stop> {
        let restriction = taxids.filter(|_| options.target_only).map(|taxids| Restriction {
            ids: Ids::Taxids(taxids.iter().copied().collect()),
            negative: false,
        });
        let names = options.db.to_string_lossy();
        let mut fault = None;
        let source = Self::open(options, search, taxids, |kind, search| {
            let opened = Database::open_to_retrieve(&names, kind, search, restriction.as_ref());
            let error = match opened {
                Err(error) if restriction.is_none() => error,
                opened => return opened,
            };
            // If only the lists are wrong, BLAST+ finds that out when it has opened the database.
            let described = Database::open_to_describe(&names, kind, search);
            if described.is_err() {
                return Err(error);
            }
            fault = Some(error);
            described
        })?;
        fault.map_or(Ok(source), |error| Err(error.into()))
    }

    fn open(
        options: &Options,
        search: SearchPath,
        taxids: Option<&Taxids>,
        mut open_as: impl FnMut(SequenceKind, &SearchPath) -> Result<Database, DbError>,
    ) -> Result<Self, Error> {
        let mut open = |kind| {
            let database = open_as(kind, &search)?;
            let lookup = database.lookup()?;
            Ok::<_, DbError>((database, lookup))
        };
        let (database, lookup) = match options.kind {
            Some(kind) => open(kind)?,
            None => match open(SequenceKind::Protein) {
                Ok(found) => found,
                // An exception that BLAST+ does not expect ends it.
                Err(first) if first.exit_code() == exit::UNKNOWN => return Err(first.into()),
                // Whatever else is wrong with proteins, BLAST+ tries nucleotides next.
                Err(first) => {
                    open(SequenceKind::Nucleotide).map_err(|second| neither(first, second))?
                }
            },
        };
        // When it looks for taxids, BLAST+ takes sequences of a guessed kind for nucleotides.
        let takes_proteins = match taxids {
            Some(_) => options.kind == Some(SequenceKind::Protein),
            None => database.kind() == SequenceKind::Protein,
        };
        let (names, masks) = (OnceCell::new(), OnceCell::new());
        let cursor = RefCell::new(database.oid_cursor());
        Ok(Self { database, lookup, cursor, search, names, masks, takes_proteins })
    }

    /// Whether options for nucleotides mean nothing.
    pub(super) fn takes_proteins(&self) -> bool {
        self.takes_proteins
    }

    /// The definition lines of a sequence.
    pub(super) fn deflines(&self, oid: u32) -> Result<Vec<Defline>, DbError> {
        self.database.deflines(oid)
    }

    /// What is odd about the definition lines that were read.
    pub(super) fn odd_headers(&self) -> Vec<OddHeader> {
        self.database.odd_headers()
    }

    /// The OIDs of sequences with one of the taxids, ascending.
    pub(super) fn oids_of_taxids(&self, taxids: &Taxids) -> Result<Vec<u32>, DbError> {
        let mut oids = taxid_oids(&self.lookup, taxids)?;
        oids.retain(|&oid| self.cursor.borrow_mut().includes(oid));
        Ok(oids)
    }

    /// The masks stored with the database.
    pub(super) fn masks(&self) -> Result<&Masks, DbError> {
        if self.masks.get().is_none() {
            // Nobody else can have set it.
            let _ = self.masks.set(self.database.masks()?);
        }
        self.masks.get().ok_or(DbError::NotOnDisk)
    }

    /// The names of a taxon, if there is a taxonomy database that has some.
    pub(super) fn taxon(&self, taxid: i64) -> Option<TaxonNames> {
        self.names.get_or_init(|| TaxonomyNames::find(&self.search)).names(taxid).ok().flatten()
    }
}

/// The OIDs of taxids, ascending, each once.
fn taxid_oids(lookup: &Lookup, taxids: &Taxids) -> Result<Vec<u32>, DbError> {
    let (mut oids, mut known) = (Vec::new(), false);
    // Without any, too, the version is looked at.
    if taxids.is_empty() {
        lookup.taxids()?;
    }
    for &taxid in taxids {
        known |= lookup.oids_of_taxid(taxid, &mut oids)?;
    }
    if !known {
        return Err(DbError::NoSuchTaxids { sign: TaxidSign::Positive });
    }
    oids.sort_unstable();
    oids.dedup();
    Ok(oids)
}

/// The error for a database that is neither of proteins nor of nucleotides: BLAST+ tells of the
/// latter only, which says nothing if there are proteins that cannot be used.
fn neither(protein: DbError, nucleotide: DbError) -> Error {
    let is_missing = |error: &DbError| matches!(error, DbError::NotFound { .. });
    let unlike = is_missing(&nucleotide) && !is_missing(&protein);
    let mut error = Error::from(nucleotide);
    if unlike {
        let protein = Error::from(protein);
        error.message.push_str(&format!("\n(as a database of proteins: {protein})"));
    }
    error
}
