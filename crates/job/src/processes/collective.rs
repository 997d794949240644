//! Steps that all processes of a job take together. A job of one process takes them, too.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The processes of a job. Each function is called by all of them, in the same order.
pub trait Collective {
    /// Returns the number of this process, from 0.
    fn number(&self) -> usize;

    /// Returns the number of processes.
    fn count(&self) -> usize;

    /// Returns the value of this process if no process failed.
    ///
    /// # Errors
    /// The error of this process, or a silent error if another process has reported the reason.
    fn require_all<T>(&self, own: Result<T, Error>) -> Result<T, Error>;

    /// Broadcasts the bytes of the first process and returns them. `own` is ignored on others.
    ///
    /// # Errors
    /// A connection that is lost.
    fn broadcast_bytes(&self, own: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error>;

    /// Returns the bytes of each process, in the order of their numbers.
    ///
    /// # Errors
    /// A connection that is lost.
    fn gather_bytes(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Error>;

    /// Returns whether this process is the first one.
    fn is_first(&self) -> bool {
        self.number() == 0
    }

    /// Broadcasts the value of the first process and returns it. `own` is ignored on others.
    ///
    /// # Errors
    /// A connection that is lost, or a process that runs another build.
    fn broadcast<T: Serialize + DeserializeOwned>(
        &self,
        own: Option<T>,
    ) -> Result<Option<T>, Error> {
        let own = own.map(|own| postcard::to_allocvec(&own)).transpose().map_err(Error::engine)?;
        let known = self.broadcast_bytes(own)?;
        known.map(|bytes| postcard::from_bytes(&bytes)).transpose().map_err(Error::engine)
    }

    /// Returns the value of each process, in the order of their numbers.
    ///
    /// # Errors
    /// A connection that is lost, or a process that runs another build.
    fn gather<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Vec<T>, Error> {
        let own = postcard::to_allocvec(own).map_err(Error::engine)?;
        let all = self.gather_bytes(own)?;
        let all: Result<_, _> = all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
        all.map_err(Error::engine)
    }
}

/// The only process of a job.
pub struct OneProcess;

impl Collective for OneProcess {
    fn number(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn require_all<T>(&self, own: Result<T, Error>) -> Result<T, Error> {
        own
    }

    fn broadcast_bytes(&self, own: Option<Vec<u8>>) -> Result<Option<Vec<u8>>, Error> {
        Ok(own)
    }

    fn gather_bytes(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Error> {
        Ok(vec![own])
    }
}
