//! Receives a stream over the connections of known peers.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::accept::IdentifiedPeer;
use crate::channel::{Channel, ClosingChannels};
use crate::error::LinkError;
use crate::message::{Message, StreamId};
use crate::sink::{ReceiveEvent, ReceiveObserver, Sink};

/// Number of received bytes with which they are brought to disk.
const SYNC_BYTES: usize = 8 << 20;
/// Time after which received bytes are brought to disk, even if they are few.
const SYNC_AFTER: Duration = Duration::from_millis(200);
/// Time in which a sender may reconnect to receive the verdict on its stream.
pub(crate) const RECONNECT_TIME: Duration = Duration::from_secs(5);
/// Message to a sender that connects while a sender with the stream of another search is connected.
const OTHER_STREAM: &str = "another search is received here; name another 'fleetblast receive', \
                            or start this search again when that one is through";
/// Message to a sender that must wait for another sender, which perhaps sends the same stream.
const OTHER_RUN: &str = "another run of this search, or of one with the same options, is connected";
/// Longest wait for a new peer or for messages.
const TICK: Duration = Duration::from_millis(50);

/// The connection over which the stream is being received.
struct Session {
    channel: Channel,
    /// Number of the connection in the order of arrival.
    number: u64,
    stream: StreamId,
    begun: Instant,
    stage: Stage,
    /// Number of bytes that have arrived and are not on the disk.
    unsynced: usize,
    /// Time when the first byte arrived that is not on the disk.
    since: Instant,
    synced: u64,
}

enum Stage {
    /// The peer has been offered these two offsets, and must name the one from which it continues.
    Offered([u64; 2]),
    /// Bytes are arriving. This is the offset of the next one.
    Running(u64),
    /// All bytes have arrived.
    Whole,
}

impl Stage {
    /// Returns the offset of the next byte while bytes are arriving, otherwise `None`.
    fn received_offset(&self) -> Option<u64> {
        match self {
            Stage::Running(next) => Some(*next),
            Stage::Offered(_) | Stage::Whole => None,
        }
    }
}

/// Receives one stream, from one sender at a time.
pub(crate) struct StreamReceiver<'a> {
    sink: &'a mut dyn Sink,
    peers: Receiver<IdentifiedPeer>,
    patience: Duration,
    give_up: Option<Duration>,
    observer: &'a ReceiveObserver,
    closing: ClosingChannels,
    /// The sender process that sent the last bytes.
    owner: Option<[u8; 16]>,
    /// The sender process that began last, unless it turned out to send another stream.
    begun: Option<[u8; 16]>,
}

impl<'a> StreamReceiver<'a> {
    /// Creates a receiver that passes a stream to `sink`. `patience` limits the time in which a
    /// connected peer must begin. `give_up` limits the time without a connected peer.
    pub(crate) fn new(
        sink: &'a mut dyn Sink,
        peers: Receiver<IdentifiedPeer>,
        (patience, give_up): (Duration, Option<Duration>),
        observer: &'a ReceiveObserver,
    ) -> Self {
        let closing = ClosingChannels::default();
        StreamReceiver {
            sink,
            peers,
            patience,
            give_up,
            observer,
            closing,
            owner: None,
            begun: None,
        }
    }

