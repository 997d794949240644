//! What the roles of a rank have done for them, and the threads that do it.

pub mod counts;
mod foretelling;
mod laid;
pub mod lanes;
pub mod master;
mod pieces;
pub mod records;
mod rounds;
pub mod shared;
pub mod store;
mod stream;
pub mod supermaster;
pub mod worker;
