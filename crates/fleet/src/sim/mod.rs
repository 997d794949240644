//! A seeded discrete-event simulator that drives the roles.
//!
//! It is a driver like any other: it routes messages and carries out works. Only time is virtual, messages take what a
//! [`Machine`](machine::Machine) says, and works take and make what a [`Workload`](workload::Workload) says. Every run
//! is determined by its [`Job`](world::Job).

pub mod ledger;
pub mod machine;
mod queue;
pub mod report;
pub mod scaling;
pub mod sites;
pub mod startup;
pub mod trial;
pub mod workload;
pub mod world;
