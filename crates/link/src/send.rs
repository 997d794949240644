//! The side that sends: it keeps what is not confirmed, and connects again where a connection breaks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::channel::Channel;
use crate::dial::{Dialer, Event, Target, Watch};
use crate::error::LinkError;
use crate::message::{Held, MOST_BODY, Message};
use crate::pace::{Meter, Pace};
use crate::progress::Progress;

/// Bytes kept that are not confirmed, at most: who makes more waits. Several times what is on its way over a long fast link.
const ROOM: usize = 64 << 20;
/// Looks for more to send.
const TICK: Duration = Duration::from_millis(20);
/// Where everything is confirmed only the other side's last word is missing, which is not waited for longer than this.
const LAST_WORD: Duration = Duration::from_secs(60);
/// Sent where a search ends early.
const NOT_VERIFIED: &str = "the search ended before it had compared its queries with what is held";
/// Between two [`Event::Progress`].
const TELL_EVERY: Duration = Duration::from_millis(500);

/// How a stream arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The other side has done with it what it should.
    Done,
    /// It is on the other side's disk. What became of it is not known here.
    Unknown,
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
    /// What the other side held is of this stream.
    verified: bool,
    /// The stream ends without a word to the other side.
    left: bool,
    result: Option<Result<Arrival, LinkError>>,
    /// The link, as it is seen.
    pace: Pace,
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
        let dialer = Dialer::new(target, watch)?;
        let give_up = dialer.target.give_up;
        let (channel, held) = dialer.dial(Instant::now(), give_up, None, &|| false)?;
        Ok(Opening { dialer, channel, held })
    }

    /// What the other side holds.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Ends, and sends the reason: what the other side holds is of another stream.
    pub fn refuse(mut self, why: &str) {
        self.channel.send(&Message::Foreign(why.to_owned()));
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
        let (position, mut meter) = (held.whole, Meter::default());
        meter.connected(channel.round_trip, held.workers, position);
        (shared.lock().confirmed, shared.lock().pace) = (position, meter.pace());
        let (own, watch) = (Arc::clone(&shared), Arc::clone(&dialer.watch));
        let run = move || {
            let result =
                Run { dialer, shared: &own, agrees, position, meter, progress: Progress::new() }
                    .all(channel);
            let failed = result.is_err();
            own.lock().result = Some(result);
            own.changed.notify_all();
            if failed {
                watch(Event::Ended);
            }
        };
        let thread = thread::Builder::new().name("link".to_owned()).spawn(run);
        let thread = thread.map_err(|error| LinkError::NoThread(error.to_string()))?;
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
        state.verified = true;
        state.bytes.extend(bytes);
        Ok(())
    }

    /// Whether the stream goes on, for who has nothing to send for long.
    ///
    /// # Errors
    /// What ended it.
    pub fn check(&self) -> Result<(), LinkError> {
        match &self.shared.lock().result {
            Some(Err(error)) => Err(error.clone()),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// The link, as it is seen so far.
    pub fn pace(&self) -> Pace {
        self.shared.lock().pace
    }

    /// Ends the stream, and waits until the other side has done with it what it should.
    ///
    /// # Errors
    /// What ended the stream before.
    pub fn finish(self) -> Result<Arrival, LinkError> {
        let mut state = self.shared.lock();
        (state.finished, state.verified) = (true, true);
        loop {
            if let Some(result) = state.result.clone() {
                return result;
            }
            state = self.shared.wait(state);
        }
    }

    /// Notes that what the other side held is of this stream, as [`write`](Self::write) does, too.
    /// A failure before that does not end the other side, which may wait for another sender.
    pub fn verify(&self) {
        self.shared.lock().verified = true;
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

    /// The reason if the stream is to end, and the last message to the other side, if any.
    fn last_word(&self) -> Option<(String, Option<Message>)> {
        let state = self.lock();
        let why = state.ended.clone()?;
        let last = match (state.left, state.verified) {
            (true, _) => None,
            (false, true) => Some(Message::Refused(why.clone())),
            (false, false) => Some(Message::Foreign(NOT_VERIFIED.to_owned())),
        };
        Some((why, last))
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of the thread.
struct Run<'a> {
    dialer: Dialer,
    shared: &'a Shared,
    agrees: Agrees,
    /// The next byte to send.
    position: u64,
    meter: Meter,
    progress: Progress,
}

impl Run<'_> {
    fn all(mut self, mut channel: Channel) -> Result<Arrival, LinkError> {
        loop {
            let error = match self.drive(channel) {
                Err(error) if error.is_passing() => error,
                result => return result.map(|()| Arrival::Done),
            };
            let Progress { since, connections } = self.progress;
            let is_over = || self.shared.lock().ended.is_some();
            let all_there = self.is_all_there();
            let give_up = self.dialer.target.give_up;
            let give_up = if all_there { give_up.min(LAST_WORD) } else { give_up };
            let (again, held) = match self.dialer.dial(since, give_up, Some(error), &is_over) {
                Err(LinkError::GivenUp { .. }) if all_there => return Ok(Arrival::Unknown),
                Err(LinkError::GivenUp { after, last }) if connections > 0 => {
                    return Err(LinkError::Stalled { after, connections, last });
                }
                result => result?,
            };
            self.progress.connections += 1;
            (self.dialer.watch)(Event::Back);
            channel = match self.go_on(again, &held) {
                // Whoever had it has made the report of it, or has put it elsewhere.
                Err(LinkError::Ended(_)) if all_there => return Ok(Arrival::Unknown),
                result => result?,
            };
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
                self.meter.connected(channel.round_trip, held.workers, offset);
                // It is on the other side's disk, also where the word of that got lost.
                if offset > *range.start() {
                    self.confirm(offset)?;
                }
                channel.send(&Message::Start(offset));
                return Ok(channel);
            }
            _ if held.bytes < *range.start() => {
                "the other site does not hold any more what it had confirmed: run the search again, which goes on from what it holds"
            }
            _ => "the other site holds something else meanwhile",
        };
        channel.send(&Message::Foreign(why.to_owned()));
        channel.leave();
        Err(LinkError::Ended(why.to_owned()))
    }

    /// Sends on a connection until everything is done, or it breaks.
    fn drive(&mut self, mut channel: Channel) -> Result<(), LinkError> {
        let mut finish_told = false;
        let begun = Instant::now();
        let mut told = begun;
        loop {
            if let Some((why, last)) = self.shared.last_word() {
                if let Some(last) = last {
                    channel.send(&last);
                    channel.leave();
                }
                return Err(LinkError::Ended(why));
            }
            finish_told = self.fill(&mut channel, finish_told);
            if channel.is_quiet() {
                channel.send(&Message::Idle);
            }
            let exchanging = Instant::now();
            let exchanged = channel.exchange(TICK);
            self.progress.allow_for_stop(exchanging.elapsed(), self.dialer.target.patience);
            exchanged?;
            while let Some(message) = channel.receive()? {
                match message {
                    Message::Confirmed(offset) => self.confirm(offset)?,
                    Message::Came(offset) => {
                        self.meter.came(Instant::now(), offset);
                        self.shared.lock().pace = self.meter.pace();
                    }
                    Message::Done if finish_told && self.is_all_there() => {
                        channel.leave();
                        return Ok(());
                    }
                    Message::Refused(why) => {
                        // Without this the other side would wait for a sender that missed it.
                        channel.leave();
                        return Err(LinkError::Refused(why));
                    }
                    // An earlier run of the stream took its place back.
                    Message::Busy(why) => return Err(LinkError::busy(&why)),
                    _ => return Err(LinkError::Protocol("says what it should not")),
                }
            }
            let waits = !self.shared.lock().bytes.is_empty();
            if waits && self.progress.is_stalled(begun, &self.dialer.target) {
                return Err(self.stalled());
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

    /// The error of a peer that sends signs of life, but confirms nothing.
    fn stalled(&self) -> LinkError {
        let Target { address, give_up, .. } = &self.dialer.target;
        let last = format!("{address}: the peer lives, but confirms nothing");
        let connections = self.progress.connections;
        LinkError::Stalled { after: *give_up, connections, last }
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
            self.meter.sent(Instant::now(), self.position);
            channel.send(&Message::Data(piece));
        }
        finish_told
    }

    /// What is on the other side's disk need not be kept here.
    fn confirm(&mut self, offset: u64) -> Result<(), LinkError> {
        let mut state = self.shared.lock();
        if offset > self.position {
            return Err(LinkError::Protocol("confirms what was not sent"));
        }
        let count = offset.saturating_sub(state.confirmed);
        state.bytes.drain(..count as usize);
        state.confirmed += count;
        // Where nothing waits to be confirmed, the word that the peer lives is all there can be.
        if count > 0 || state.bytes.is_empty() {
            self.progress = Progress::new();
        }
        self.shared.changed.notify_all();
        Ok(())
    }
}
