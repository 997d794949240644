//! A set of OIDs as bits.

/// A set of OIDs, with one bit for each OID up to the largest one.
#[derive(Clone, Debug, Default)]
pub(super) struct OidSet {
    words: Vec<u64>,
    end: u32,
}

impl OidSet {
    pub(super) fn insert(&mut self, oid: u32) {
        let at = oid as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (oid % 64);
        self.end = self.end.max(oid.saturating_add(1));
    }

    pub(super) fn contains(&self, oid: u32) -> bool {
        self.words.get(oid as usize / 64).is_some_and(|word| word >> (oid % 64) & 1 != 0)
    }

    /// Returns the largest OID of the set plus one.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Returns the OIDs of the set in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.end).filter(|&oid| self.contains(oid))
    }
}
