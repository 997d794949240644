//! A seeded discrete-event simulator that drives the roles.
//!
//! It is a driver like any other: it routes messages and carries out works. Only time is virtual. A
//! [`Machine`](machine::Machine) determines how long messages take; a
//! [`Workload`](workload::Workload) determines how long works take and what they produce. Its
//! [`Job`](world::Job) determines every run completely.

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
