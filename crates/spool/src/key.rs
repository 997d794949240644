//! What is stored, by name.

use serde::{Deserialize, Serialize};

/// What a record holds of its block. The numbers are those that the user of the spool chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Kind(pub u32);

impl Kind {
    /// All formatted output of the block.
    pub const RESULT: Self = Self(0);
    /// How often the search extended for each query of the block.
    pub const COUNTS: Self = Self(1);
    /// The queries of the block by name, and where in its output each begins and ends.
    pub const NAMES: Self = Self(2);
    /// What stands before the first block.
    pub const PROLOGUE: Self = Self(3);
    /// What stands after the last one.
    pub const EPILOGUE: Self = Self(4);
}

/// Names a result. Whoever finds it, at whatever time, finds the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// Number of the query block.
    pub block: u64,
    /// What of it.
    pub kind: Kind,
}

/// Which bytes of a result a record holds. Several writers may each have a share, and in another run others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Share {
    /// Where in the result it begins.
    pub start: u64,
    /// Bytes of the whole result.
    pub total: u64,
}

impl Share {
    /// All of a result of so many bytes.
    pub fn whole(total: u64) -> Self {
        Self { start: 0, total }
    }

    /// Whether so many bytes can be the share.
    pub(crate) fn has_room(self, length: u64) -> bool {
        self.start.checked_add(length).is_some_and(|end| end <= self.total)
    }
}
