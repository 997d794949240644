//! A search at one site and its report at another: [metadata](fleetblast_metadata) are written here, and expanded there.

mod content;
mod expand;
mod judge;
mod queries;
mod source;
mod writer;

pub use self::expand::{Expansion, expand};
pub use self::source::Opened;
pub(crate) use self::writer::Writer;
