//! The side that sends: it keeps what is not confirmed, and connects again where a connection breaks.

use std::collections::VecDeque;
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use crate::channel::Channel;
use crate::error::LinkError;
use crate::key::{Fingerprint, Key};
use crate::message::{Held, MOST_BODY, Message, VERSION};
use crate::tls;

/// Bytes kept that are not confirmed, at most: who makes more waits. Several times what is on its way over a long fast link.
const ROOM: usize = 64 << 20;
/// Looks for more to send.
const TICK: Duration = Duration::from_millis(20);
/// Between two attempts to connect, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// To connect takes so long at most.
const CONNECTING: Duration = Duration::from_secs(10);
/// Between two [`Event::Progress`].
const TELL_EVERY: Duration = Duration::from_millis(500);

/// Whom to send to.
#[derive(Debug)]
pub struct Target {
    /// `HOST:PORT`.
    pub address: String,
    /// Who sends.
    pub key: Key,
    /// Who receives: one of these.
    pub peers: Vec<Fingerprint>,
    /// A connection on which the peer says nothing for so long is given up.
    pub patience: Duration,
    /// All is given up if there is no connection for so long.
    pub give_up: Duration,
}

/// What happens on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection broke, or cannot be made; it is tried again.
    Broken(String),
    /// There is one again, after such.
    Back,
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

/// How a stream arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The other side has done with it what it should.
    Done,
    /// It is on the other side's disk. What became of it is not known here.
    Unknown,
}

/// Makes connections.
struct Dialer {
    target: Target,
    config: Arc<ClientConfig>,
    watch: Watch,
}

/// A stream that is about to begin.
pub struct Opening {
    dialer: Dialer,
    channel: Channel,
    held: Held,
}

/// Tells whether what the other side holds is a part of what this one sends.
pub type Agrees = Box<dyn Fn(&Held) -> bool + Send>;

/// A stream under way.
pub struct Sender {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What is not confirmed.
    bytes: VecDeque<u8>,
    /// Where it begins.
    confirmed: u64,
    /// There will be no more.
    finished: bool,
    /// There will be no more, but it is not whole: why.
    ended: Option<String>,
    /// The same, and the other side is not to hear of it.
    left: bool,
    result: Option<Result<Arrival, LinkError>>,
}

impl State {
    fn end(&self) -> u64 {
        self.confirmed + self.bytes.len() as u64
    }
}

impl Opening {
    /// Connects, and learns what the other side holds. Who has learnt that is to [`start`](Self::start) soon.
    ///
    /// # Errors
    /// No connection, for longer than wished, or a peer that is somebody else.
    pub fn connect(target: Target, watch: Watch) -> Result<Opening, LinkError> {
        let config = tls::client(&target.key, &target.peers)?;
        let dialer = Dialer { target, config, watch };
        let (channel, held) = dialer.dial(Instant::now(), None, &|| false)?;
        Ok(Opening { dialer, channel, held })
    }

    /// What the other side holds.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Tells the other side that there will be no stream.
    pub fn refuse(mut self, why: &str) {
        self.channel.send(&Message::Refused(why.to_owned()));
        self.channel.leave();
    }

    /// Begins a stream whose first byte here is the one at [`Held::whole`].
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(self, agrees: Agrees) -> Result<Sender, LinkError> {
        let Opening { dialer, mut channel, held } = self;
        channel.send(&Message::Start(held.whole));
        let shared = Arc::new(Shared::default());
        shared.lock().confirmed = held.whole;
        let own = Arc::clone(&shared);
        let run = move || {
            let result = Run { dialer, shared: &own, agrees, position: held.whole, stuck: None }
                .all(channel);
            own.lock().result = Some(result);
            own.changed.notify_all();
        };
        let thread = thread::Builder::new().name("link".to_owned()).spawn(run);
        let thread = thread.map_err(|error| LinkError::Ended(error.to_string()))?;
        Ok(Sender { shared, thread: Some(thread) })
    }
}

