//! Errors of MPI, files and shared memory.

use std::path::PathBuf;

use crate::place::name_rank;

/// An error of the communication between ranks, their files or their memory.
///
/// Except for errors of launch and initialization, every text begins with the rank, so that one
/// line identifies it among thousands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MpiError {
    /// Started as several processes, but the program was built without MPI.
    #[error(
        "{launcher} started {ranks} processes, but this program was built without MPI: \
         build it with the cargo feature `mpi`, or start it once"
    )]
    NotBuilt {
        /// Number of processes that were started.
        ranks: u32,
        /// The program that started them.
        launcher: &'static str,
    },
    /// Each process is alone in its MPI world: the launcher belongs to another MPI library.
    #[error(
        "{launcher} started {ranks} processes, but each of them is alone in its MPI world: this program was built \
         with {library}, which does not understand that launcher; start it with the mpirun of that library, or \
         build it with the launcher's (MPICC=...)"
    )]
    OtherLibrary {
        /// Number of processes that were started.
        ranks: u32,
        /// The program that started them.
        launcher: &'static str,
        /// The MPI library of this program.
        library: String,
    },
    /// MPI could not be initialized.
    #[error("MPI cannot be initialized: {call}: {text}")]
    Initialize {
        /// Name of the MPI function.
        call: &'static str,
        /// MPI's text for the error.
        text: String,
    },
    /// MPI can be started and finalized only once in a process.
    #[error("MPI was initialized or finalized in this process before")]
    AlreadyInitialized,
    /// Other threads exist. The choice of Open MPI's MPI-IO layer needs a change of the
    /// environment, which no other thread may read at that time.
    #[error(
        "MPI must be initialized before this process starts threads (it has {threads}); \
         or set OMPI_MCA_io=^ompio in its environment"
    )]
    Threads {
        /// Number of threads of this process.
        threads: usize,
    },
    /// The library does not allow a process to have threads.
    #[error("{library} does not support processes with threads (MPI_THREAD_FUNNELED)")]
    ThreadSupport {
        /// The MPI library of this program.
        library: String,
    },
    /// A call failed.
    #[error("rank {rank}: {call}: {text}")]
    Call {
        /// The rank in its communicator.
        rank: usize,
        /// Name of the MPI function.
        call: &'static str,
        /// MPI's text for the error.
        text: String,
    },
    /// A file could not be opened, read, or written.
    #[error("rank {rank}: {}: {call} at byte {offset}: {text}", path.display())]
    File {
        /// The rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// Name of the function.
        call: &'static str,
        /// Offset in the file, in bytes.
        offset: u64,
        /// MPI's or the system's text for the error.
        text: String,
    },
    /// The user chose a layer of Open MPI that loses written data.
    #[error(
        "rank {rank}: {}: not written by OMPIO, which OMPI_MCA_io={choice} allows: it may tell of success when the \
         file system is full; unset OMPI_MCA_io, or set it to ^ompio", path.display()
    )]
    Untrusted {
        /// The rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// The user's choice.
        choice: String,
    },
    /// Pieces of one write overlap, so the contents of the file would be undefined.
    #[error("rank {rank}: {}: two pieces to be written overlap at byte {offset}", path.display())]
    Overlap {
        /// The rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// First byte that two pieces claim.
        offset: u64,
    },
    /// The file system is full.
    #[error(
        "rank {rank}: {}: no room for {wanted} bytes, its file system has {free} left: \
         free some, or write elsewhere", path.display()
    )]
    NoSpace {
        /// The rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// Number of bytes to write.
        wanted: u64,
        /// Bytes free in the file system.
        free: u64,
    },
    /// The system refused memory that is shared by the ranks of a host.
    #[error(
        "{}: {wanted} bytes of memory to be shared by the ranks of this host: {step}: {text}",
        name_rank(rank, Some(host))
    )]
    Memory {
        /// The rank on its host.
        rank: usize,
        /// Name of the host.
        host: String,
        /// Bytes wanted.
        wanted: u64,
        /// The operation that failed.
        step: &'static str,
        /// The system's text for the error.
        text: String,
    },
    /// The ranks of a host give contradictory ranges of their shared memory.
    #[error("rank {rank}: shared memory of {length} bytes: {text}")]
    Shares {
        /// The rank on its host.
        rank: usize,
        /// Length of the memory in bytes.
        length: u64,
        /// The contradiction.
        text: String,
    },
    /// A message or a list of them is too large for this rank's memory.
    #[error("rank {rank}: no memory for a message of {length} bytes from rank {from}")]
    MessageMemory {
        /// The rank that receives.
        rank: usize,
        /// The rank that sent it.
        from: usize,
        /// Bytes of the message, or of its next piece.
        length: usize,
    },
    /// The gathered bytes of all ranks are too large for this rank's memory.
    #[error("rank {rank}: no memory for {length} bytes that all ranks gather")]
    GatherMemory {
        /// The rank.
        rank: usize,
        /// Number of bytes of all ranks together.
        length: u64,
    },
    /// An error of another rank, with its text.
    #[error("{text}")]
    OtherRank {
        /// The rank at which it happened.
        rank: usize,
        /// Its text.
        text: String,
    },
}
