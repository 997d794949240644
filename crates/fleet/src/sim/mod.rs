//! A seeded discrete-event simulator of the roles.
//!
//! The simulator is a driver like any other: it delivers messages and carries out works. Only time
//! is virtual. A [`Machine`](machine::Machine) determines how long messages take. A
//! [`Workload`](workload::Workload) determines how long works take and which results they have. A
//! [`Job`](world::Job), with its seed, determines every run completely.

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
