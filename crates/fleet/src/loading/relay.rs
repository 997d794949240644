//! The part of one rank in loading a database.

use std::collections::{BTreeMap, VecDeque};

use super::{Piece, Route};
use crate::ids::{PartitionId, Rank, Time};

/// Most pieces sent to a rank that it has not confirmed: it puts one in place while the next is on
/// its way. More of them would take long on a slow link.
const WINDOW: usize = 2;
/// Interval of messages to waiting ranks that their partition is still coming.
const BEAT: Time = Time(5_000_000_000);
/// Longest silence of a rank that others wait for.
const LIMIT: Time = Time(60_000_000_000);
/// Extra silence allowed for each position down the row. When several ranks wait for each other,
/// the one next to the cause reports it.
const LATER: Time = Time(100_000_000);

/// One rank's part of the loading: which pieces it has, whom it sends them to, and whether the
/// others are alive.
///
/// A rank confirms each piece. So no rank holds more than a few pieces that are not in place, and a
/// slow rank delays only the ranks that it sends to. Heartbeats of a partition start at the rank
/// that reads it. A waiting rank passes on the heartbeats of its parent and sends none of its own;
/// otherwise ranks that all wait could keep each other waiting.
#[derive(Clone, Debug)]
pub struct Relay {
    fills: BTreeMap<PartitionId, Fill>,
    children: BTreeMap<Rank, Child>,
    /// Whether bytes have moved since the last heartbeat.
    moved: bool,
    /// When the last heartbeat was sent.
    beaten: Time,
    /// When this rank last checked for silent ranks.
    looked: Time,
}

/// A partition whose memory this rank fills.
#[derive(Clone, Debug)]
struct Fill {
    parent: Option<Rank>,
    position: usize,
    /// Whether each piece is in place.
    has: Vec<bool>,
    missing: usize,
    /// The ranks that it is sent to, each with its number of unconfirmed pieces.
    children: Vec<(Rank, usize)>,
    /// When the parent last sent something about this partition.
    last_sign: Time,
    /// Whether the parent sent something since the last heartbeat.
    alive: bool,
}

/// A rank that this one sends partitions to.
#[derive(Clone, Debug, Default)]
struct Child {
    /// Pieces to send.
    ready: VecDeque<Piece>,
    /// Pieces sent and not confirmed, in the order of sending.
    sent: VecDeque<Piece>,
    /// Start of its silence: its last message, or the first piece sent to it after a pause.
    last_sign: Time,
}

/// Kind of message for which a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedMessage {
    /// A piece.
    Bytes,
    /// The message that a piece has arrived.
    Confirmation,
}

/// A rank that sent nothing for too long although other ranks wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SilentRank {
    /// The rank.
    pub rank: Rank,
    /// Kind of message for which other ranks wait.
    pub awaited: AwaitedMessage,
    /// The partition.
    pub partition: PartitionId,
    /// Length of the silence.
    pub lasted: Time,
}

impl Relay {
    /// Starts the part of `rank` in these routes, at time `now`.
    pub fn new(rank: Rank, routes: &[Route], now: Time) -> Relay {
        let (mut fills, mut children) = (BTreeMap::new(), BTreeMap::new());
        for route in routes {
            let Some(position) = route.position(rank) else { continue };
            let pieces = Piece::pieces_of_partition(route.partition, route.size).count();
            let below: Vec<_> = route.children(position).map(|child| (child, pieces)).collect();
            for &(child, _) in &below {
                children.insert(child, Child { last_sign: now, ..Child::default() });
            }
            let fill = Fill {
                parent: route.parent(position),
                position,
                has: vec![false; pieces],
                missing: pieces,
                children: below,
                last_sign: now,
                alive: true,
            };
            fills.insert(route.partition, fill);
        }
        Relay { fills, children, moved: true, beaten: now, looked: now }
    }

    /// Notes a piece that is in place: read here, or sent by `from`. Returns false for an
    /// unexpected piece, which the caller ignores.
    #[must_use]
    pub fn note_arrival(&mut self, piece: Piece, from: Option<Rank>, now: Time) -> bool {
        let Some(fill) = self.fills.get_mut(&piece.partition) else { return false };
        match fill.has.get_mut(piece.number as usize) {
            Some(has) if !*has && fill.parent == from => *has = true,
            _ => return false,
        }
        fill.missing -= 1;
        fill.last_sign = now;
        for (child, _) in &fill.children {
            if let Some(child) = self.children.get_mut(child) {
                child.ready.push_back(piece);
            }
        }
        self.moved = true;
        true
    }

