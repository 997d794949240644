//! The queries that a report is to contain.

use crate::queries::QueryRecord;

/// Names of the wanted queries, each with a flag whether a query with this name was met. Without
/// names, all queries are wanted.
pub struct WantedQueries(Vec<(Vec<u8>, bool)>);

impl WantedQueries {
    /// Selects the queries with these names, or all queries if there are none.
    pub fn new(names: Vec<Vec<u8>>) -> Self {
        WantedQueries(names.into_iter().map(|name| (name, false)).collect())
    }

    /// Returns whether a query is wanted, and records that it was met.
    pub fn has(&mut self, record: &QueryRecord) -> bool {
        let mut wanted = self.0.is_empty();
        let names = if wanted { Vec::new() } else { record.names() };
        for (_, met) in self.0.iter_mut().filter(|(name, _)| names.contains(name)) {
            (*met, wanted) = (true, true);
        }
        wanted
    }

    /// Returns whether all queries are wanted.
    pub fn are_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether any wanted query was met. Always true if all queries are wanted.
    pub fn has_met_any(&self) -> bool {
        self.0.is_empty() || self.0.iter().any(|(_, met)| *met)
    }

    /// Returns a wanted name that no query had; `None` if each wanted name was found.
    pub fn missing(&self) -> Option<&[u8]> {
        self.0.iter().find(|(_, met)| !met).map(|(name, _)| name.as_slice())
    }
}
