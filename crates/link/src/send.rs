//! The sending side of a stream: keeps unconfirmed bytes, and reconnects if a connection breaks.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::channel::Channel;
use crate::dial::{Dialer, SendEvent, SendObserver, Target};
use crate::error::LinkError;
use crate::message::{HeldPart, MOST_BODY, Message};
use crate::progress::Progress;
use crate::speed::{LinkSpeed, Meter};

/// Most unconfirmed bytes in memory. With more, [`Sender::write`] waits. This is several times the
/// bytes in flight on a long fast link.
const ROOM: usize = 64 << 20;
/// Longest wait for the socket before new bytes are sent.
const TICK: Duration = Duration::from_millis(20);
/// Longest time in which the sender tries to reconnect when all bytes are confirmed and only the
/// receiver's last message is missing.
const LAST_WORD: Duration = Duration::from_secs(60);
/// Reason that a sender gives if it ends before [`Sender::verify`] or [`Sender::write`].
const NOT_VERIFIED: &str = "the search ended before it had compared its queries with what is held";
/// Time between two events [`SendEvent::Progress`].
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);

/// The outcome of sending a complete stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// The receiver has processed the stream.
    Done,
    /// The stream is on the receiver's disk. Whether the receiver has processed it is unknown.
    Unknown,
}

/// A connected stream before its first byte is sent.
pub struct ConnectedSender {
    dialer: Dialer,
    channel: Channel,
    held: HeldPart,
}

/// Function that returns whether the bytes that the receiver holds are a part of this stream.
pub type HeldCheck = Box<dyn Fn(&HeldPart) -> bool + Send>;

/// A stream that is being sent. A thread of its own sends it.
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
    /// Unconfirmed bytes of the stream.
    bytes: VecDeque<u8>,
    /// Offset of the first unconfirmed byte in the stream.
    confirmed: u64,
    /// Whether all bytes of the stream have been written.
    finished: bool,
    /// Reason why the stream ends before it is complete.
    ended: Option<String>,
    /// Whether the bytes that the receiver held are known to belong to this stream.
    verified: bool,
    /// Whether the stream ends without a message to the receiver.
    abandoned: bool,
    result: Option<Result<SendOutcome, LinkError>>,
    /// Measured properties of the link.
    speed: LinkSpeed,
}

impl State {
    fn end(&self) -> u64 {
        self.confirmed + self.bytes.len() as u64
    }
}

impl ConnectedSender {
    /// Connects to the receiver, and receives which part of the stream it holds. The caller must
    /// call [`start`](Self::start) soon after.
    ///
    /// # Errors
    /// There is no connection within the time limit of the target, or the peer refuses the stream
    /// or the key.
    pub fn connect(target: Target, observer: SendObserver) -> Result<ConnectedSender, LinkError> {
        let dialer = Dialer::new(target, observer)?;
        let give_up = dialer.target.give_up;
        let (channel, held) = dialer.dial(Instant::now(), give_up, None, &|| false)?;
        Ok(ConnectedSender { dialer, channel, held })
    }

    /// Returns which part of a stream the receiver holds.
    pub fn held_part(&self) -> &HeldPart {
        &self.held
    }

    /// Ends the connection with a message, because the receiver holds another stream.
    pub fn refuse(mut self, why: &str) {
        self.channel.send(&Message::Foreign(why.to_owned()));
        self.channel.close();
    }

    /// Starts to send the stream. The first byte that is written is the one at offset
    /// [`HeldPart::whole_bytes`]. After each reconnection, `agrees` checks the part of the stream
    /// that the receiver holds.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(self, agrees: HeldCheck) -> Result<Sender, LinkError> {
        let ConnectedSender { dialer, mut channel, held } = self;
        channel.send(&Message::Start(held.whole_bytes));
        let shared = Arc::new(Shared::default());
        let (position, mut meter) = (held.whole_bytes, Meter::default());
        meter.record_connection(channel.round_trip, held.workers, position);
        (shared.lock().confirmed, shared.lock().speed) = (position, meter.speed());
        let (own, observer) = (Arc::clone(&shared), Arc::clone(&dialer.observer));
        let run = move || {
            let result =
                Run { dialer, shared: &own, agrees, position, meter, progress: Progress::new() }
                    .run(channel);
            let failed = result.is_err();
            own.lock().result = Some(result);
            own.changed.notify_all();
            if failed {
                observer(SendEvent::Ended);
            }
        };
        let thread = thread::Builder::new().name("link".to_owned()).spawn(run);
        let thread = thread.map_err(|error| LinkError::NoThread(error.to_string()))?;
        Ok(Sender { shared, thread: Some(thread) })
    }
}

