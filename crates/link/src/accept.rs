//! Accepts connections, and holds those whose peers have not proved a known key yet. Anybody can
//! make such connections. So one thread handles all of them in bounded memory, and closes some to
//! make room for new ones.

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

use crate::channel::{Channel, ClosingChannels};
use crate::error::LinkError;
use crate::message::{Message, StreamId, VERSION};
use crate::sink::{ReceiveEvent, ReceiveObserver};
use crate::tls;

/// Bounds of the maximum number of connections whose peers have not proved a known key. Within
/// them, the maximum is a share (1 / [`SHARE_OF_FILES`]) of the files that the process may open.
const ROOM: [usize; 2] = [2, 256];
const SHARE_OF_FILES: u64 = 4;
/// Maximum number of known peers that have not named their stream, and maximum number of peers that
/// wait to be passed on.
const MOST_KNOWN: usize = 16;
/// Number of equal parts of the room: connections without a complete first message may keep one.
const SHARE_OF_SILENT: usize = 4;
/// Most connections accepted in one turn of the acceptor.
const ACCEPTED: usize = 64;
/// Time limit for the first message of a peer's handshake.
const HELLO: Duration = Duration::from_secs(5);
/// Time limit for the whole handshake of a peer.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Longest wait for events of the sockets in one turn of the acceptor.
const TICK: Duration = Duration::from_millis(50);

/// A connection whose peer has proved a known key and named its stream.
pub(crate) struct IdentifiedPeer {
    pub(crate) channel: Channel,
    pub(crate) address: SocketAddr,
    pub(crate) stream: StreamId,
    /// Number of the connection in the order of arrival. A later connection may be passed on
    /// sooner.
    pub(crate) number: u64,
}

/// A connection whose peer has not named its stream yet.
struct PendingPeer {
    channel: Channel,
    address: SocketAddr,
    number: u64,
    since: Instant,
    /// Whether the peer has sent `Hello` with this version of the protocol.
    has_said_hello: bool,
    /// Whether the socket can be read or written.
    is_ready: bool,
}

/// Accepts connections, and passes on those of known peers that have named their stream.
pub(crate) struct Acceptor<'a> {
    socket: &'a TcpListener,
    config: &'a Arc<ServerConfig>,
    patience: Duration,
    observer: &'a ReceiveObserver,
    identified: SyncSender<IdentifiedPeer>,
    /// Maximum number of connections whose peers have not proved a key.
    room: usize,
    /// Number of connections accepted so far.
    number: u64,
    /// Source of random numbers that nobody can predict.
    random: RandomState,
    /// Connections of peers that have not proved a key, oldest first.
    unknown: Vec<PendingPeer>,
    /// Connections of peers that have proved a known key, but have not named their stream; oldest
    /// first.
    known: Vec<PendingPeer>,
    /// Connections that wait to be passed on, oldest first.
    waiting: Vec<IdentifiedPeer>,
    closing: ClosingChannels,
}

