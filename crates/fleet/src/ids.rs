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
    /// A process of the job, from 0.
    Rank
}
number! {
    /// A group of workers under one master, from 0.
    GroupId
}
number! {
    /// A worker, from 0 over the whole job; those of a group are consecutive.
    WorkerId
}
number! {
    /// A virtual partition of the database, from 0.
    PartitionId
}
number! {
    /// A block of queries, from 0 in the order of the input.
    BlockId
}

number! {
    /// A pass of a block: one search of it in all partitions, from 0.
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

/// Identifies a work from its start to its end; unique within the role that started it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Nanoseconds: a point in time since the driver's start of counting, or a span.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// Converts seconds. Negative and too large numbers become the nearest possible time.
    pub fn from_seconds(seconds: f64) -> Time {
        Time((seconds * 1e9).round() as u64)
    }

    /// Converts to seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the span from `earlier` until this time; 0 if `earlier` is later.
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

/// A role, on whichever rank it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Address {
    /// The supermaster.
    Supermaster,
    /// The master of a group.
    Master(GroupId),
    /// A worker.
    Worker(WorkerId),
}
