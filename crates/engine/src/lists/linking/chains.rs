//! Maintains the best chains of HSPs while HSPs are removed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::points::{Points, Region};
use super::{Method, Trimmed};

/// The best chain that begins with an HSP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Chain {
    /// Index of the chain's next HSP. It is lower than that of the first one, as later HSPs in the
    /// query have lower indexes.
    pub next: Option<usize>,
    pub count: u32,
    /// Sum of the scores, less the cut-off for each HSP.
    pub sum: i32,
    pub normalised: f64,
}

/// The best chain that begins with each of the remaining HSPs.
///
/// A chain stays the best one until one of its HSPs is removed, as removing makes no other chain
/// better. So only the chains through removed HSPs are searched again.
///
/// A chain with a sum of 0 or less makes a longer chain worse, so that its first HSP does not
/// become the next HSP of another one. But if the sum of a chain's present next HSP falls to 0 or
/// below, BLAST+ may keep it, as a new search begins with the present next HSP.
#[derive(Debug)]
pub(super) struct Chains<'a> {
    method: Method,
    hsps: &'a [Trimmed],
    chains: Vec<Chain>,
    /// The starts of the remaining HSPs, with the sums of their chains.
    points: Points,
    /// For each HSP, the HSPs whose best chain continues, or once continued, with it.
    before: Vec<Vec<usize>>,
    /// The HSPs whose chains must be searched again.
    stale: BinaryHeap<Reverse<usize>>,
    /// For each HSP, whether it is in `stale` or has been removed.
    is_stale: Vec<bool>,
    /// For each HSP, whether it has been removed.
    is_removed: Vec<bool>,
    /// The HSPs that have been removed since the last update.
    removed: Vec<usize>,
}

impl<'a> Chains<'a> {
    /// Creates the chains of HSPs, which are sorted from the last in the query to the first.
    pub fn new(method: Method, hsps: &'a [Trimmed]) -> Chains<'a> {
        let mut chains = Chains {
            method,
            hsps,
            chains: vec![Chain::default(); hsps.len()],
            points: Points::new(hsps.iter().map(|hsp| [hsp.q_start, hsp.s_start]).collect()),
            before: vec![Vec::new(); hsps.len()],
            stale: BinaryHeap::new(),
            is_stale: vec![false; hsps.len()],
            is_removed: vec![false; hsps.len()],
            removed: Vec::new(),
        };
        (0..hsps.len()).for_each(|place| chains.search(place));
        chains
    }

    /// Returns the first HSP of the best of all chains; among equal chains the one that is first in
    /// the query. Chains through HSPs that have been removed count until the next update.
    pub fn best(&self) -> Option<usize> {
        self.points.highest()
    }

    /// Returns the chain that begins with an HSP.
    pub fn chain(&self, place: usize) -> &Chain {
        &self.chains[place]
    }

    /// Iterates over the HSPs of a chain.
    pub fn members(&self, first: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(first), |&place| self.chains[place].next)
    }

    /// Returns whether no HSP of a chain has been removed.
    pub fn is_whole(&self, first: usize) -> bool {
        self.members(first).all(|place| !self.is_removed[place])
    }

    /// Removes HSPs.
    pub fn remove(&mut self, places: &[usize]) {
        for &place in places {
            self.points.set(place, None);
            self.is_removed[place] = true;
            self.is_stale[place] = true;
        }
        self.removed.extend(places);
    }

    /// Searches anew for the best chains that begin with remaining HSPs and contained a removed
    /// one.
    pub fn update(&mut self) {
        for place in std::mem::take(&mut self.removed) {
            self.mark_before(place);
        }
        // HSPs further right come first, so that a chain is built from chains that are up to date.
        while let Some(Reverse(place)) = self.stale.pop() {
            self.is_stale[place] = false;
            self.search(place);
            self.mark_before(place);
        }
    }

    /// Marks as stale the chains in which this HSP is the next one. Removed HSPs keep their marks.
    fn mark_before(&mut self, place: usize) {
        let Chains { chains, before, stale, is_stale, .. } = self;
        before[place].retain(|&other| {
            let is_new = chains[other].next == Some(place) && !is_stale[other];
            if is_new {
                is_stale[other] = true;
                stale.push(Reverse(other));
            }
            is_new
        });
    }

    /// Searches for the best chain that begins with an HSP.
    fn search(&mut self, place: usize) {
        let hsp = &self.hsps[place];
        let mut next = None;
        if hsp.score > self.method.cutoff {
            let followers = self.method.followers(hsp, place);
            let remains = self.chains[place].next.is_some_and(|next| !self.is_removed[next]);
            next = match remains && !self.method.is_near {
                true => self.points.highest_in(&followers),
                false => self.points.highest_positive_in(&followers),
            };
        }
        let rest = next.map_or_else(Chain::default, |next| self.chains[next]);
        let chain = Chain {
            next,
            count: rest.count + 1,
            sum: rest.sum + (hsp.score - self.method.cutoff),
            normalised: rest.normalised + hsp.scaled - hsp.log_k,
        };
        if let Some(next) = next.filter(|_| next != self.chains[place].next) {
            self.before[next].push(place);
        }
        self.chains[place] = chain;
        self.points.set(place, Some(chain.sum));
    }
}

impl Method {
    /// Returns the region of the starts of the HSPs that may follow `hsp` in a chain.
    fn followers(self, hsp: &Trimmed, place: usize) -> Region {
        let after = [hsp.q_end, hsp.s_end];
        let last = match self.is_near {
            true => after.map(|position| position + super::WINDOW),
            false => [i32::MAX; 2],
        };
        Region { after, last, numbers: place }
    }
}
