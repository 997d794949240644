//! The side that receives: it listens, lets in whom it knows, and has a sink keep what comes.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::ServerConfig;

use crate::channel::{Channel, widen_listener};
use crate::error::LinkError;
use crate::key::{Fingerprint, Key};
use crate::message::{Held, Message, VERSION};
use crate::tls;

/// Connections whose peers have not yet said who they are, at most.
const UNKNOWN: usize = 8;
/// What came is brought to disk after so many bytes, and after so long.
const SYNC_BYTES: usize = 8 << 20;
const SYNC_AFTER: Duration = Duration::from_millis(200);
/// A sender whose connection is broken has so long to come back and hear how it ended.
pub(crate) const LINGER: Duration = Duration::from_secs(5);
/// What a connection is told that was made before the one in use.
const REPLACED: &str = "another connection takes the place of this one";
/// Looks at everything.
const TICK: Duration = Duration::from_millis(50);

/// Keeps what comes. Each failure, in words, ends the stream on both sides.
pub trait Sink {
    /// What is on the disk.
    ///
    /// # Errors
    /// It cannot be brought there.
    fn held(&mut self) -> Result<Held, String>;

    /// The stream goes on from here, one of the two places that [`held`](Self::held) told: what is after it is forgotten.
    ///
    /// # Errors
    /// The disk's.
    fn start(&mut self, offset: u64) -> Result<(), String>;

    /// The next bytes.
    ///
    /// # Errors
    /// Bytes that cannot be right; the disk's.
    fn take(&mut self, bytes: &[u8]) -> Result<(), String>;

    /// Brings everything to disk; tells how many bytes that are.
    ///
    /// # Errors
    /// The disk's.
    fn sync(&mut self) -> Result<u64, String>;

    /// These are all bytes, and all are on the disk.
    ///
    /// # Errors
    /// They are not.
    fn finish(&mut self, total: u64) -> Result<(), String>;

    /// Nobody has come for long. Whether that changes what becomes of the bytes that are held.
    fn alone(&mut self) -> bool {
        false
    }

    /// Who came sends something else than what is held, and goes. In words what is told of that.
    ///
    /// # Errors
    /// In words why nobody else is waited for.
    fn refused(&mut self, why: &str) -> Result<String, String> {
        Ok(why.to_owned())
    }

    /// What became of the bytes, as soon as that is known.
    fn verdict(&mut self) -> Option<Result<(), String>>;
}

/// What happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A known peer is there.
    Connected(SocketAddr),
    /// Its connection broke; another one may come.
    Broken(String),
    /// Somebody who is not let in.
    Rejected(SocketAddr, String),
    /// So many bytes came, on the disk or not.
    Progress(u64),
    /// Nobody came; what was held is taken for all there is.
    Alone,
}

/// Who is told.
pub type Watch = Arc<dyn Fn(Event) + Send + Sync>;

/// Listens for whom it knows.
pub struct Listener {
    socket: TcpListener,
    config: Arc<ServerConfig>,
    patience: Duration,
}

/// A peer that was let in.
struct Guest {
    channel: Channel,
    address: SocketAddr,
    /// The how manieth connection it is. Who came later may be let in sooner.
    number: u64,
}

/// A connection under way.
struct Session {
    channel: Channel,
    /// The guest's.
    number: u64,
    stage: Stage,
    /// Bytes that came but are not on the disk, and since when.
    unsynced: usize,
    since: Instant,
    synced: u64,
}

enum Stage {
    /// It is to say from where it goes on: one of these.
    Offered([u64; 2]),
    /// Bytes come; the next is at this place.
    Running(u64),
    /// All have come.
    Whole,
}

impl Stage {
    /// Bytes that came, as long as more may.
    fn came(&self) -> Option<u64> {
        match self {
            Stage::Running(next) => Some(*next),
            Stage::Offered(_) | Stage::Whole => None,
        }
    }
}

