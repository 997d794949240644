//! Closes connections so that the last message reaches the peer. It sends the queued messages
//! first, and reads the bytes that the peer still sends.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::Channel;
use crate::error::LinkError;
use crate::message::Message;

/// Time after which a connection is dropped, even if the peer has not closed its end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for the socket in one step.
const TICK: Duration = Duration::from_millis(50);
/// Most connections that are being closed at the same time.
const MOST_CLOSING: usize = 32;

/// A connection that is being closed. This is best effort: a peer that misses the last message
/// finds the connection broken.
pub struct ClosingChannel {
    channel: Channel,
    until: Instant,
    stage: Stage,
}

#[derive(PartialEq)]
enum Stage {
    /// Messages wait to be encrypted.
    Sending,
    /// All messages and the end of the TLS stream are encrypted. Some bytes wait to be sent.
    Closing,
    /// All bytes are passed to the system.
    Closed,
}

impl ClosingChannel {
    /// Starts to close a connection.
    pub fn new(channel: Channel) -> Self {
        ClosingChannel { channel, until: Instant::now() + PATIENCE, stage: Stage::Sending }
    }

    /// Continues to close the connection, after waiting for the socket at most `wait`. Returns
    /// whether it is closed.
    pub fn step(&mut self, wait: Duration) -> bool {
        let ClosingChannel { channel, until, stage } = self;
        if *stage == Stage::Sending && channel.outbox.is_empty() {
            channel.tls.send_close_notify();
            *stage = Stage::Closing;
        }
        if *stage == Stage::Closing && !channel.tls.wants_write() {
            // If a socket is closed with unread bytes, the system discards the bytes that wait to
            // be sent.
            let _ = channel.tcp.shutdown(Shutdown::Write);
            *stage = Stage::Closed;
        }
        let result = channel.exchange(wait).and_then(|()| discard(channel));
        result.is_err() || channel.ended || Instant::now() > *until
    }
}

/// Reads and drops the messages that the peer still sends.
fn discard(channel: &mut Channel) -> Result<(), LinkError> {
    while channel.receive()?.is_some() {}
    Ok(())
}

impl Channel {
    /// Sends the queued messages and closes the connection, within a short time. Returns whether
    /// the peer closed its end, too, and so has read everything.
    pub fn close(self) -> bool {
        let mut closing = ClosingChannel::new(self);
        while !closing.step(TICK) {}
        closing.channel.closed
    }
}

/// Connections that are being closed while other connections go on.
#[derive(Default)]
pub struct ClosingChannels(Vec<ClosingChannel>);

impl ClosingChannels {
    /// Sends a last message on a connection and begins to close it. If too many are being closed,
    /// drops the oldest.
    pub fn add(&mut self, mut channel: Channel, last: &Message) {
        channel.send(last);
        if self.0.len() >= MOST_CLOSING {
            self.0.remove(0);
        }
        self.0.push(ClosingChannel::new(channel));
    }

    /// Continues to close all connections, without waiting.
    pub fn step(&mut self) {
        self.0.retain_mut(|closing| !closing.step(Duration::ZERO));
    }
}
