//! The search of a block of queries in this process: both phases, and what they need beforehand.

pub mod patterns;
mod repeats;
mod scan;
mod two_phases;

pub use self::repeats::Repeats;
pub use self::scan::{RANGES_PER_THREAD, Scan};
pub use self::two_phases::{Phases, TwoPhases};
