//! The connection on which a stream comes, and those of known peers that come after it.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::channel::{Channel, Departures};
use crate::error::LinkError;
use crate::greet::Guest;
use crate::message::{Message, StreamId};
use crate::sink::{Event, Sink, Watch};

/// What came is brought to disk after so many bytes, and after so long.
const SYNC_BYTES: usize = 8 << 20;
const SYNC_AFTER: Duration = Duration::from_millis(200);
/// A sender whose connection is broken has so long to come back and hear how it ended.
pub(crate) const LINGER: Duration = Duration::from_secs(5);
/// Words to senders that come while another one is connected: of another search, or perhaps not.
const OTHER_STREAM: &str = "another search is received here; name another 'fleetblast receive', \
                            or start this search again when that one is through";
const OTHER_RUN: &str = "another run of this search, or of one with the same options, is connected";
/// Looks at everything.
const TICK: Duration = Duration::from_millis(50);

/// A connection under way.
struct Session {
    channel: Channel,
    /// The guest's.
    number: u64,
    stream: StreamId,
    begun: Instant,
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

/// Looks after the stream.
pub(crate) struct Host<'a> {
    sink: &'a mut dyn Sink,
    guests: Receiver<Guest>,
    patience: Duration,
    give_up: Option<Duration>,
    watch: &'a Watch,
    departures: Departures,
    /// The run from which the last bytes came.
    owner: Option<[u8; 16]>,
    /// The run that began last, unless it said that it sends something else.
    begun: Option<[u8; 16]>,
}

impl<'a> Host<'a> {
    /// For a stream that goes to a sink. A known peer that does not begin is given up after the
    /// first time, all after the second without anybody.
    pub(crate) fn new(
        sink: &'a mut dyn Sink,
        guests: Receiver<Guest>,
        (patience, give_up): (Duration, Option<Duration>),
        watch: &'a Watch,
    ) -> Self {
        let departures = Departures::default();
        Host { sink, guests, patience, give_up, watch, departures, owner: None, begun: None }
    }

    /// Works until the stream is through.
    ///
    /// # Errors
    /// The sink's, the sender's word that it will not be whole, or nobody there for too long.
    pub(crate) fn run(mut self) -> Result<(), LinkError> {
        let mut session: Option<Session> = None;
        let mut alone = Instant::now();
        let (mut known, mut linger) = (None, LINGER);
        loop {
            self.departures.step();
            if let Some(verdict) = self.sink.verdict() {
                let since = alone.max(*known.get_or_insert_with(Instant::now));
                let is_over = match &session {
                    // Who makes all of it again comes to the same end, or says that it is another.
                    Some(session) => verdict.is_err() || matches!(session.stage, Stage::Whole),
                    None => since.elapsed() > linger,
                };
                if is_over && session.take().is_none_or(|session| conclude(session, &verdict)) {
                    return verdict.map_err(LinkError::Ended);
                }
                if is_over {
                    // The sender comes again once it notices that its connection is dead.
                    alone = Instant::now();
                    linger = self.give_up.unwrap_or(Duration::MAX).min(self.patience + LINGER);
                }
            }
            let wait = if session.is_some() { Duration::ZERO } else { TICK };
            match self.guests.recv_timeout(wait) {
                Ok(guest) => session = self.admit(guest, session)?,
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
                Err(
                    error
                    @ (LinkError::Broken(_) | LinkError::Protocol(_) | LinkError::Stranger(_)),
                ) => {
                    (self.watch)(Event::Broken(error.to_string()));
                    session = None;
                }
                Err(LinkError::Unwanted(why)) => {
                    (self.watch)(Event::Unwanted(why));
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

    /// Lets a guest begin, unless another stream comes. A run that connects again takes the place
    /// of its own connection at once: it knows better than this side that the old one is broken.
    /// Others do not.
    fn admit(
        &mut self,
        guest: Guest,
        session: Option<Session>,
    ) -> Result<Option<Session>, LinkError> {
        let Some(now) = session else { return self.welcome(guest).map(Some) };
        if self.owner == Some(guest.stream.run) && self.owner != Some(now.stream.run) {
            // The other one has not shown yet that it sends the same.
            self.departures.add(now.channel, &Message::Busy(OTHER_RUN.to_owned()));
            return self.welcome(guest).map(Some);
        }
        if now.stream.run == guest.stream.run {
            return match now.number < guest.number {
                true => self.welcome(guest).map(Some),
                false => Ok(Some(now)),
            };
        }
        let is_other = now.stream.header != guest.stream.header;
        let why = if is_other { OTHER_STREAM } else { OTHER_RUN };
        // Who has not begun is no reason to end another one.
        let has_begun = !matches!(now.stage, Stage::Offered(_));
        let last = if is_other && has_begun { Message::Refused } else { Message::Busy };
        (self.watch)(Event::Rejected(guest.address, why.to_owned()));
        self.departures.add(guest.channel, &last(why.to_owned()));
        Ok(Some(now))
    }

    /// Tells who has come what is there.
    fn welcome(&mut self, guest: Guest) -> Result<Session, LinkError> {
        let Guest { mut channel, address, stream, number } = guest;
        let held = match self.sink.held() {
            Ok(held) => held,
            Err(why) => {
                channel.send(&Message::Refused(why.clone()));
                channel.leave();
                return Err(LinkError::Ended(why));
            }
        };
        let stage = Stage::Offered([held.bytes, held.whole]);
        let (synced, now) = (held.bytes, Instant::now());
        channel.send(&Message::Held(held));
        (self.watch)(Event::Connected(address));
        Ok(Session { channel, number, stream, begun: now, stage, unsynced: 0, since: now, synced })
    }

    /// Takes what came on a connection.
    fn step(&mut self, session: &mut Session) -> Result<(), LinkError> {
        session.channel.exchange(TICK)?;
        let before = session.stage.came();
        while let Some(message) = session.channel.receive()? {
            self.message(session, message)?;
        }
        let is_offered = matches!(session.stage, Stage::Offered(_));
        if is_offered && session.begun.elapsed() > self.patience {
            return Err(LinkError::Broken("the peer does not begin".to_owned()));
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
                self.begun = Some(session.stream.run);
                Stage::Running(offset)
            }
            (Stage::Running(next), Message::Data(bytes)) => {
                self.owner = Some(session.stream.run);
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

    /// A run has ended that sends something else than what is held, as far as it knows. What is
    /// held may still be gone on with; that of another run under way is waited for in any case.
    fn foreign(&mut self, run: [u8; 16], why: &str) -> LinkError {
        if self.begun == Some(run) {
            self.begun = self.owner.filter(|owner| *owner != run);
        }
        if self.begun.is_some() {
            return LinkError::Broken(why.to_owned());
        }
        LinkError::Unwanted(self.sink.refused(why))
    }
}

/// Tells the sender how it ended; returns whether the sender has read that.
fn conclude(session: Session, verdict: &Result<(), String>) -> bool {
    let Session { mut channel, .. } = session;
    channel.send(&match verdict {
        Ok(()) => Message::Done,
        Err(why) => Message::Refused(why.clone()),
    });
    channel.leave()
}

/// Ends a connection, and tells why, if that is soon done.
fn dismiss(channel: Option<Channel>, why: &str) {
    let Some(mut channel) = channel else { return };
    channel.send(&Message::Refused(why.to_owned()));
    channel.leave();
}
