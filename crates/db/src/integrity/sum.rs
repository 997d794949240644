//! Compares two collections of entries regardless of their order.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Number of entries and sum of their hashes, independent of their order. Two collections count as
/// equal if both values are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntrySum {
    entries: u64,
    hashes: u64,
}

impl EntrySum {
    /// Adds an entry.
    pub(super) fn add(&mut self, entry: impl Hash) {
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        self.entries += 1;
        self.hashes = self.hashes.wrapping_add(hasher.finish());
    }

    /// Adds all entries of the collection `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        self.entries += other.entries;
        self.hashes = self.hashes.wrapping_add(other.hashes);
    }

    /// Returns the number of entries.
    pub(super) fn entry_count(&self) -> u64 {
        self.entries
    }
}
