//! The costs of metadata by encoding, and the choice of an encoding.

mod choice;
mod statistics;

pub use self::choice::{ChoiceConditions, ChoiceReason, Cost, choose_encoding};
pub use self::statistics::{ENCODINGS, EncodingCosts, LinkStatistics};
