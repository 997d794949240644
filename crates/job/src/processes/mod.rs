//! Processes that were started together: their roles and their collective steps.

mod collective;
#[cfg(feature = "mpi")]
mod ending;
#[cfg(feature = "mpi")]
mod roles;
#[cfg(feature = "mpi")]
mod together;
#[cfg(not(feature = "mpi"))]
mod without_mpi;

pub use self::collective::{Collective, OneProcess};
#[cfg(feature = "mpi")]
pub use self::ending::end_job;
#[cfg(feature = "mpi")]
pub use self::roles::{Role, announce_refusal, exchange_roles};
#[cfg(feature = "mpi")]
pub use self::together::{JobProcesses, gather_hosts, mpi_failure, require_broadcast};
#[cfg(not(feature = "mpi"))]
pub use self::without_mpi::announce_refusal;