impl Sender {
    /// Adds bytes to the stream. Waits while too many bytes are unconfirmed.
    ///
    /// # Errors
    /// The error that ended the stream.
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

    /// Returns the error of the stream, if it has ended. Callers use it while they write nothing
    /// for long.
    ///
    /// # Errors
    /// The error that ended the stream.
    pub fn check(&self) -> Result<(), LinkError> {
        match &self.shared.lock().result {
            Some(Err(error)) => Err(error.clone()),
            Some(Ok(_)) | None => Ok(()),
        }
    }

    /// Returns the measured properties of the link.
    pub fn speed(&self) -> LinkSpeed {
        self.shared.lock().speed
    }

    /// Completes the stream, and waits until the receiver has processed it.
    ///
    /// # Errors
    /// The error that ended the stream.
    pub fn finish(self) -> Result<SendOutcome, LinkError> {
        let mut state = self.shared.lock();
        (state.finished, state.verified) = (true, true);
        loop {
            if let Some(result) = state.result.clone() {
                return result;
            }
            state = self.shared.wait(state);
        }
    }

    /// Records that the bytes at the receiver belong to this stream. [`write`](Self::write) implies
    /// it. If the sender fails before this call, the receiver does not end, but may wait for
    /// another sender.
    pub fn verify(&self) {
        self.shared.lock().verified = true;
    }

    /// Ends an incomplete stream without a message, so that another run can continue it.
    pub fn abandon(self) {
        self.shared.lock().abandoned = true;
    }
}

