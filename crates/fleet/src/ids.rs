//! Numbers that identify ranks, groups, workers, partitions, blocks and passes.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// Returns the number as an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number! {
    /// Number of a process of the job, from 0.
    Rank
}
number! {
    /// Number of a group of workers under one master, from 0.
    GroupId
}
number! {
    /// Number of a worker in the whole job, from 0. The workers of a group have consecutive
    /// numbers.
    WorkerId
}
number! {
    /// Number of a virtual partition of the database, from 0.
    PartitionId
}
number! {
    /// Number of a block of queries, from 0 in the order of the input.
    BlockId
}

number! {
    /// Number of a pass of a block, from 0. A pass searches the block once in all partitions.
    PassId
}

impl BlockId {
    /// Returns the block after this one.
    #[must_use]
    pub fn next(self) -> BlockId {
        BlockId(self.0 + 1)
    }
}

impl PassId {
    /// Returns the pass after this one.
    #[must_use]
    pub fn next(self) -> PassId {
        PassId(self.0 + 1)
    }
}

/// Identifies a work from its start to its end, or a message with a receipt until it has left.
/// Unique within the role that started the work or sent the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// A point in time or a span, in nanoseconds. Points count from a start that the driver chooses.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// Converts seconds. A negative or too large number becomes the nearest possible time.
    pub fn from_seconds(seconds: f64) -> Time {
        Time((seconds * 1e9).round() as u64)
    }

    /// Converts to seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the span from `earlier` to this time, or 0 if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Time {
    type Output = Time;

    fn add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub for Time {
    type Output = Time;

    fn sub(self, earlier: Time) -> Time {
        self.since(earlier)
    }
}

/// Address of a role, on whichever rank it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Address {
    /// The supermaster.
    Supermaster,
    /// The master of a group.
    Master(GroupId),
    /// A worker.
    Worker(WorkerId),
}