    /// Returns the next piece to send and its receiver; `None` if none may be sent now.
    pub fn next_piece(&mut self, now: Time) -> Option<(Rank, Piece)> {
        // The receiver with fewest unconfirmed pieces, so that no subtree waits for others.
        let may =
            |(_, child): &(&Rank, &mut Child)| child.sent.len() < WINDOW && !child.ready.is_empty();
        let (&rank, child) =
            self.children.iter_mut().filter(may).min_by_key(|(_, child)| child.sent.len())?;
        let piece = child.ready.pop_front()?;
        if child.sent.is_empty() {
            child.last_sign = now;
        }
        child.sent.push_back(piece);
        Some((rank, piece))
    }

    /// Notes that `child` has put the oldest unconfirmed piece in place. Returns false if there was
    /// none.
    #[must_use]
    pub fn note_confirmation(&mut self, child: Rank, now: Time) -> bool {
        let Some(state) = self.children.get_mut(&child) else { return false };
        let Some(piece) = state.sent.pop_front() else { return false };
        state.last_sign = now;
        if let Some(fill) = self.fills.get_mut(&piece.partition) {
            for (_, left) in fill.children.iter_mut().filter(|(rank, _)| *rank == child) {
                *left -= 1;
            }
        }
        self.moved = true;
        true
    }

    /// Notes a heartbeat: the parent says that a partition is still coming.
    pub fn note_heartbeat(&mut self, partition: PartitionId, now: Time) {
        if let Some(fill) = self.fills.get_mut(&partition) {
            fill.last_sign = now;
            fill.alive = true;
        }
    }

    /// Returns the heartbeats to send now: receiver and partition.
    pub fn due_heartbeats(&mut self, now: Time) -> Vec<(Rank, PartitionId)> {
        if now.since(self.beaten) < BEAT {
            return Vec::new();
        }
        self.beaten = now;
        let moved = std::mem::take(&mut self.moved);
        let mut beats = Vec::new();
        for (&partition, fill) in &mut self.fills {
            if std::mem::take(&mut fill.alive) || moved {
                let waiting = fill.children.iter().filter(|(_, left)| *left > 0);
                beats.extend(waiting.map(|&(child, _)| (child, partition)));
            }
        }
        beats
    }

    /// Whether everything is in place here, and confirmed by all ranks that this one sends to.
    pub fn is_done(&self) -> bool {
        let done =
            |fill: &Fill| fill.missing == 0 && fill.children.iter().all(|(_, left)| *left == 0);
        self.fills.values().all(done)
    }

    /// Returns a rank that others wait for and that was silent for too long. The driver must call
    /// this function regularly.
    pub fn silent_rank(&mut self, now: Time) -> Option<SilentRank> {
        let slept = now.since(std::mem::replace(&mut self.looked, now)) > BEAT;
        if slept {
            // This rank did not listen meanwhile, so it blames nobody.
            self.fills.values_mut().for_each(|fill| fill.last_sign = now);
            self.children.values_mut().for_each(|child| child.last_sign = now);
        }
        let above =
            self.fills.iter().filter(|(_, fill)| fill.missing > 0).filter_map(|(&id, fill)| {
                let lasted = now.since(fill.last_sign);
                let limit = LIMIT + Time(LATER.0 * fill.position as u64);
                let (rank, awaited) = (fill.parent?, AwaitedMessage::Bytes);
                (lasted > limit).then_some(SilentRank { rank, awaited, partition: id, lasted })
            });
        let below = self.children.iter().filter_map(|(&rank, child)| {
            let (lasted, awaited) = (now.since(child.last_sign), AwaitedMessage::Confirmation);
            let partition = child.sent.front()?.partition;
            (lasted > LIMIT).then_some(SilentRank { rank, awaited, partition, lasted })
        });
        above.chain(below).max_by_key(|silence| silence.lasted)
    }
}
