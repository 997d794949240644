//! Compares two collections of entries regardless of their order.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Sum over entries, independent of their order. Two collections with equal sums and equal numbers
/// of entries count as equal.
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

    /// Adds all entries of another collection.
    pub(super) fn merge(&mut self, other: &Self) {
        self.entries += other.entries;
        self.hashes = self.hashes.wrapping_add(other.hashes);
    }

    /// Number of entries.
    pub(super) fn entry_count(&self) -> u64 {
        self.entries
    }
}
