//! The search of a block of queries in this process: both phases and their preparation.

pub mod patterns;
mod repeats;
mod scan;
mod two_phases;

pub use self::repeats::Repeats;
pub use self::scan::{DatabaseScan, RANGES_PER_THREAD};
pub use self::two_phases::{PhaseTimes, TwoPhaseSearch};
