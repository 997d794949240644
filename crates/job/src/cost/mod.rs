//! What metadata cost, by kind: what is known of it, and the choice that follows.

mod account;
mod choice;

pub use self::account::{Account, NAMES, Seen};
pub use self::choice::{Cost, Outlook, Reason, choose};
