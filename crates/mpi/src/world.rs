//! All ranks of a job, as seen by one of them.

use std::rc::Rc;

use crate::comm::Comm;
use crate::pieces::PIECE_BYTES;
use crate::session::Session;
use crate::{MpiError, launched};

/// All ranks that were started together, as seen by one of them.
///
/// MPI is finalized when the world and everything made from it have been dropped. That waits until
/// the other ranks do the same. So a rank that cannot continue must not just return:
/// [`World::abort`] ends all ranks, and so does a panic. Only the thread that called
/// [`World::init`] calls MPI; other threads compute.
///
/// ```no_run
/// use std::time::Duration;
/// use fleetblast_mpi::{Messenger, MpiError, World};
/// fn greet(world: &World) -> Result<(), MpiError> {
///     let mut messenger = Messenger::new(world.comm())?;
///     messenger.send((world.rank() + 1) % world.size(), 0, b"hello".to_vec())?;
///     while let Some(message) = messenger.wait(Duration::from_secs(1))? {
///         println!("rank {} says {} bytes", message.from, message.bytes.len());
///     }
///     Ok(())
/// }
/// let world = World::init()?;
/// if let Err(error) = greet(&world) {
///     eprintln!("{error}");
///     world.abort(1);
/// }
/// # Ok::<(), MpiError>(())
/// ```
pub struct World {
    all: Comm,
    session: Rc<Session>,
}

impl World {
    /// Initializes MPI. Call it before the process starts other threads. Call it only if
    /// [`launched`] finds several processes, or if MPI is needed anyway.
    ///
    /// From then on errors of MPI are returned and do not end the job by themselves.
    ///
    /// # Errors
    /// [`MpiError::OtherLibrary`] under the launcher of another library;
    /// [`MpiError::AlreadyInitialized`], [`MpiError::Threads`], [`MpiError::ThreadSupport`],
    /// [`MpiError::Initialize`] and [`MpiError::Call`].
    pub fn init() -> Result<Self, MpiError> {
        Self::init_with_pieces(PIECE_BYTES)
    }

    /// Initializes MPI, as [`World::init`], with another limit for the bytes in one call of MPI.
    /// Longer messages, broadcasts and accesses to files are split. All ranks must pass the same
    /// limit. It serves tests: the usual limit is half a GiB.
    ///
    /// # Errors
    /// As [`World::init`].
    pub fn init_with_pieces(bytes: usize) -> Result<Self, MpiError> {
        let session = Rc::new(Session::begin(bytes.clamp(1, PIECE_BYTES))?);
        let all = Comm::world(&session)?;
        if let Some(launch) = launched() {
            launch.confirm(all.size(), &session.library)?;
        }
        Ok(Self { all, session })
    }

    /// Returns a world of only the ranks in `some`. [`World::abort`] still ends all ranks.
    #[must_use]
    pub fn restrict(&self, some: Comm) -> Self {
        Self { all: some, session: Rc::clone(&self.session) }
    }

    /// Returns the group of all ranks.
    pub fn comm(&self) -> &Comm {
        &self.all
    }

    /// Returns the number of this rank.
    pub fn rank(&self) -> usize {
        self.all.rank()
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.all.size()
    }

    /// Returns the name of this rank's host.
    pub fn host(&self) -> &str {
        &self.session.host
    }

    /// Returns the name and version of the MPI library.
    pub fn library(&self) -> &str {
        &self.session.library
    }

    /// Ends all ranks at once. `status` becomes the launcher's exit status, if the launcher passes
    /// it on.
    pub fn abort(&self, status: i32) -> ! {
        self.session.abort(status)
    }

    /// Leaves MPI without finalizing it, because other ranks are known to be gone: finalizing would
    /// wait for them. Launchers take this for a failure and end the other ranks, whatever the exit
    /// status. `mpiexec` of MPICH may then report 9, the status of a rank that it ended.
    pub fn leave(self) {
        self.session.leave();
    }
}
