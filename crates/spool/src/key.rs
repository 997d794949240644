//! Keys of stored results.

use serde::{Deserialize, Serialize};

/// The kind of stored data about a block. The user of this crate chooses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResultKind(pub u32);

impl ResultKind {
    /// All formatted output of the block.
    pub const RESULT: Self = Self(0);
    /// Data that later blocks are verified with: the number of extensions of each query in the
    /// block, or the outcome of its iterations.
    pub const VERIFICATION: Self = Self(1);
    /// The names of the block's queries, each with start and end of its result in the block's
    /// output.
    pub const NAMES: Self = Self(2);
    /// The output before the first block.
    pub const PROLOGUE: Self = Self(3);
    /// The output after the last block.
    pub const EPILOGUE: Self = Self(4);
}

/// The key of a result. The bytes of the result are the same in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ResultKey {
    /// Number of the query block.
    pub block: u64,
    /// Kind of data about the block.
    pub kind: ResultKind,
}

/// The position of a record's bytes in a result. Several writers can each store a share of a
/// result, and another run can divide it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShareRange {
    /// Offset of the share in the result in bytes.
    pub start: u64,
    /// Length of the whole result in bytes.
    pub total: u64,
}

impl ShareRange {
    /// Returns the share that is a whole result of `total` bytes.
    pub fn whole(total: u64) -> Self {
        Self { start: 0, total }
    }

    /// Returns whether `length` bytes fit between the start of the share and the end of the result.
    pub(crate) fn has_room(self, length: u64) -> bool {
        self.start.checked_add(length).is_some_and(|end| end <= self.total)
    }
}