impl Drop for Sender {
    /// Ends an incomplete stream, with a message to the receiver if it can be sent soon.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if !state.finished {
            state.ended = Some("the search ended with an error; see its messages".to_owned());
        }
        drop(state);
        if let Some(thread) = self.thread.take() {
            // The result of the thread is in the state.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Locks the state, which is valid even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If the stream must end early, returns the reason, and the last message to the receiver, if
    /// any.
    fn last_message(&self) -> Option<(String, Option<Message>)> {
        let state = self.lock();
        let why = state.ended.clone()?;
        let last = match (state.abandoned, state.verified) {
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

/// The state of the sending thread.
struct Run<'a> {
    dialer: Dialer,
    shared: &'a Shared,
    agrees: HeldCheck,
    /// Offset of the next byte to send.
    position: u64,
    meter: Meter,
    progress: Progress,
}

impl Run<'_> {
    /// Sends the stream over as many connections as needed.
    fn run(mut self, mut channel: Channel) -> Result<SendOutcome, LinkError> {
        loop {
            let error = match self.drive(channel) {
                Err(error) if error.is_transient() => error,
                result => return result.map(|()| SendOutcome::Done),
            };
            let Progress { since, connections } = self.progress;
            let is_over = || self.shared.lock().ended.is_some();
            let all_confirmed = self.is_all_confirmed();
            let give_up = self.dialer.target.give_up;
            let give_up = if all_confirmed { give_up.min(LAST_WORD) } else { give_up };
            let (again, held) = match self.dialer.dial(since, give_up, Some(error), &is_over) {
                Err(LinkError::GivenUp { .. }) if all_confirmed => return Ok(SendOutcome::Unknown),
                Err(LinkError::GivenUp { after, last }) if connections > 0 => {
                    return Err(LinkError::Stalled { after, connections, last });
                }
                result => result?,
            };
            self.progress.connections += 1;
            (self.dialer.observer)(SendEvent::Reconnected);
            channel = match self.resume(again, &held) {
                // The receiver had everything. It has processed the stream since, or moved it
                // elsewhere.
                Err(LinkError::Ended(_)) if all_confirmed => return Ok(SendOutcome::Unknown),
                result => result?,
            };
        }
    }

    /// Whether the stream is complete, and all of it is on the receiver's disk.
    fn is_all_confirmed(&self) -> bool {
        let state = self.shared.lock();
        state.finished && state.bytes.is_empty()
    }

    /// Resumes the stream on a new connection, from the bytes that the receiver holds.
    fn resume(&mut self, mut channel: Channel, held: &HeldPart) -> Result<Channel, LinkError> {
        let state = self.shared.lock();
        let range = state.confirmed..=state.end();
        drop(state);
        let from = [held.bytes, held.whole_bytes].into_iter().find(|offset| range.contains(offset));
        let why = match from {
            Some(offset) if (self.agrees)(held) => {
                self.position = offset;
                self.meter.record_connection(channel.round_trip, held.workers, offset);
                // The bytes before `offset` are on the receiver's disk, even if their confirmation
                // was lost.
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
        channel.close();
        Err(LinkError::Ended(why.to_owned()))
    }

    /// Sends on one connection until the receiver has processed the stream, or until the connection
    /// breaks.
    fn drive(&mut self, mut channel: Channel) -> Result<(), LinkError> {
        let mut finish_sent = false;
        let begun = Instant::now();
        let mut last_progress = begun;
        loop {
            if let Some((why, last)) = self.shared.last_message() {
                if let Some(last) = last {
                    channel.send(&last);
                    channel.close();
                }
                return Err(LinkError::Ended(why));
            }
            finish_sent = self.fill(&mut channel, finish_sent);
            if channel.is_sign_of_life_due() {
                channel.send(&Message::Idle);
            }
            let exchanging = Instant::now();
            let exchanged = channel.exchange(TICK);
            self.progress.allow_for_stop(exchanging.elapsed(), self.dialer.target.patience);
            exchanged?;
            while let Some(message) = channel.receive()? {
                match message {
                    Message::Confirmed(offset) => self.confirm(offset)?,
                    Message::Received(offset) => {
                        self.meter.record_arrival(Instant::now(), offset);
                        self.shared.lock().speed = self.meter.speed();
                    }
                    Message::Done if finish_sent && self.is_all_confirmed() => {
                        channel.close();
                        return Ok(());
                    }
                    Message::Refused(why) => {
                        // Closing makes sure that the receiver has read all bytes. Otherwise it
                        // would wait for a sender that missed its message.
                        channel.close();
                        return Err(LinkError::Refused(why));
                    }
                    // Another connection of this stream, from an earlier run, has replaced this
                    // one.
                    Message::Busy(why) => return Err(LinkError::busy(&why)),
                    _ => return Err(LinkError::Protocol("says what it should not")),
                }
            }
            let waits = !self.shared.lock().bytes.is_empty();
            if waits && self.progress.is_stalled(begun, &self.dialer.target) {
                return Err(self.stall_error());
            }
            if last_progress.elapsed() > PROGRESS_INTERVAL {
                last_progress = Instant::now();
                let state = self.shared.lock();
                let (confirmed, waiting) = (state.confirmed, state.bytes.len() as u64);
                drop(state);
                (self.dialer.observer)(SendEvent::Progress { confirmed, waiting });
            }
        }
    }

    /// Creates the error for a peer that sends signs of life, but confirms nothing.
    fn stall_error(&self) -> LinkError {
        let Target { address, give_up, .. } = &self.dialer.target;
        let last = format!("{address}: the peer lives, but confirms nothing");
        let connections = self.progress.connections;
        LinkError::Stalled { after: *give_up, connections, last }
    }

    /// Queues as many bytes as the connection has room for. Returns whether `Finish` has been sent.
    fn fill(&mut self, channel: &mut Channel, finish_sent: bool) -> bool {
        while channel.has_room() {
            let state = self.shared.lock();
            let from = (self.position - state.confirmed) as usize;
            let piece: Vec<u8> = state.bytes.range(from..).take(MOST_BODY).copied().collect();
            let end = (state.finished && !finish_sent).then(|| state.end());
            drop(state);
            if piece.is_empty() {
                if let Some(end) = end {
                    channel.send(&Message::Finish(end));
                    return true;
                }
                break;
            }
            self.position += piece.len() as u64;
            self.meter.record_sent(Instant::now(), self.position);
            channel.send(&Message::Data(piece));
        }
        finish_sent
    }

    /// Drops the bytes before `offset`, which are on the receiver's disk.
    fn confirm(&mut self, offset: u64) -> Result<(), LinkError> {
        let mut state = self.shared.lock();
        if offset > self.position {
            return Err(LinkError::Protocol("confirms what was not sent"));
        }
        let count = offset.saturating_sub(state.confirmed);
        state.bytes.drain(..count as usize);
        state.confirmed += count;
        // If no byte waits for confirmation, a sign of life of the peer counts as progress.
        if count > 0 || state.bytes.is_empty() {
            self.progress = Progress::new();
        }
        self.shared.changed.notify_all();
        Ok(())
    }
}
