//! Connections whose peers have not proved a known key yet. Anybody can make them, so one thread
//! looks after all of them, in bounded memory, and makes room for new ones.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::io::ErrorKind;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, getrlimit};
use rustls::ServerConfig;

use crate::channel::{Channel, Departures};
use crate::error::LinkError;
use crate::message::{Message, StreamId, VERSION};
use crate::sink::{Event, Watch};
use crate::tls;

/// Connections at a time whose peers have not proved a known key: a share of the files that the
/// process may have open, since it needs others, within these bounds.
const ROOM: [usize; 2] = [2, 256];
const SHARE_OF_FILES: u64 = 4;
/// Connections of known peers that have yet to name their stream, or to be taken over.
const MOST_KNOWN: usize = 16;
/// The share of these places for connections whose first message is not complete.
const SHARE_OF_SILENT: usize = 4;
/// Connections accepted before those that are there have their turn.
const ACCEPTED: usize = 64;
/// The first message of a handshake must be complete after so long.
const HELLO: Duration = Duration::from_secs(5);
/// The whole handshake must.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Looks at everything.
const TICK: Duration = Duration::from_millis(50);

/// A peer that has proved a known key and named its stream.
pub(crate) struct Guest {
    pub(crate) channel: Channel,
    pub(crate) address: SocketAddr,
    pub(crate) stream: StreamId,
    /// Number of the connection, in the order in which they were made. Who came later may be let in
    /// sooner.
    pub(crate) number: u64,
}

/// A peer that has not.
struct Caller {
    channel: Channel,
    address: SocketAddr,
    number: u64,
    since: Instant,
    /// It has greeted in this version of the protocol.
    has_greeted: bool,
    /// Its socket has something to read, or room to write.
    is_ready: bool,
}

/// Accepts connections, and passes on those of known peers.
pub(crate) struct Greeter<'a> {
    socket: &'a TcpListener,
    config: &'a Arc<ServerConfig>,
    patience: Duration,
    watch: &'a Watch,
    guests: SyncSender<Guest>,
    /// Room for those that are unknown.
    room: usize,
    /// Connections so far.
    number: u64,
    /// Chooses by numbers that nobody can predict.
    random: RandomState,
    /// The oldest first, as in the others.
    unknown: Vec<Caller>,
    /// They have proved a known key.
    known: Vec<Caller>,
    /// They are yet to be taken over.
    waiting: Vec<Guest>,
    departures: Departures,
}