impl<'a> Acceptor<'a> {
    /// Creates the acceptor of a socket. It sends the connections of known peers to `identified`.
    pub(crate) fn new(
        socket: &'a TcpListener,
        config: &'a Arc<ServerConfig>,
        patience: Duration,
        observer: &'a ReceiveObserver,
        identified: SyncSender<IdentifiedPeer>,
    ) -> Self {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX) / SHARE_OF_FILES;
        let [least, most] = ROOM;
        let room = usize::try_from(files).unwrap_or(most).clamp(least, most);
        let (unknown, known, waiting) = Default::default();
        let closing = ClosingChannels::default();
        Acceptor {
            socket,
            config,
            patience,
            observer,
            identified,
            room,
            number: 0,
            random: RandomState::new(),
            unknown,
            known,
            waiting,
            closing,
        }
    }

    /// Accepts connections until `over` is set.
    pub(crate) fn run(mut self, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            if self.await_sockets() {
                self.accept();
            }
            self.perform_handshake();
            // The handshakes come first, since the first message of a new peer has often arrived
            // already.
            while self.unknown.len() > self.room && self.evict() {}
            self.learn_streams();
            self.pass_on();
            self.closing.step();
        }
    }

    /// Waits a short time for events of the sockets. Returns whether there is a new connection.
    fn await_sockets(&mut self) -> bool {
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let mut sockets = vec![PollFd::new(self.socket, PollFlags::IN)];
        let peers = self.unknown.iter().chain(&self.known);
        sockets.extend(peers.map(|peer| peer.channel.poll_fd()));
        let is_failed = poll(&mut sockets, Some(&tick)).is_err();
        let ready: Vec<bool> = sockets.iter().map(|it| !it.revents().is_empty()).collect();
        drop(sockets);
        if is_failed {
            // `poll` fails for lack of memory, for example. Then every peer counts as ready.
            thread::sleep(TICK);
        }
        let peers = self.unknown.iter_mut().chain(&mut self.known);
        for (peer, &is_ready) in peers.zip(&ready[1..]) {
            peer.is_ready = is_ready || is_failed;
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
                    // No file or memory is free. Closing another connection frees some.
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
        let channel = tls::server_connection(self.config)
            .and_then(|tls| Channel::new(tcp, tls, self.patience));
        match channel {
            Ok(channel) => self.unknown.push(PendingPeer {
                channel,
                address,
                number,
                since: Instant::now(),
                has_said_hello: false,
                is_ready: true,
            }),
            Err(error) => self.reject(address, &error),
        }
    }

    /// Closes the connection of one unknown peer to make room. Returns whether there was one.
    ///
    /// Connections without a complete first message cost their peers nothing. If they exceed their
    /// share of the room, or if there are no others, one of them is closed: the oldest one from the
    /// network with the most of them. Otherwise a connection with a complete first message is
    /// closed: a random one from the network with the most of these. So peers that make many
    /// connections lose their own. The choice is random because a handshake takes a round trip, in
    /// which a crowd from many networks could replace all older connections.
    fn evict(&mut self) -> bool {
        let silent = self.unknown.iter().filter(|it| !it.channel.has_hello()).count();
        let are_silent = silent > self.room / SHARE_OF_SILENT || silent == self.unknown.len();
        let is_candidate = |it: &PendingPeer| it.channel.has_hello() != are_silent;
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        for peer in self.unknown.iter().filter(|it| is_candidate(it)) {
            *counts.entry(network(peer.address.ip())).or_default() += 1;
        }
        let most = counts.values().max().copied();
        let has_most = |it: &PendingPeer| counts.get(&network(it.address.ip())).copied() == most;
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

    /// Continues the handshakes of unknown peers.
    fn perform_handshake(&mut self) {
        let patience = self.patience;
        for mut peer in mem::take(&mut self.unknown) {
            match peer.perform_handshake(patience) {
                Ok(()) if peer.channel.has_proved_key() => {
                    peer.channel.start_session();
                    self.known.push(peer);
                }
                Ok(()) => self.unknown.push(peer),
                Err(error) => self.reject(peer.address, &error),
            }
        }
    }

    /// Receives the names of the streams of known peers.
    fn learn_streams(&mut self) {
        for mut peer in mem::take(&mut self.known) {
            match peer.learn_stream() {
                Ok(None) => self.known.push(peer),
                Ok(Some(stream)) => {
                    let PendingPeer { channel, address, number, .. } = peer;
                    self.waiting.push(IdentifiedPeer { channel, address, stream, number });
                }
                Err(error) => {
                    self.reject(peer.address, &error);
                    if let LinkError::Ended(why) = error {
                        self.closing.add(peer.channel, &Message::Refused(why));
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

    /// Passes on identified peers, as many as the receiver accepts now. If too many wait, drops the
    /// oldest.
    fn pass_on(&mut self) {
        let surplus = self.waiting.len().saturating_sub(MOST_KNOWN);
        // The peers of dropped connections connect again.
        self.waiting.drain(..surplus);
        while !self.waiting.is_empty() {
            match self.identified.try_send(self.waiting.remove(0)) {
                Ok(()) => {}
                Err(TrySendError::Full(peer)) => return self.waiting.insert(0, peer),
                // The receiver has ended.
                Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }

    fn reject(&self, address: SocketAddr, why: &LinkError) {
        (self.observer)(ReceiveEvent::Rejected(address, why.to_string()));
    }
}

impl PendingPeer {
    /// Continues the handshake with this peer, and checks its time limits.
    fn perform_handshake(&mut self, patience: Duration) -> Result<(), LinkError> {
        if self.is_ready {
            self.channel.exchange(Duration::ZERO)?;
        }
        let broken = |what: &str| Err(LinkError::Broken(what.to_owned()));
        let took = self.since.elapsed();
        if self.channel.has_proved_key() {
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

    /// Returns the peer's stream once the peer has named it, or `None` before.
    fn learn_stream(&mut self) -> Result<Option<StreamId>, LinkError> {
        self.channel.exchange(Duration::ZERO)?;
        while let Some(message) = self.channel.receive()? {
            match message {
                Message::Hello(VERSION) if !self.has_said_hello => self.has_said_hello = true,
                Message::Hello(_) if !self.has_said_hello => {
                    return Err(LinkError::Ended(format!(
                        "this site speaks version {VERSION} of the protocol of the link"
                    )));
                }
                Message::Stream(stream) if self.has_said_hello => return Ok(Some(stream)),
                _ => return Err(LinkError::Protocol("does not say hello")),
            }
        }
        Ok(None)
    }
}

/// Returns the network of an address: the part of the address that its owner cannot choose at will.
/// One customer usually gets networks of these sizes: /48 for IPv6 and /24 for IPv4.
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
        let network_of = |text: &str| network(text.parse().unwrap());
        assert_eq!(network_of("2001:db8:1:2:3::4"), network_of("2001:db8:1:9:ffff::9"));
        assert_ne!(network_of("2001:db8:1::"), network_of("2001:db8:2::"));
        assert_eq!(network_of("::ffff:192.0.2.7"), network_of("192.0.2.8"));
        assert_ne!(network_of("192.0.2.7"), network_of("192.0.3.7"));
    }
}
