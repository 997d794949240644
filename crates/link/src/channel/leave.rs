//! How a connection is ended: what waits is sent, and what the peer still sends is read, so that it
//! learns why.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::Channel;
use crate::error::LinkError;
use crate::message::Message;

/// A peer that does not take leave is waited for so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Waits for the socket.
const TICK: Duration = Duration::from_millis(50);
/// Connections that are ended at a time, at most.
const MOST_DEPARTURES: usize = 32;

/// A connection that is being ended. Best effort: a peer that misses the last message finds the
/// connection broken.
pub struct Leave {
    channel: Channel,
    until: Instant,
    stage: Stage,
}

#[derive(PartialEq)]
enum Stage {
    /// Messages wait to be sent.
    Sending,
    /// All of them are encrypted, with the end of the stream after them.
    Closing,
    /// The system has them.
    Closed,
}

impl Leave {
    /// Begins to end a connection.
    pub fn new(channel: Channel) -> Self {
        Leave { channel, until: Instant::now() + PATIENCE, stage: Stage::Sending }
    }

    /// Goes on, and waits for the socket up to so long; returns whether the connection is over.
    pub fn step(&mut self, wait: Duration) -> bool {
        let Leave { channel, until, stage } = self;
        if *stage == Stage::Sending && channel.outbox.is_empty() {
            channel.tls.send_close_notify();
            *stage = Stage::Closing;
        }
        if *stage == Stage::Closing && !channel.tls.wants_write() {
            // Closing a socket with unread bytes would make the system discard what was sent.
            let _ = channel.tcp.shutdown(Shutdown::Write);
            *stage = Stage::Closed;
        }
        let went_on = channel.exchange(wait).and_then(|()| discard(channel));
        went_on.is_err() || channel.ended || Instant::now() > *until
    }
}

/// Reads what the peer still sends.
fn discard(channel: &mut Channel) -> Result<(), LinkError> {
    while channel.receive()?.is_some() {}
    Ok(())
}

impl Channel {
    /// Sends what waits, and ends the connection, within a short time. Returns whether the peer
    /// ended it, too, so that it has read everything.
    pub fn leave(self) -> bool {
        let mut leave = Leave::new(self);
        while !leave.step(TICK) {}
        leave.channel.closed
    }
}

/// Connections that are being ended while others go on.
#[derive(Default)]
pub struct Departures(Vec<Leave>);

impl Departures {
    /// Ends a connection with a last message.
    pub fn add(&mut self, mut channel: Channel, last: &Message) {
        channel.send(last);
        if self.0.len() >= MOST_DEPARTURES {
            self.0.remove(0);
        }
        self.0.push(Leave::new(channel));
    }

    /// Goes on with all of them, without waiting.
    pub fn step(&mut self) {
        self.0.retain_mut(|leave| !leave.step(Duration::ZERO));
    }
}