impl Sender {
    /// Adds to the stream. Waits while too much is not confirmed.
    ///
    /// # Errors
    /// What ended the stream.
    pub fn write(&self, bytes: &[u8]) -> Result<(), LinkError> {
        let mut state = self.shared.lock();
        while state.bytes.len() >= ROOM && state.result.is_none() {
            state = self.shared.wait(state);
        }
        if let Some(Err(error)) = &state.result {
            return Err(error.clone());
        }
        state.bytes.extend(bytes);
        Ok(())
    }

    /// Ends the stream, and waits until the other side has done with it what it should.
    ///
    /// # Errors
    /// What ended the stream before.
    pub fn finish(self) -> Result<Arrival, LinkError> {
        let mut state = self.shared.lock();
        state.finished = true;
        loop {
            if let Some(result) = state.result.clone() {
                return result;
            }
            state = self.shared.wait(state);
        }
    }

    /// Leaves a stream that is not whole without a word: somebody goes on with it.
    pub fn leave(self) {
        self.shared.lock().left = true;
    }
}

impl Drop for Sender {
    /// A stream that is not whole ends: the other side is told, if that is soon done.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if !state.finished {
            state.ended = Some("the search ended with an error, which is told there".to_owned());
        }
        drop(state);
        if let Some(thread) = self.thread.take() {
            // What it found is in the state.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Nothing panics while it holds the lock, and the state is valid in any case.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn how_it_ended(&self) -> (Option<String>, bool) {
        let state = self.lock();
        (state.ended.clone(), state.left)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dialer {
    /// Connects, again and again if need be, where nothing has got on since then; `last` ended the connection before.
    fn dial(
        &self,
        since: Instant,
        mut last: Option<LinkError>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<(Channel, Held), LinkError> {
        let [mut pause, longest] = PAUSES;
        loop {
            if let Some(error) = last {
                if since.elapsed() > self.target.give_up || is_over() {
                    let last = format!("{}: {error}", self.target.address);
                    return Err(LinkError::GivenUp { after: self.target.give_up, last });
                }
                thread::sleep(pause);
                pause = (pause * 2).min(longest);
            }
            match self.dial_once() {
                Err(error) if error.is_passing() => {
                    if pause == PAUSES[0] {
                        let what = format!("{}: {error}", self.target.address);
                        (self.watch)(Event::Broken(what));
                    }
                    last = Some(error);
                }
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
        channel.send(&Message::Hello(VERSION));
        loop {
            channel.exchange(TICK)?;
            match channel.receive()? {
                None => {}
                Some(Message::Held(held)) if held.whole <= held.bytes => {
                    return Ok((channel, held));
                }
                Some(Message::Refused(why)) => return Err(LinkError::Refused(why)),
                Some(_) => return Err(LinkError::Protocol("does not say what it holds")),
            }
        }
    }
}

/// The work of the thread.
struct Run<'a> {
    dialer: Dialer,
    shared: &'a Shared,
    agrees: Agrees,
    /// The next byte to send.
    position: u64,
    /// Since when nothing gets on.
    stuck: Option<Instant>,
}

impl Run<'_> {
    fn all(mut self, mut channel: Channel) -> Result<Arrival, LinkError> {
        loop {
            let begun = Instant::now();
            let before = self.shared.lock().confirmed;
            let error = match self.drive(channel) {
                Err(error) if error.is_passing() => error,
                result => return result.map(|()| Arrival::Done),
            };
            (self.dialer.watch)(Event::Broken(error.to_string()));
            // Connections that break again and again without anything getting on are as good as none.
            let got_on = self.shared.lock().confirmed > before
                || begun.elapsed() > self.dialer.target.patience;
            if got_on {
                self.stuck = None;
            }
            let since = *self.stuck.get_or_insert_with(Instant::now);
            let is_over = || self.shared.lock().ended.is_some();
            let (again, held) = match self.dialer.dial(since, Some(error), &is_over) {
                Err(LinkError::GivenUp { .. }) if self.is_all_there() => {
                    return Ok(Arrival::Unknown);
                }
                result => result?,
            };
            (self.dialer.watch)(Event::Back);
            channel = self.go_on(again, &held)?;
        }
    }

    /// Whether everything is on the other side's disk.
    fn is_all_there(&self) -> bool {
        let state = self.shared.lock();
        state.finished && state.bytes.is_empty()
    }

    /// Goes on from what the other side holds.
    fn go_on(&mut self, mut channel: Channel, held: &Held) -> Result<Channel, LinkError> {
        let state = self.shared.lock();
        let range = state.confirmed..=state.end();
        drop(state);
        let from = [held.bytes, held.whole].into_iter().find(|offset| range.contains(offset));
        let why = match from {
            Some(offset) if (self.agrees)(held) => {
                self.position = offset;
                channel.send(&Message::Start(offset));
                return Ok(channel);
            }
            _ if held.bytes < *range.start() => {
                "the other site does not hold any more what it had confirmed: run the search again, which goes on from what it holds"
            }
            _ => "the other site holds something else meanwhile",
        };
        channel.send(&Message::Refused(why.to_owned()));
        channel.leave();
        Err(LinkError::Ended(why.to_owned()))
    }

    /// Sends on a connection until everything is done, or it breaks.
    fn drive(&mut self, mut channel: Channel) -> Result<(), LinkError> {
        let mut finish_told = false;
        let mut told = Instant::now();
        loop {
            let (ended, left) = self.shared.how_it_ended();
            if let Some(why) = ended {
                if left {
                    return Err(LinkError::Ended(why));
                }
                channel.send(&Message::Refused(why.clone()));
                channel.leave();
                return Err(LinkError::Ended(why));
            }
            finish_told = self.fill(&mut channel, finish_told);
            if channel.is_quiet() {
                channel.send(&Message::Idle);
            }
            channel.exchange(TICK)?;
            while let Some(message) = channel.receive()? {
                match message {
                    Message::Confirmed(offset) => self.confirm(offset)?,
                    Message::Done if finish_told && self.is_all_there() => {
                        channel.leave();
                        return Ok(());
                    }
                    Message::Refused(why) => return Err(LinkError::Refused(why)),
                    _ => return Err(LinkError::Protocol("says what it should not")),
                }
            }
            if told.elapsed() > TELL_EVERY {
                told = Instant::now();
                let state = self.shared.lock();
                let (confirmed, waiting) = (state.confirmed, state.bytes.len() as u64);
                drop(state);
                (self.dialer.watch)(Event::Progress { confirmed, waiting });
            }
        }
    }

    /// Gives the connection as much as it takes; tells whether it was told that this is all.
    fn fill(&mut self, channel: &mut Channel, finish_told: bool) -> bool {
        while channel.has_room() {
            let state = self.shared.lock();
            let from = (self.position - state.confirmed) as usize;
            let piece: Vec<u8> = state.bytes.range(from..).take(MOST_BODY).copied().collect();
            let end = (state.finished && !finish_told).then(|| state.end());
            drop(state);
            if piece.is_empty() {
                if let Some(end) = end {
                    channel.send(&Message::Finish(end));
                    return true;
                }
                break;
            }
            self.position += piece.len() as u64;
            channel.send(&Message::Data(piece));
        }
        finish_told
    }

    /// What is on the other side's disk need not be kept here.
    fn confirm(&self, offset: u64) -> Result<(), LinkError> {
        let mut state = self.shared.lock();
        if offset > self.position {
            return Err(LinkError::Protocol("confirms what was not sent"));
        }
        let count = offset.saturating_sub(state.confirmed);
        state.bytes.drain(..count as usize);
        state.confirmed += count;
        self.shared.changed.notify_all();
        Ok(())
    }
}
