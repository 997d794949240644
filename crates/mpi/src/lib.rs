//! Ranks of one search: messages, groups, memory shared by the ranks of a host, and files written by all of them.
//!
//! A small safe face on MPI: bytes only, every error returned, nothing that blocks where searching goes on.
//!
//! | item | gives | stands on |
//! | --- | --- | --- |
//! | [`launched`], [`speaks_for_all`] | whether there are several processes, and which this one is | the environment |
//! | `World` | start and end | `MPI_Init_thread`, `MPI_Finalize`, `MPI_Abort` |
//! | `Comm` | groups, barrier, broadcast, gathering | communicators |
//! | `Mailbox` | messages in order, of any length | `MPI_Isend`, `MPI_Improbe`, `MPI_Imrecv` |
//! | `SharedFill`, `SharedBytes` | one copy of bytes on each host | files in memory |
//! | `ParallelFile` | writing at positions, alone or together | MPI-IO |
//!
//! All but the first line needs the cargo feature `mpi`, and with it an MPI library. Without it,
//! [`Launch::refuse_without_mpi`] tells a user who starts several processes that this cannot work.
//!
//! # Libraries
//! The program runs with the library that it was built with (`MPICC`, else `mpicc`), started by that library's
//! launcher. Open MPI 4.1.4 and MPICH 4.0.2 are tested. With Open MPI, files go through ROMIO rather than OMPIO unless
//! `OMPI_MCA_io` is set: on a full file system OMPIO hangs in collective writes, or loses them without an error. So it
//! is refused for writing.
//!
//! # Errors
//! MPI has no way to go on with fewer ranks that could be relied upon. So an error of a rank ends the job:
//! `World::abort`. `Comm::agree` lets all ranks know first.

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
    comm::{Arrival, Comm},
    file::{Access, ParallelFile},
    messages::{Mailbox, Message},
    shared::{Residence, SharedBytes, SharedFill},
    world::World,
};
pub use self::{
    error::MpiError,
    launch::{Launch, launched, speaks_for_all},
    place::name_rank,
};
