//! Connections to the side that receives, made again where they break.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ring::rand::{SecureRandom, SystemRandom};
use rustls::ClientConfig;

use crate::channel::Channel;
use crate::error::LinkError;
use crate::key::{Fingerprint, Key};
use crate::message::{Held, Message, StreamId, VERSION};
use crate::tls;

/// Looks for an answer.
const TICK: Duration = Duration::from_millis(20);
/// Between two attempts to connect, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// To connect takes so long at most.
const CONNECTING: Duration = Duration::from_secs(10);
/// Reasons that are told between two connections, at most.
const MOST_TOLD: usize = 8;

/// Whom to send to.
#[derive(Debug)]
pub struct Target {
    /// `HOST:PORT`.
    pub address: String,
    /// Who sends.
    pub key: Key,
    /// Who receives: one of these.
    pub peers: Vec<Fingerprint>,
    /// Fingerprint of the header with which the stream begins.
    pub header: u64,
    /// A connection on which the peer says nothing for so long is given up.
    pub patience: Duration,
    /// All is given up if the peer confirms nothing for so long, with or without connections.
    pub give_up: Duration,
}

/// What happens on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection broke, or cannot be made; it is tried again.
    Broken {
        /// The address, and what was wrong.
        why: String,
        /// All is given up after so long, if ever.
        left: Option<Duration>,
    },
    /// There is one again, after such.
    Back,
    /// The stream ended before it was whole: nothing more is sent.
    Ended,
    /// So many bytes are on the other side's disk, and so many wait.
    Progress {
        /// Confirmed.
        confirmed: u64,
        /// Made, but not confirmed.
        waiting: u64,
    },
}

/// Who is told.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;

/// Makes connections.
pub struct Dialer {
    /// Whom to.
    pub target: Target,
    config: Arc<ClientConfig>,
    stream: StreamId,
    /// Who is told.
    pub watch: Watch,
}

impl Dialer {
    /// Who connects there.
    ///
    /// # Errors
    /// A key that cannot be used.
    pub fn new(target: Target, watch: Watch) -> Result<Dialer, LinkError> {
        let config = tls::client(&target.key, &target.peers)?;
        let mut run = [0; 16];
        SystemRandom::new()
            .fill(&mut run)
            .map_err(|_| LinkError::Key("the system has no random numbers".to_owned()))?;
        let stream = StreamId { run, header: target.header };
        Ok(Dialer { target, config, stream, watch })
    }

    /// Connects, again and again if need be, where nothing has got on since then; `broken` ended
    /// the connection before.
    ///
    /// Only a peer that has proved its key can end this: who else answers only delays it. One that
    /// does not know the key of this side any more may be set right while a stream waits.
    ///
    /// # Errors
    /// There is none for as long as `give_up`, or by when it is all over, or the peer refuses it.
    pub fn dial(
        &self,
        since: Instant,
        give_up: Duration,
        broken: Option<LinkError>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Channel, Held), LinkError> {
        let [mut pause, longest] = PAUSES;
        let (is_again, mut last, mut told) = (broken.is_some(), broken, Vec::new());
        loop {
            if let Some(error) = last {
                let why = format!("{}: {error}", self.target.address);
                let left = give_up.saturating_sub(since.elapsed());
                if left.is_zero() || is_over() {
                    return Err(LinkError::GivenUp { after: give_up, last: why });
                }
                if told.len() < MOST_TOLD && !told.contains(&why) {
                    told.push(why.clone());
                    let left = (give_up < Duration::MAX).then_some(left);
                    (self.watch)(Event::Broken { why, left });
                }
                thread::sleep(pause.min(left));
                pause = (pause * 2).min(longest);
            }
            match self.dial_once() {
                Err(error @ LinkError::Broken(_)) => last = Some(error),
                Err(error @ LinkError::Stranger(_)) if is_again => last = Some(error),
                result => return result,
            }
        }
    }

    fn dial_once(&self) -> Result<(Channel, Held), LinkError> {
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

    /// Makes itself known, and learns what the other side holds.
    fn greet(&self, tcp: TcpStream, patience: Duration) -> Result<(Channel, Held), LinkError> {
        let mut channel = Channel::new(tcp, tls::connecting(&self.config)?, patience)?;
        channel.shake_hands()?;
        let asked = Instant::now();
        channel.send(&Message::Hello(VERSION));
        channel.send(&Message::Stream(self.stream));
        loop {
            channel.exchange(TICK)?;
            match channel.receive()? {
                None => {}
                Some(Message::Held(held)) if held.whole <= held.bytes => {
                    channel.round_trip = asked.elapsed();
                    return Ok((channel, held));
                }
                Some(Message::Refused(why)) => {
                    channel.leave();
                    return Err(LinkError::Refused(why));
                }
                Some(Message::Busy(why)) => return Err(LinkError::busy(&why)),
                Some(_) => return Err(LinkError::Protocol("does not say what it holds")),
            }
        }
    }
}
