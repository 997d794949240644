//! The ranks of one job: their messages, groups, shared memory on each host, and common files.
//!
//! A small safe interface to MPI. It transfers only bytes, returns every error, and does not block
//! during a search.
//!
//! | item | provides | uses |
//! | --- | --- | --- |
//! | [`launched`], [`is_first_process`] | number of processes, and rank | the environment |
//! | `World` | start and end | `MPI_Init_thread`, `MPI_Finalize`, `MPI_Abort` |
//! | `Comm` | groups, barrier, broadcast, gathering | communicators |
//! | `Messenger` | messages in order, of any length | `MPI_Isend`, `MPI_Improbe`, `MPI_Imrecv` |
//! | `SharedFill`, `SharedBytes` | one copy of bytes on each host | files in memory |
//! | `ParallelFile` | writing at positions, alone or collectively | MPI-IO |
//!
//! All but the first line need the cargo feature `mpi`, and an MPI library. Without it,
//! [`Launch::refuse_without_mpi`] stops a program that was started as several processes.
//!
//! # Libraries
//! The program runs with the library that it was built with (`MPICC`, else `mpicc`), and must be
//! started by the launcher of that library. Open MPI 4.1.4 and MPICH 4.0.2 are tested. With Open
//! MPI, ROMIO writes files instead of OMPIO, unless `OMPI_MCA_io` is set. On a full file system
//! OMPIO hangs in collective writes, or loses data without an error. So this crate refuses to write
//! files by OMPIO.
//!
//! # Errors
//! MPI has no reliable way to continue with fewer ranks. So an error of one rank ends the job by
//! `World::abort`. `Comm::agree` informs all ranks first.

mod error;
mod launch;
mod place;

#[cfg(feature = "mpi")]
mod backoff;
#[cfg(feature = "mpi")]
mod call;
#[cfg(feature = "mpi")]
mod comm;
#[cfg(feature = "mpi")]
mod file;
#[cfg(feature = "mpi")]
mod messages;
#[cfg(feature = "mpi")]
mod pieces;
#[cfg(feature = "mpi")]
mod session;
#[cfg(feature = "mpi")]
mod shared;
#[cfg(feature = "mpi")]
mod world;

#[cfg(feature = "mpi")]
pub use self::{
    comm::{BarrierEntry, Comm},
    file::{Access, ParallelFile},
    messages::{Message, Messenger},
    shared::{PageStatistics, SharedBytes, SharedFill},
    world::World,
};
pub use self::{
    error::MpiError,
    launch::{Launch, is_first_process, launched},
    place::name_rank,
};