impl<'a> Greeter<'a> {
    /// For connections to a socket, those of known peers being passed on to `guests`.
    pub(crate) fn new(
        socket: &'a TcpListener,
        config: &'a Arc<ServerConfig>,
        patience: Duration,
        watch: &'a Watch,
        guests: SyncSender<Guest>,
    ) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / SHARE_OF_FILES;
        let [least, most] = ROOM;
        let room = usize::try_from(files).unwrap_or(most).clamp(least, most);
        let (unknown, known, waiting) = Default::default();
        let departures = Departures::default();
        Greeter {
            socket,
            config,
            patience,
            watch,
            guests,
            room,
            number: 0,
            random: RandomState::new(),
            unknown,
            known,
            waiting,
            departures,
        }
    }

    /// Works until it is all over.
    pub(crate) fn run(mut self, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.await_sockets() {
                self.accept();
            }
            self.shake_hands();
            // After that, since the first message of a new one is often there already.
            while self.unknown.len() > self.room && self.evict() {}
            self.learn_streams();
            self.pass_on();
            self.departures.step();
        }
    }

    /// Waits for any of the sockets, for a short time; returns whether somebody connects.
    fn await_sockets(&mut self) -> bool {
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let mut sockets = vec![PollFd::new(self.socket, PollFlags::IN)];
        let callers = self.unknown.iter().chain(&self.known);
        sockets.extend(callers.map(|caller| caller.channel.poll_fd()));
        let is_failed = poll(&mut sockets, Some(&tick)).is_err();
        let ready: Vec<bool> = sockets.iter().map(|it| !it.revents().is_empty()).collect();
        drop(sockets);
        if is_failed {
            // Without memory, say; all have their turn.
            thread::sleep(TICK);
        }
        let callers = self.unknown.iter_mut().chain(&mut self.known);
        for (caller, &is_ready) in callers.zip(&ready[1..]) {
            caller.is_ready = is_ready || is_failed;
        }
        ready[0] || is_failed
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTED.min(self.room) {
            match self.socket.accept() {
                Ok((tcp, address)) => self.add(tcp, address),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    // No more files or memory: there is some when another one has gone.
                    _ => {
                        if !self.evict() {
                            thread::sleep(TICK);
                        }
                        return;
                    }
                },
            }
        }
    }

    fn add(&mut self, tcp: TcpStream, address: SocketAddr) {
        self.number += 1;
        let number = self.number;
        let channel =
            tls::accepting(self.config).and_then(|tls| Channel::new(tcp, tls, self.patience));
        match channel {
            Ok(channel) => self.unknown.push(Caller {
                channel,
                address,
                number,
                since: Instant::now(),
                has_greeted: false,
                is_ready: true,
            }),
            Err(error) => self.reject(address, &error),
        }
    }

    /// Gives up an unknown connection. Returns whether there was one.
    ///
    /// Those without a complete first message cost their peer nothing, so they go first, unless
    /// they have no more than their share. Of either kind the network goes first that has most, so
    /// that whoever makes many loses its own. A handshake takes a round trip, in which a crowd from
    /// many networks may replace all: a random one goes, so that each has a chance to get through.
    fn evict(&mut self) -> bool {
        let silent = self.unknown.iter().filter(|it| !it.channel.has_hello()).count();
        let are_silent = silent > self.room / SHARE_OF_SILENT || silent == self.unknown.len();
        let is_candidate = |it: &Caller| it.channel.has_hello() != are_silent;
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for caller in self.unknown.iter().filter(|it| is_candidate(it)) {
            *counts.entry(network(caller.address.ip())).or_default() += 1;
        }
        let most = counts.values().max().copied();
        let has_most = |it: &Caller| counts.get(&network(it.address.ip())).copied() == most;
        let candidates: Vec<usize> = (0..self.unknown.len())
            .filter(|&at| is_candidate(&self.unknown[at]) && has_most(&self.unknown[at]))
            .collect();
        let chosen = match are_silent {
            true => candidates.first(),
            false => {
                let random = self.random.hash_one((self.number, self.unknown.len())) as usize;
                candidates.get(random % candidates.len().max(1))
            }
        };
        let Some(&position) = chosen else { return false };
        let address = self.unknown.remove(position).address;
        let why = "it had not proved a known key when newer connections needed its place";
        self.reject(address, &LinkError::Broken(why.to_owned()));
        true
    }

    /// Goes on with the handshakes of those that are unknown.
    fn shake_hands(&mut self) {
        let patience = self.patience;
        for mut caller in mem::take(&mut self.unknown) {
            match caller.shake_hands(patience) {
                Ok(()) if caller.channel.is_proved() => {
                    caller.channel.welcome();
                    self.known.push(caller);
                }
                Ok(()) => self.unknown.push(caller),
                Err(error) => self.reject(caller.address, &error),
            }
        }
    }

    /// Learns which streams the known ones have.
    fn learn_streams(&mut self) {
        for mut caller in mem::take(&mut self.known) {
            match caller.learn_stream() {
                Ok(None) => self.known.push(caller),
                Ok(Some(stream)) => {
                    let Caller { channel, address, number, .. } = caller;
                    self.waiting.push(Guest { channel, address, stream, number });
                }
                Err(error) => {
                    self.reject(caller.address, &error);
                    if let LinkError::Ended(why) = error {
                        self.departures.add(caller.channel, &Message::Refused(why));
                    }
                }
            }
        }
        while self.known.len() > MOST_KNOWN {
            let address = self.known.remove(0).address;
            let why = "it had not named its stream when newer connections needed its place";
            self.reject(address, &LinkError::Broken(why.to_owned()));
        }
    }

    /// Passes on as many as are taken over now.
    fn pass_on(&mut self) {
        let surplus = self.waiting.len().saturating_sub(MOST_KNOWN);
        // They come again.
        self.waiting.drain(..surplus);
        while !self.waiting.is_empty() {
            match self.guests.try_send(self.waiting.remove(0)) {
                Ok(()) => {}
                Err(TrySendError::Full(guest)) => return self.waiting.insert(0, guest),
                // It is all over.
                Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }

    fn reject(&self, address: SocketAddr, why: &LinkError) {
        (self.watch)(Event::Rejected(address, why.to_string()));
    }
}

impl Caller {
    /// Goes on with the handshake.
    fn shake_hands(&mut self, patience: Duration) -> Result<(), LinkError> {
        if self.is_ready {
            self.channel.exchange(Duration::ZERO)?;
        }
        let broken = |what: &str| Err(LinkError::Broken(what.to_owned()));
        let took = self.since.elapsed();
        if self.channel.is_proved() {
            Ok(())
        } else if self.channel.has_ended() {
            broken("the peer has gone")
        } else if took > HANDSHAKE.min(patience) {
            broken("the peer did not prove its key in time")
        } else if took > HELLO.min(patience) && !self.channel.has_hello() {
            broken("the peer did not say hello in time")
        } else {
            Ok(())
        }
    }

    /// Learns which stream the peer has, as soon as it has named it.
    fn learn_stream(&mut self) -> Result<Option<StreamId>, LinkError> {
        self.channel.exchange(Duration::ZERO)?;
        while let Some(message) = self.channel.receive()? {
            match message {
                Message::Hello(VERSION) if !self.has_greeted => self.has_greeted = true,
                Message::Hello(_) if !self.has_greeted => {
                    return Err(LinkError::Ended(format!(
                        "this site speaks version {VERSION} of the protocol of the link"
                    )));
                }
                Message::Stream(stream) if self.has_greeted => return Ok(Some(stream)),
                _ => return Err(LinkError::Protocol("does not say hello")),
            }
        }
        Ok(None)
    }
}

/// The part of an address that its owner cannot choose at will: networks of these sizes are what
/// one customer gets.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0))
        }
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, 0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_one_owner_can_choose_are_one() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:9:ffff::9"));
        assert_ne!(of("2001:db8:1::"), of("2001:db8:2::"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.8"));
        assert_ne!(of("192.0.2.7"), of("192.0.3.7"));
    }
}
