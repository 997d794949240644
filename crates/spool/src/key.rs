//! Names of stored results.

use serde::{Deserialize, Serialize};

/// The kind of data about a block. The user of the spool chooses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Kind(pub u32);

impl Kind {
    /// All formatted output of the block.
    pub const RESULT: Self = Self(0);
    /// For each query of the block, how often the search extended a hit.
    pub const COUNTS: Self = Self(1);
    /// The names of the block's queries, and where in its output each begins and ends.
    pub const NAMES: Self = Self(2);
    /// The output before the first block.
    pub const PROLOGUE: Self = Self(3);
    /// The output after the last block.
    pub const EPILOGUE: Self = Self(4);
}

/// The name of a result. Its bytes are always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Number of the query block.
    pub block: u64,
    /// Kind of data about the block.
    pub kind: Kind,
}

/// The position of a record's bytes in a result. Several writers can each have a share, and other
/// ones in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share {
    /// Offset in the result.
    pub start: u64,
    /// Length of the whole result in bytes.
    pub total: u64,
}

impl Share {
    /// The share that is a whole result of `total` bytes.
    pub fn whole(total: u64) -> Self {
        Self { start: 0, total }
    }

    /// Whether this number of bytes fits into the share.
    pub(crate) fn has_room(self, length: u64) -> bool {
        self.start.checked_add(length).is_some_and(|end| end <= self.total)
    }
}
