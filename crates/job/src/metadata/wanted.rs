//! Queries of which a report is wanted.

use crate::queries::QueryRecord;

/// Names of queries, and whether there was one called so.
pub struct Wanted(Vec<(Vec<u8>, bool)>);

impl Wanted {
    /// Of these names; none for all queries.
    pub fn new(names: Vec<Vec<u8>>) -> Self {
        Wanted(names.into_iter().map(|name| (name, false)).collect())
    }

    /// Whether a query is wanted.
    pub fn has(&mut self, record: &QueryRecord) -> bool {
        let mut wanted = self.0.is_empty();
        let names = if wanted { Vec::new() } else { record.names() };
        for (_, met) in self.0.iter_mut().filter(|(name, _)| names.contains(name)) {
            (*met, wanted) = (true, true);
        }
        wanted
    }

    /// Whether all queries are wanted.
    pub fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether some query was wanted, as far as they came; all are, where no names are told.
    pub fn has_some(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|(_, met)| *met)
    }

    /// A name that no query had.
    pub fn missing(&self) -> Option<&[u8]> {
        self.0.iter().find(|(_, met)| !met).map(|(name, _)| name.as_slice())
    }
}
