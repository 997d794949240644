//! A volume that is open for the tests.

use fleetblast_db::{Database, DbError, Lookup, SearchPath, SequenceKind};

/// An open volume, or the database of an alias, with its lookup files.
pub(super) struct OpenVolume<'a> {
    /// Path without extension.
    pub(super) name: &'a str,
    pub(super) database: Database,
    pub(super) lookup: Lookup,
}

impl<'a> OpenVolume<'a> {
    /// Opens a volume of this kind. Without a kind, opens the proteins of this name, or else the
    /// nucleotides.
    pub(super) fn open(
        name: &'a str,
        kind: Option<SequenceKind>,
        search: &SearchPath,
    ) -> Result<Self, DbError> {
        let open = |kind| {
            let database = Database::open_to_describe(name, kind, search)?;
            let lookup = database.lookup()?;
            Ok(Self { name, database, lookup })
        };
        let Some(kind) = kind else {
            return open(SequenceKind::Protein).or_else(|error| {
                match open(SequenceKind::Nucleotide) {
                    Err(DbError::NotFound { .. }) if !matches!(error, DbError::NotFound { .. }) => {
                        Err(error)
                    }
                    opened => opened,
                }
            });
        };
        open(kind)
    }
}
