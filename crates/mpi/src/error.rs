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
    /// Several processes were started, but the program was built without MPI.
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
    /// Other threads exist when MPI is initialized. This crate chooses the file layer of Open MPI
    /// through the environment, which no other thread may read at that time.
    #[error(
        "MPI must be initialized before this process starts threads (it has {threads}); \
         or set OMPI_MCA_io=^ompio in its environment"
    )]
    Threads {
        /// Number of threads of this process.
        threads: usize,
    },
    /// The MPI library does not allow a process to have threads.
    #[error("{library} does not support processes with threads (MPI_THREAD_FUNNELED)")]
    ThreadSupport {
        /// The MPI library of this program.
        library: String,
    },
    /// A call of MPI failed.
    #[error("rank {rank}: {call}: {text}")]
    Call {
        /// The number of this rank in its communicator.
        rank: usize,
        /// Name of the MPI function.
        call: &'static str,
        /// MPI's text for the error.
        text: String,
    },
    /// An operation on a file failed: opening, writing, synchronising, closing, or reserving space.
    #[error("rank {rank}: {}: {call} at byte {offset}: {text}", path.display())]
    File {
        /// The number of this rank in the communicator of the file.
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
    /// Files may be written by a layer of Open MPI that loses data. Either the user chose that
    /// layer, or the default could not be changed.
    #[error(
        "rank {rank}: {}: not written by OMPIO, which OMPI_MCA_io={choice} allows: it may tell of success when the \
         file system is full; unset OMPI_MCA_io, or set it to ^ompio", path.display()
    )]
    Untrusted {
        /// The number of this rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// Value of the variable `OMPI_MCA_io`, or the reason why it is not set.
        choice: String,
    },
    /// Pieces of one write overlap, so the contents of the file would be undefined.
    #[error("rank {rank}: {}: two pieces to be written overlap at byte {offset}", path.display())]
    Overlap {
        /// The number of this rank in the communicator of the file.
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
        /// The number of this rank in the communicator of the file.
        rank: usize,
        /// The file.
        path: PathBuf,
        /// Number of bytes to write.
        wanted: u64,
        /// Bytes free in the file system.
        free: u64,
    },
    /// The system refused memory that the ranks of a host share.
    #[error(
        "{}: {wanted} bytes of memory to be shared by the ranks of this host: {step}: {text}",
        name_rank(rank, Some(host))
    )]
    Memory {
        /// The number of this rank on its host.
        rank: usize,
        /// Name of the host.
        host: String,
        /// Number of bytes wanted.
        wanted: u64,
        /// The operation that failed.
        step: &'static str,
        /// The system's text for the error.
        text: String,
    },
    /// The ranks of a host state contradictory lengths or ranges of their shared memory.
    #[error("rank {rank}: shared memory of {length} bytes: {text}")]
    Shares {
        /// The number of this rank on its host.
        rank: usize,
        /// Length of the memory in bytes.
        length: u64,
        /// The contradiction.
        text: String,
    },
    /// A message, or its next piece, is too large for this rank's memory.
    #[error("rank {rank}: no memory for a message of {length} bytes from rank {from}")]
    MessageMemory {
        /// The number of the receiving rank.
        rank: usize,
        /// The number of the sending rank.
        from: usize,
        /// Bytes of the message, or of its next piece.
        length: usize,
    },
    /// The gathered bytes of all ranks are too large for this rank's memory.
    #[error("rank {rank}: no memory for {length} bytes that all ranks gather")]
    GatherMemory {
        /// The number of this rank.
        rank: usize,
        /// Number of bytes of all ranks together.
        length: u64,
    },
    /// An error of another rank, with its text.
    #[error("{text}")]
    OtherRank {
        /// The rank at which it happened.
        rank: usize,
        /// Text of the error.
        text: String,
    },
}
