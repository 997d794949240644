//! Connects to the receiver of a stream, and reconnects if a connection breaks.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use rustls::ClientConfig;

use crate::channel::Channel;
use crate::error::LinkError;
use crate::key::{Fingerprint, Key};
use crate::message::{HeldPart, Message, StreamId, VERSION};
use crate::tls;

/// Longest wait for the socket at a time.
const TICK: Duration = Duration::from_millis(20);
/// Pauses between two attempts to connect: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// Time limit of one attempt to connect to one address.
const CONNECTING: Duration = Duration::from_secs(10);
/// Most different errors reported to the observer between two connections.
const MOST_REPORTED: usize = 8;

/// The receiver of a stream, with the keys of both sides and time limits.
#[derive(Debug)]
pub struct Target {
    /// Address of the receiver, as `HOST:PORT`.
    pub address: String,
    /// The key of this side.
    pub key: Key,
    /// Accepted fingerprints of the receiver's key.
    pub peers: Vec<Fingerprint>,
    /// Fingerprint of the header with which the stream begins.
    pub header: u64,
    /// Longest time without a message from the peer. After it the connection is broken.
    pub patience: Duration,
    /// Longest time without a confirmation, connected or not. After it the sender gives the stream
    /// up.
    pub give_up: Duration,
}

/// An event that a sender reports to its observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendEvent {
    /// A connection broke or could not be made. Another attempt follows.
    Broken {
        /// The address of the receiver, and the error.
        why: String,
        /// Time until the sender gives the stream up; `None` if it never does.
        left: Option<Duration>,
    },
    /// The sender is connected again.
    Reconnected,
    /// The stream ended before it was complete. The sender sends nothing more.
    Ended,
    /// Progress of the stream.
    Progress {
        /// Number of bytes on the receiver's disk.
        confirmed: u64,
        /// Number of bytes that were written to the stream and are not confirmed.
        waiting: u64,
    },
}

/// Function that a sender calls with each event.
pub type SendObserver = Arc<dyn Fn(SendEvent) + Send + Sync>;

/// Makes the connections of one stream.
pub struct Dialer {
    /// The receiver of the stream.
    pub target: Target,
    config: Arc<ClientConfig>,
    stream: StreamId,
    /// Function that is called with each event.
    pub observer: SendObserver,
}

impl Dialer {
    /// Creates the dialer of one stream, with a random number for this run of the sender.
    ///
    /// # Errors
    /// The key cannot be used, or the system has no random numbers.
    pub fn new(target: Target, observer: SendObserver) -> Result<Dialer, LinkError> {
        let config = tls::client_config(&target.key, &target.peers)?;
        let mut run = [0; 16];
        SystemRandom::new()
            .fill(&mut run)
            .map_err(|_| LinkError::Key("the system has no random numbers".to_owned()))?;
        let stream = StreamId { run, header: target.header };
        Ok(Dialer { target, config, stream, observer })
    }

    /// Connects to the receiver, with as many attempts as needed. `since` is the time of the last
    /// progress. `broken` is the error that ended the connection before, if there was one. Returns
    /// the connection, and the part of the stream that the receiver holds.
    ///
    /// Only a peer that has proved its key can end the attempts. Any other answer leads to another
    /// attempt. A peer that does not know the key of this side ends only the attempts for a first
    /// connection. Later its user may correct the options of the peer while the stream waits.
    ///
    /// # Errors
    /// There was no connection within `give_up` after `since`, or before `is_over` returned true,
    /// or the peer refused the stream.
    pub fn dial(
        &self,
        since: Instant,
        give_up: Duration,
        broken: Option<LinkError>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Channel, HeldPart), LinkError> {
        let [mut pause, longest] = PAUSES;
        let (is_again, mut last, mut reported) = (broken.is_some(), broken, Vec::new());
        loop {
            if let Some(error) = last {
                let why = format!("{}: {error}", self.target.address);
                let left = give_up.saturating_sub(since.elapsed());
                if left.is_zero() || is_over() {
                    return Err(LinkError::GivenUp { after: give_up, last: why });
                }
                if reported.len() < MOST_REPORTED && !reported.contains(&why) {
                    reported.push(why.clone());
                    let left = (give_up < Duration::MAX).then_some(left);
                    (self.observer)(SendEvent::Broken { why, left });
                }
                thread::sleep(pause.min(left));
                pause = (pause * 2).min(longest);
            }
            match self.dial_once() {
                Err(error @ LinkError::Broken(_)) => last = Some(error),
                Err(error @ LinkError::KeyRejected(_)) if is_again => last = Some(error),
                result => return result,
            }
        }
    }

    fn dial_once(&self) -> Result<(Channel, HeldPart), LinkError> {
        let Target { address, patience, .. } = &self.target;
        let addresses = address.to_socket_addrs().map_err(|error| LinkError::broken(&error))?;
        let mut last = LinkError::Broken("there is no such host".to_owned());
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECTING) {
                Ok(tcp) => return self.greet(tcp, *patience),
                Err(error) => last = LinkError::broken(&error),
            }
        }
        Err(last)
    }

    /// Sends the name of the stream over a new connection, and receives which part the other side
    /// holds.
    fn greet(&self, tcp: TcpStream, patience: Duration) -> Result<(Channel, HeldPart), LinkError> {
        let mut channel = Channel::new(tcp, tls::client_connection(&self.config)?, patience)?;
        channel.perform_handshake()?;
        let asked = Instant::now();
        channel.send(&Message::Hello(VERSION));
        channel.send(&Message::Stream(self.stream));
        loop {
            channel.exchange(TICK)?;
            match channel.receive()? {
                None => {}
                Some(Message::Held(held)) if held.whole_bytes <= held.bytes => {
                    channel.round_trip = asked.elapsed();
                    return Ok((channel, held));
                }
                Some(Message::Refused(why)) => {
                    channel.close();
                    return Err(LinkError::Refused(why));
                }
                Some(Message::Busy(why)) => return Err(LinkError::busy(&why)),
                Some(_) => return Err(LinkError::Protocol("does not say what it holds")),
            }
        }
    }
}
