//! Closes connections: sends the queued messages first, and reads what the peer still sends, so
//! that the last message reaches it.

use std::net::Shutdown;
use std::time::{Duration, Instant};

use super::Channel;
use crate::error::LinkError;
use crate::message::Message;

/// Time after which a connection is dropped although the peer has not closed its end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest wait for the socket.
const TICK: Duration = Duration::from_millis(50);
/// Most connections that are being closed at the same time.
const MOST_CLOSING: usize = 32;

/// A connection that is being closed. Best effort: a peer that misses the last message finds the
/// connection broken.
pub struct ClosingChannel {
    channel: Channel,
    until: Instant,
    stage: Stage,
}

#[derive(PartialEq)]
enum Stage {
    /// Messages wait to be sent.
    Sending,
    /// All of them are encrypted, followed by the end of the stream.
    Closing,
    /// All bytes are passed to the system.
    Closed,
}

impl ClosingChannel {
    /// Starts to close a connection.
    pub fn new(channel: Channel) -> Self {
        ClosingChannel { channel, until: Instant::now() + PATIENCE, stage: Stage::Sending }
    }

    /// Continues after waiting for the socket for at most `wait`; returns whether it is closed.
    pub fn step(&mut self, wait: Duration) -> bool {
        let ClosingChannel { channel, until, stage } = self;
        if *stage == Stage::Sending && channel.outbox.is_empty() {
            channel.tls.send_close_notify();
            *stage = Stage::Closing;
        }
        if *stage == Stage::Closing && !channel.tls.wants_write() {
            // Closing a socket with unread bytes would make the system discard the bytes sent.
            let _ = channel.tcp.shutdown(Shutdown::Write);
            *stage = Stage::Closed;
        }
        let result = channel.exchange(wait).and_then(|()| discard(channel));
        result.is_err() || channel.ended || Instant::now() > *until
    }
}

/// Reads and drops what the peer still sends.
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

/// Connections that are being closed while others go on.
#[derive(Default)]
pub struct ClosingChannels(Vec<ClosingChannel>);

impl ClosingChannels {
    /// Closes a connection after a last message.
    pub fn add(&mut self, mut channel: Channel, last: &Message) {
        channel.send(last);
        if self.0.len() >= MOST_CLOSING {
            self.0.remove(0);
        }
        self.0.push(ClosingChannel::new(channel));
    }

    /// Continues with all of them, without waiting.
    pub fn step(&mut self) {
        self.0.retain_mut(|closing| !closing.step(Duration::ZERO));
    }
}
