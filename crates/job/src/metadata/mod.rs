//! A search at one site and its report at another: [metadata](fleetblast_metadata) are written here, and expanded there.

mod carrier;
mod chooser;
pub(crate) mod content;
mod estimate;
mod expand;
mod growth;
mod judge;
mod maker;
mod passing;
mod queries;
mod receive;
mod rounds;
mod site;
mod source;
mod spool;
mod teller;
mod wanted;
mod writer;

pub(crate) use self::carrier::Carrier;
pub use self::carrier::Resumed;
pub(crate) use self::chooser::{Chooser, Seekers};
pub(crate) use self::estimate::Estimate;
pub use self::expand::{Expansion, expand};
pub(crate) use self::maker::Maker;
pub(crate) use self::passing::{Passing, other_queries};
pub(crate) use self::queries::told;
pub use self::receive::{Reception, receive};
pub(crate) use self::rounds::found as found_in_rounds;
pub(crate) use self::site::{Site, at_site};
#[cfg(feature = "mpi")]
pub(crate) use self::source::fault;
pub use self::source::{Opened, record_memory};
pub(crate) use self::teller::{Searched, Teller, body, body_in_rounds, no_room};
pub(crate) use self::wanted::Wanted;
pub(crate) use self::writer::{Writer, header};
