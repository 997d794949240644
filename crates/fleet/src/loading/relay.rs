//! What one rank does while a database is loaded.

use std::collections::{BTreeMap, VecDeque};

use super::{Piece, Route};
use crate::ids::{PartitionId, Rank, Time};

/// Pieces that a rank may be sent by another before it has confirmed the first of them: one is put in place while the next
/// is on its way. More would take long on a slow link.
const WINDOW: usize = 2;
/// How often ranks that wait are told that their partition is still coming.
const BEAT: Time = Time(5_000_000_000);
/// Longest silence of a rank that others wait for.
const LIMIT: Time = Time(60_000_000_000);
/// What is waited longer for each position down the row: of those that wait for each other, the one next to the cause
/// shall tell it.
const LATER: Time = Time(100_000_000);

/// One rank's part of the loading: what it has, to whom it passes that on, and whether the others are alive.
///
/// A rank confirms each piece, so that it need never hold more than a few that it has not put in place, and a slow rank
/// holds up nobody but those that it sends to. The life of a partition comes from the rank that reads it: a rank that waits
/// passes on the beats of what it waits for, not beats of its own, so that ranks that all wait cannot keep each other waiting.
#[derive(Clone, Debug)]
pub struct Relay {
    fills: BTreeMap<PartitionId, Fill>,
    children: BTreeMap<Rank, Child>,
    /// Bytes have moved since the last beat.
    moved: bool,
    /// When the last beat was given.
    beaten: Time,
    /// When this rank last looked whether somebody is silent.
    looked: Time,
}

/// A partition whose memory this rank fills.
#[derive(Clone, Debug)]
struct Fill {
    parent: Option<Rank>,
    position: usize,
    /// For each piece whether it is in place.
    has: Vec<bool>,
    missing: usize,
    /// To whom it goes, and how many pieces these have not confirmed.
    children: Vec<(Rank, usize)>,
    /// When the parent last gave a sign of this partition.
    heard: Time,
    /// It did since the last beat.
    alive: bool,
}

/// A rank that gets partitions from this one.
#[derive(Clone, Debug, Default)]
struct Child {
    /// Pieces that it shall get.
    ready: VecDeque<Piece>,
    /// Pieces that it was sent and has not confirmed, in that order.
    sent: VecDeque<Piece>,
    /// When it last gave a sign, or was first sent something after a pause.
    heard: Time,
}

/// What a silent rank is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// A piece.
    Bytes,
    /// Its word that a piece has arrived.
    Confirmation,
}

/// A rank that others wait for, and that has been silent for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// The rank.
    pub rank: Rank,
    /// What it does not bring.
    pub awaited: Awaited,
    /// The partition.
    pub partition: PartitionId,
    /// How long it has been silent.
    pub lasted: Time,
}

impl Relay {
    /// The part of `rank` in these routes, from `now` on.
    pub fn new(rank: Rank, routes: &[Route], now: Time) -> Relay {
        let (mut fills, mut children) = (BTreeMap::new(), BTreeMap::new());
        for route in routes {
            let Some(position) = route.position(rank) else { continue };
            let pieces = Piece::all(route.partition, route.size).count();
            let below: Vec<_> = route.children(position).map(|child| (child, pieces)).collect();
            for &(child, _) in &below {
                children.insert(child, Child { heard: now, ..Child::default() });
            }
            let fill = Fill {
                parent: route.parent(position),
                position,
                has: vec![false; pieces],
                missing: pieces,
                children: below,
                heard: now,
                alive: true,
            };
            fills.insert(route.partition, fill);
        }
        Relay { fills, children, moved: true, beaten: now, looked: now }
    }

    /// Takes note of a piece that is in place now: read here, or sent by `from`. False if nobody was to bring it: it is to be
    /// ignored.
    #[must_use]
    pub fn arrived(&mut self, piece: Piece, from: Option<Rank>, now: Time) -> bool {
        let Some(fill) = self.fills.get_mut(&piece.partition) else { return false };
        match fill.has.get_mut(piece.number as usize) {
            Some(has) if !*has && fill.parent == from => *has = true,
            _ => return false,
        }
        fill.missing -= 1;
        fill.heard = now;
        for (child, _) in &fill.children {
            if let Some(child) = self.children.get_mut(child) {
                child.ready.push_back(piece);
            }
        }
        self.moved = true;
        true
    }

    /// The next piece to send, and to whom; `None` if all that may be sent now is.
    pub fn next(&mut self, now: Time) -> Option<(Rank, Piece)> {
        // To whom least is under way, so that no subtree waits for others.
        let may =
            |(_, child): &(&Rank, &mut Child)| child.sent.len() < WINDOW && !child.ready.is_empty();
        let (&rank, child) =
            self.children.iter_mut().filter(may).min_by_key(|(_, child)| child.sent.len())?;
        let piece = child.ready.pop_front()?;
        if child.sent.is_empty() {
            child.heard = now;
        }
        child.sent.push_back(piece);
        Some((rank, piece))
    }

    /// `child` has put the first of the pieces in place that it was sent. False if there was none.
    #[must_use]
    pub fn confirmed(&mut self, child: Rank, now: Time) -> bool {
        let Some(state) = self.children.get_mut(&child) else { return false };
        let Some(piece) = state.sent.pop_front() else { return false };
        state.heard = now;
        if let Some(fill) = self.fills.get_mut(&piece.partition) {
            for (_, left) in fill.children.iter_mut().filter(|(rank, _)| *rank == child) {
                *left -= 1;
            }
        }
        self.moved = true;
        true
    }

    /// A partition is still coming, says the rank it comes from.
    pub fn beat(&mut self, partition: PartitionId, now: Time) {
        if let Some(fill) = self.fills.get_mut(&partition) {
            fill.heard = now;
            fill.alive = true;
        }
    }

    /// Who is to be told now that a partition is still coming.
    pub fn beats(&mut self, now: Time) -> Vec<(Rank, PartitionId)> {
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

    /// Everything is in place here, and at those that got it from here.
    pub fn is_done(&self) -> bool {
        let done =
            |fill: &Fill| fill.missing == 0 && fill.children.iter().all(|(_, left)| *left == 0);
        self.fills.values().all(done)
    }

    /// A rank that was silent for too long while it was waited for. To be asked all the time.
    pub fn silent(&mut self, now: Time) -> Option<Silence> {
        let slept = now.since(std::mem::replace(&mut self.looked, now)) > BEAT;
        if slept {
            // Nobody is blamed for a silence during which this rank did not listen.
            self.fills.values_mut().for_each(|fill| fill.heard = now);
            self.children.values_mut().for_each(|child| child.heard = now);
        }
        let above =
            self.fills.iter().filter(|(_, fill)| fill.missing > 0).filter_map(|(&id, fill)| {
                let lasted = now.since(fill.heard);
                let limit = LIMIT + Time(LATER.0 * fill.position as u64);
                let (rank, awaited) = (fill.parent?, Awaited::Bytes);
                (lasted > limit).then_some(Silence { rank, awaited, partition: id, lasted })
            });
        let below = self.children.iter().filter_map(|(&rank, child)| {
            let (lasted, awaited) = (now.since(child.heard), Awaited::Confirmation);
            let partition = child.sent.front()?.partition;
            (lasted > LIMIT).then_some(Silence { rank, awaited, partition, lasted })
        });
        above.chain(below).max_by_key(|silence| silence.lasted)
    }
}