    /// Receives until the stream is complete and the sink has its verdict.
    ///
    /// # Errors
    /// The sink has an error, the sender ended the stream, or no sender was connected for too long.
    pub(crate) fn run(mut self) -> Result<(), LinkError> {
        let mut session: Option<Session> = None;
        let mut alone = Instant::now();
        let (mut known, mut linger) = (None, RECONNECT_TIME);
        loop {
            self.closing.step();
            if let Some(verdict) = self.sink.verdict() {
                let since = alone.max(*known.get_or_insert_with(Instant::now));
                let is_over = match &session {
                    // A connected sender may be sending everything again. At the end it gets the
                    // verdict, or it finds that its stream is another one.
                    Some(session) => verdict.is_err() || matches!(session.stage, Stage::Whole),
                    None => since.elapsed() > linger,
                };
                if is_over && session.take().is_none_or(|session| conclude(session, &verdict)) {
                    return verdict.map_err(LinkError::Ended);
                }
                if is_over {
                    // The sender reconnects once it notices that its connection is dead.
                    alone = Instant::now();
                    linger =
                        self.give_up.unwrap_or(Duration::MAX).min(self.patience + RECONNECT_TIME);
                }
            }
            let wait = if session.is_some() { Duration::ZERO } else { TICK };
            match self.peers.recv_timeout(wait) {
                Ok(peer) => session = self.admit(peer, session)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(wait),
            }
            let Some(current) = &mut session else {
                let long = self.give_up.map_or(RECONNECT_TIME, |after| after.min(RECONNECT_TIME));
                if alone.elapsed() > long && self.sink.on_sender_missing() {
                    (self.observer)(ReceiveEvent::SenderMissing);
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
                Err(
                    error @ (LinkError::Broken(_)
                    | LinkError::Protocol(_)
                    | LinkError::KeyRejected(_)),
                ) => {
                    (self.observer)(ReceiveEvent::Broken(error.to_string()));
                    session = None;
                }
                Err(LinkError::OtherStream(why)) => {
                    (self.observer)(ReceiveEvent::OtherStream(why));
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

    /// Starts a session with a new peer, unless another sender is connected. A sender process that
    /// reconnects replaces its own connection at once, since it is the first to notice that the old
    /// one is broken. The process that sent the last bytes replaces a sender that has not sent any.
    fn admit(
        &mut self,
        peer: IdentifiedPeer,
        session: Option<Session>,
    ) -> Result<Option<Session>, LinkError> {
        let Some(now) = session else { return self.start_session(peer).map(Some) };
        if self.owner == Some(peer.stream.run) && self.owner != Some(now.stream.run) {
            // The connected process has not proved yet that it sends the same stream.
            self.closing.add(now.channel, &Message::Busy(OTHER_RUN.to_owned()));
            return self.start_session(peer).map(Some);
        }
        if now.stream.run == peer.stream.run {
            return match now.number < peer.number {
                true => self.start_session(peer).map(Some),
                false => Ok(Some(now)),
            };
        }
        let is_other = now.stream.header != peer.stream.header;
        let why = if is_other { OTHER_STREAM } else { OTHER_RUN };
        // A session that has not begun does not end another sender.
        let has_begun = !matches!(now.stage, Stage::Offered(_));
        let last = if is_other && has_begun { Message::Refused } else { Message::Busy };
        (self.observer)(ReceiveEvent::Rejected(peer.address, why.to_owned()));
        self.closing.add(peer.channel, &last(why.to_owned()));
        Ok(Some(now))
    }

    /// Starts a session: sends the peer which part of the stream the sink holds.
    fn start_session(&mut self, peer: IdentifiedPeer) -> Result<Session, LinkError> {
        let IdentifiedPeer { mut channel, address, stream, number } = peer;
        let held = match self.sink.sync_held() {
            Ok(held) => held,
            Err(why) => {
                channel.send(&Message::Refused(why.clone()));
                channel.close();
                return Err(LinkError::Ended(why));
            }
        };
        let stage = Stage::Offered([held.bytes, held.whole_bytes]);
        let (synced, now) = (held.bytes, Instant::now());
        channel.send(&Message::Held(held));
        (self.observer)(ReceiveEvent::Connected(address));
        Ok(Session { channel, number, stream, begun: now, stage, unsynced: 0, since: now, synced })
    }

    /// Handles the messages that have arrived on a connection, and confirms bytes on the disk.
    fn step(&mut self, session: &mut Session) -> Result<(), LinkError> {
        session.channel.exchange(TICK)?;
        let before = session.stage.received_offset();
        while let Some(message) = session.channel.receive()? {
            self.message(session, message)?;
        }
        let is_offered = matches!(session.stage, Stage::Offered(_));
        if is_offered && session.begun.elapsed() > self.patience {
            return Err(LinkError::Broken("the peer does not begin".to_owned()));
        }
        // A peer that sends but does not read must not fill the memory of this side.
        if let Some(received) =
            session.stage.received_offset().filter(|_| session.channel.has_room())
            && before.is_some_and(|before| before < received)
        {
            session.channel.send(&Message::Received(received));
        }
        let Session { channel, unsynced, since, synced, .. } = session;
        if *unsynced >= SYNC_BYTES || *unsynced > 0 && since.elapsed() > SYNC_AFTER {
            *synced = self.sink.sync().map_err(LinkError::Ended)?;
            *unsynced = 0;
            channel.send(&Message::Confirmed(*synced));
        } else if channel.is_sign_of_life_due() && !matches!(session.stage, Stage::Offered(_)) {
            channel.send(&Message::Confirmed(*synced));
        }
        Ok(())
    }

    fn message(&mut self, session: &mut Session, message: Message) -> Result<(), LinkError> {
        session.stage = match (&session.stage, message) {
            (Stage::Offered(offered), Message::Start(offset)) if offered.contains(&offset) => {
                self.sink.start(offset).map_err(LinkError::Ended)?;
                session.synced = offset;
                self.begun = Some(session.stream.run);
                Stage::Running(offset)
            }
            (Stage::Running(next), Message::Data(bytes)) => {
                self.owner = Some(session.stream.run);
                self.sink.append(&bytes).map_err(LinkError::Ended)?;
                if session.unsynced == 0 {
                    session.since = Instant::now();
                }
                session.unsynced += bytes.len();
                let next = next + bytes.len() as u64;
                (self.observer)(ReceiveEvent::Progress(next));
                Stage::Running(next)
            }
            (Stage::Running(next), Message::Finish(total)) if *next == total => {
                self.owner = Some(session.stream.run);
                session.synced = self.sink.sync().map_err(LinkError::Ended)?;
                session.unsynced = 0;
                self.sink.finish(total).map_err(LinkError::Ended)?;
                session.channel.send(&Message::Confirmed(session.synced));
                Stage::Whole
            }
            (_, Message::Idle) => return Ok(()),
            (_, Message::Foreign(why)) => return Err(self.foreign(session.stream.run, &why)),
            (_, Message::Refused(why)) => return Err(LinkError::Refused(why)),
            _ => return Err(LinkError::Protocol("says what it should not")),
        };
        Ok(())
    }

    /// Handles a sender process that ended before it knew that the sink holds a part of its stream.
    /// Another sender may continue the held stream: if such a sender has begun, this side waits for
    /// it.
    fn foreign(&mut self, run: [u8; 16], why: &str) -> LinkError {
        if self.begun == Some(run) {
            self.begun = self.owner.filter(|owner| *owner != run);
        }
        if self.begun.is_some() {
            return LinkError::Broken(why.to_owned());
        }
        LinkError::OtherStream(self.sink.on_foreign_sender(why))
    }
}

/// Sends the verdict to the connected sender. Returns whether the sender has read it.
fn conclude(session: Session, verdict: &Result<(), String>) -> bool {
    let Session { mut channel, .. } = session;
    channel.send(&match verdict {
        Ok(()) => Message::Done,
        Err(why) => Message::Refused(why.clone()),
    });
    channel.close()
}

/// Closes a connection after a message with the reason.
fn dismiss(channel: Option<Channel>, why: &str) {
    let Some(mut channel) = channel else { return };
    channel.send(&Message::Refused(why.to_owned()));
    channel.close();
}
