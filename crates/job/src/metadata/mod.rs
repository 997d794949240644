//! A search at one site and its report at another: [metadata](fleetblast_metadata) are written here, and expanded there.

mod account;
mod carrier;
mod choice;
mod chooser;
mod content;
mod expand;
mod growth;
mod judge;
mod queries;
mod receive;
mod seal;
mod source;
mod spool;
mod teller;
mod writer;

pub use self::account::Account;
pub(crate) use self::carrier::Carrier;
pub use self::carrier::Resumed;
pub use self::expand::{Expansion, expand};
pub(crate) use self::queries::told;
pub use self::receive::{Reception, receive};
pub use self::seal::Recipient;
pub use self::source::Opened;
pub(crate) use self::teller::{Searched, Teller, body, no_room};
pub(crate) use self::writer::{Writer, header};
