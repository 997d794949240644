//! The state of one rank while all ranks load a database together.

use std::collections::{BTreeMap, VecDeque};

use super::{Piece, Route};
use crate::ids::{PartitionId, Rank, Time};

/// Most unconfirmed pieces that a rank sends to another. The receiver copies one piece into place
/// while the next is on its way. More pieces would take long on a slow link.
const WINDOW: usize = 2;
/// Interval of heartbeats: messages to waiting ranks that their partition is still coming.
const BEAT: Time = Time(5_000_000_000);
/// Longest silence of a rank for which other ranks wait.
const LIMIT: Time = Time(60_000_000_000);
/// Extra silence allowed for each position in the row. If several ranks wait for each other, the
/// rank next to the cause so reports it first.
const LATER: Time = Time(100_000_000);

/// State of one rank in loading: its pieces, the ranks to which it sends them, and when other ranks
/// last sent something.
///
/// A rank confirms each piece. So no rank holds more than a few pieces that are not in place, and a
/// slow rank delays only the ranks below it. Heartbeats of a partition start at the rank that reads
/// it. A waiting rank passes on the heartbeats of its parent, but sends none of its own. Otherwise
/// ranks that all wait could keep each other waiting.
#[derive(Clone, Debug)]
pub struct LoadingState {
    fills: BTreeMap<PartitionId, Fill>,
    children: BTreeMap<Rank, Child>,
    /// Whether this rank received pieces or confirmations since it last sent heartbeats.
    moved: bool,
    /// Time of the last heartbeats that this rank sent.
    beaten: Time,
    /// Time of this rank's last check for silent ranks.
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
    /// The ranks to which this rank sends the partition, each with its number of unconfirmed
    /// pieces.
    children: Vec<(Rank, usize)>,
    /// Time when the parent last sent something about this partition.
    last_sign: Time,
    /// Whether the parent has sent a heartbeat of this partition since this rank last sent
    /// heartbeats.
    alive: bool,
}

/// A rank to which this rank sends partitions.
#[derive(Clone, Debug, Default)]
struct Child {
    /// Pieces to send.
    ready: VecDeque<Piece>,
    /// Pieces sent and not confirmed, in the order of sending.
    sent: VecDeque<Piece>,
    /// Start of the child's silence: its last message, or the first piece sent to it after a pause.
    last_sign: Time,
}

/// Kind of message for which a rank waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedMessage {
    /// A piece of a partition.
    Bytes,
    /// The confirmation that a piece is in place.
    Confirmation,
}

/// A rank that sent nothing for too long although this rank waits for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SilentRank {
    /// The rank.
    pub rank: Rank,
    /// Kind of the message that did not arrive.
    pub awaited: AwaitedMessage,
    /// The partition to which the message belongs.
    pub partition: PartitionId,
    /// Length of the silence.
    pub lasted: Time,
}

impl LoadingState {
    /// Creates the state of `rank` for these routes, at time `now`.
    pub fn new(rank: Rank, routes: &[Route], now: Time) -> LoadingState {
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
        LoadingState { fills, children, moved: true, beaten: now, looked: now }
    }

    /// Notes that a piece is in place: this rank read it, or `from` sent it. Returns false for an
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

    /// Returns the next piece to send and its receiver, or `None` if no piece may be sent now.
    pub fn next_piece(&mut self, now: Time) -> Option<(Rank, Piece)> {
        // The receiver with the fewest unconfirmed pieces comes first, so that no subtree waits for
        // others.
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

    /// Notes that `child` has put its oldest unconfirmed piece in place. Returns false if it had no
    /// unconfirmed piece.
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

    /// Notes a heartbeat from the parent: the partition is still coming.
    pub fn note_heartbeat(&mut self, partition: PartitionId, now: Time) {
        if let Some(fill) = self.fills.get_mut(&partition) {
            fill.last_sign = now;
            fill.alive = true;
        }
    }

    /// Returns the heartbeats to send now, each with its receiver and its partition.
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

    /// Whether all pieces are in place on this rank, and all ranks to which this rank sends have
    /// confirmed them.
    pub fn is_done(&self) -> bool {
        let done =
            |fill: &Fill| fill.missing == 0 && fill.children.iter().all(|(_, left)| *left == 0);
        self.fills.values().all(done)
    }

    /// Returns the rank with the longest silence above the limit, among the ranks for which this
    /// rank waits. The driver must call this function regularly.
    pub fn silent_rank(&mut self, now: Time) -> Option<SilentRank> {
        let slept = now.since(std::mem::replace(&mut self.looked, now)) > BEAT;
        if slept {
            // This rank did not receive messages meanwhile, so it counts the silence until now for
            // no rank.
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