impl Listener {
    /// Listens at an address, `ADDR:PORT`.
    ///
    /// # Errors
    /// An address or a key that cannot be used.
    pub fn bind(
        address: &str,
        key: &Key,
        peers: &[Fingerprint],
        patience: Duration,
    ) -> Result<Self, LinkError> {
        let wrong = |error: std::io::Error| {
            LinkError::Address(format!("cannot listen at {address}: {error}"))
        };
        let socket = TcpListener::bind(address).map_err(wrong)?;
        socket.set_nonblocking(true).map_err(wrong)?;
        widen_listener(&socket);
        Ok(Listener { socket, config: tls::server(key, peers)?, patience })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> Result<SocketAddr, LinkError> {
        self.socket.local_addr().map_err(|error| LinkError::broken(&error))
    }

    /// Receives one stream, over as many connections as it takes, until the sink has its verdict.
    ///
    /// # Errors
    /// The sink's, the sender's word that it will not be whole, or nobody there for as long as `give_up`.
    pub fn serve(
        &self,
        sink: &mut dyn Sink,
        give_up: Option<Duration>,
        watch: &Watch,
    ) -> Result<(), LinkError> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (sender, guests) = sync_channel(1);
            let over = &over;
            scope.spawn(move || self.let_in(&sender, over, watch));
            let result = Host { sink, guests, give_up, watch }.all();
            over.store(true, Ordering::Relaxed);
            result
        })
    }

    /// Accepts connections.
    fn let_in(&self, guests: &SyncSender<Guest>, over: &AtomicBool, watch: &Watch) {
        let unknown = Arc::new(AtomicUsize::new(0));
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        let mut number = 0;
        while !over.load(Ordering::Relaxed) {
            let _ = poll(&mut [PollFd::new(&self.socket, PollFlags::IN)], Some(&tick));
            let Ok((tcp, address)) = self.socket.accept() else { continue };
            // Who comes when there are too many is to come again.
            if unknown.fetch_add(1, Ordering::Relaxed) >= UNKNOWN {
                unknown.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let (guests, watch, unknown) =
                (guests.clone(), Arc::clone(watch), Arc::clone(&unknown));
            let (config, patience) = (Arc::clone(&self.config), self.patience);
            number += 1;
            // Not waited for at the end: it ends by itself, and knows nothing but its connection.
            let greeting = thread::Builder::new().name("greeting".to_owned()).spawn(move || {
                let greeted = greet(tcp, &config, patience);
                unknown.fetch_sub(1, Ordering::Relaxed);
                match greeted {
                    Ok(channel) => drop(guests.send(Guest { channel, address, number })),
                    Err(error) => watch(Event::Rejected(address, error.to_string())),
                }
            });
            // Without threads nobody is let in.
            drop(greeting);
        }
    }
}

/// Learns who is there.
fn greet(
    tcp: TcpStream,
    config: &Arc<ServerConfig>,
    patience: Duration,
) -> Result<Channel, LinkError> {
    let mut channel = Channel::new(tcp, tls::accepting(config)?, patience)?;
    channel.shake_hands()?;
    loop {
        match channel.receive()? {
            None => channel.exchange(TICK)?,
            Some(Message::Hello(VERSION)) => return Ok(channel),
            Some(Message::Hello(_)) => {
                let why = format!("this site speaks version {VERSION} of the protocol of the link");
                channel.send(&Message::Refused(why.clone()));
                channel.leave();
                return Err(LinkError::Ended(why));
            }
            Some(_) => return Err(LinkError::Protocol("does not say hello")),
        }
    }
}

/// Who looks after the stream.
struct Host<'a> {
    sink: &'a mut dyn Sink,
    guests: Receiver<Guest>,
    give_up: Option<Duration>,
    watch: &'a Watch,
}

