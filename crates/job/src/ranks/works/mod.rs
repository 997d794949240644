//! What the roles of a rank have done for them, and the threads that do it.

mod laid;
pub mod lanes;
pub mod master;
mod pieces;
pub mod records;
mod rounds;
pub mod shared;
pub mod store;
pub mod supermaster;
pub mod worker;
