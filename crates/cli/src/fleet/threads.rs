//! Ranks as threads of one process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::{Duration, Instant};

use fleetblast_fleet::ids::Rank;

use super::transport::{Envelope, Happening, Transport};
use crate::error::{CliError, exit};

/// How long to wait for a message before looking whether a work has ended.
const GLANCE: Duration = Duration::from_micros(200);

/// The messages of one rank.
pub struct Threads {
    inbox: Receiver<Envelope>,
    outboxes: Vec<Sender<Envelope>>,
    /// The job cannot go on.
    over: Arc<AtomicBool>,
}

impl Threads {
    /// Connects so many ranks.
    pub fn connect(ranks: usize) -> Vec<Threads> {
        let (outboxes, inboxes): (Vec<_>, Vec<_>) = (0..ranks).map(|_| channel()).unzip();
        let over = Arc::new(AtomicBool::new(false));
        let rank = |inbox| Threads { inbox, outboxes: outboxes.clone(), over: Arc::clone(&over) };
        inboxes.into_iter().map(rank).collect()
    }

    /// Ends the job on all ranks.
    pub fn end_all(&self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

impl Transport for Threads {
    fn send(&mut self, to: Rank, envelope: Envelope) -> Result<(), CliError> {
        // Who has ended needs no more messages.
        let _ = self.outboxes[to.index()].send(envelope);
        Ok(())
    }

    fn next(
        &mut self,
        works: &Receiver<Happening>,
        timeout: Duration,
    ) -> Result<Option<Happening>, CliError> {
        let start = Instant::now();
        loop {
            if self.over.load(Ordering::Relaxed) {
                return Err(CliError::new(exit::UNKNOWN, ""));
            }
            match works.try_recv() {
                Ok(happening) => return Ok(Some(happening)),
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => {}
            }
            let rest = timeout.saturating_sub(start.elapsed());
            match self.inbox.recv_timeout(rest.min(GLANCE)) {
                Ok(envelope) => return Ok(Some(Happening::Message(envelope))),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if rest.is_zero() {
                return Ok(None);
            }
        }
    }
}