impl Host<'_> {
    fn all(mut self) -> Result<(), LinkError> {
        let mut session: Option<Session> = None;
        let mut alone = Instant::now();
        let mut known = None;
        loop {
            if let Some(verdict) = self.sink.verdict() {
                let since = alone.max(*known.get_or_insert_with(Instant::now));
                let is_over = match &session {
                    // Who makes all of it again comes to the same end, or tells that it is another one.
                    Some(session) => verdict.is_err() || matches!(session.stage, Stage::Whole),
                    None => since.elapsed() > LINGER,
                };
                if is_over {
                    return conclude(session, verdict);
                }
            }
            let wait = if session.is_some() { Duration::ZERO } else { TICK };
            match self.guests.recv_timeout(wait) {
                Ok(guest) if session.as_ref().is_some_and(|now| now.number > guest.number) => {
                    dismiss(Some(guest.channel), REPLACED);
                }
                Ok(guest) => {
                    dismiss(session.take().map(|old| old.channel), REPLACED);
                    let address = guest.address;
                    session = Some(self.welcome(guest)?);
                    (self.watch)(Event::Connected(address));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
            let Some(current) = &mut session else {
                let long = self.give_up.map_or(LINGER, |after| after.min(LINGER));
                if alone.elapsed() > long && self.sink.alone() {
                    (self.watch)(Event::Alone);
                }
                match self.give_up {
                    Some(after) if alone.elapsed() > after => {
                        let last = "nobody is there".to_owned();
                        return Err(LinkError::GivenUp { after, last });
                    }
                    _ => continue,
                }
            };
            alone = Instant::now();
            match self.step(current) {
                Ok(()) => {}
                Err(error @ (LinkError::Broken(_) | LinkError::Protocol(_))) => {
                    (self.watch)(Event::Broken(error.to_string()));
                    session = None;
                }
                Err(error @ LinkError::Ended(_)) => {
                    dismiss(session.map(|current| current.channel), &error.to_string());
                    return Err(error);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Tells who has come what is there.
    fn welcome(&mut self, guest: Guest) -> Result<Session, LinkError> {
        let Guest { mut channel, number, .. } = guest;
        let held = match self.sink.held() {
            Ok(held) => held,
            Err(why) => {
                channel.send(&Message::Refused(why.clone()));
                channel.leave();
                return Err(LinkError::Ended(why));
            }
        };
        let stage = Stage::Offered([held.bytes, held.whole]);
        let synced = held.bytes;
        channel.send(&Message::Held(held));
        Ok(Session { channel, number, stage, unsynced: 0, since: Instant::now(), synced })
    }

    /// Takes what came on a connection.
    fn step(&mut self, session: &mut Session) -> Result<(), LinkError> {
        session.channel.exchange(TICK)?;
        let before = session.stage.came();
        while let Some(message) = session.channel.receive()? {
            self.message(session, message)?;
        }
        // Who sends but does not listen is not told ever more.
        if let Some(came) = session.stage.came().filter(|_| session.channel.has_room())
            && before.is_some_and(|before| before < came)
        {
            session.channel.send(&Message::Came(came));
        }
        let Session { channel, unsynced, since, synced, .. } = session;
        if *unsynced >= SYNC_BYTES || *unsynced > 0 && since.elapsed() > SYNC_AFTER {
            *synced = self.sink.sync().map_err(LinkError::Ended)?;
            *unsynced = 0;
            channel.send(&Message::Confirmed(*synced));
        } else if channel.is_quiet() && !matches!(session.stage, Stage::Offered(_)) {
            channel.send(&Message::Confirmed(*synced));
        }
        Ok(())
    }

    fn message(&mut self, session: &mut Session, message: Message) -> Result<(), LinkError> {
        session.stage = match (&session.stage, message) {
            (Stage::Offered(offered), Message::Start(offset)) if offered.contains(&offset) => {
                self.sink.start(offset).map_err(LinkError::Ended)?;
                session.synced = offset;
                Stage::Running(offset)
            }
            (Stage::Running(next), Message::Data(bytes)) => {
                self.sink.take(&bytes).map_err(LinkError::Ended)?;
                if session.unsynced == 0 {
                    session.since = Instant::now();
                }
                session.unsynced += bytes.len();
                let next = next + bytes.len() as u64;
                (self.watch)(Event::Progress(next));
                Stage::Running(next)
            }
            (Stage::Running(next), Message::Finish(total)) if *next == total => {
                session.synced = self.sink.sync().map_err(LinkError::Ended)?;
                session.unsynced = 0;
                self.sink.finish(total).map_err(LinkError::Ended)?;
                session.channel.send(&Message::Confirmed(session.synced));
                Stage::Whole
            }
            (_, Message::Idle) => return Ok(()),
            // Somebody who sends something else; what is held may still be gone on with.
            (Stage::Offered(_), Message::Refused(why)) => {
                let told = self.sink.refused(&why).map_err(LinkError::Ended)?;
                return Err(LinkError::Broken(told));
            }
            (_, Message::Refused(why)) => return Err(LinkError::Refused(why)),
            _ => return Err(LinkError::Protocol("says what it should not")),
        };
        Ok(())
    }
}

/// Tells the sender how it ended.
fn conclude(session: Option<Session>, verdict: Result<(), String>) -> Result<(), LinkError> {
    if let Some(Session { mut channel, .. }) = session {
        channel.send(&match &verdict {
            Ok(()) => Message::Done,
            Err(why) => Message::Refused(why.clone()),
        });
        channel.leave();
    }
    verdict.map_err(LinkError::Ended)
}

/// Ends a connection, and tells why, if that is soon done.
fn dismiss(channel: Option<Channel>, why: &str) {
    let Some(mut channel) = channel else { return };
    channel.send(&Message::Refused(why.to_owned()));
    channel.leave();
}
