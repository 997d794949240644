//! The best chains of HSPs, as HSPs are taken away.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::points::{Points, Question};
use super::{Method, Rules, Trimmed};

/// The best chain that begins with an HSP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Chain {
    /// The HSP after it: one before it in the list.
    pub next: Option<usize>,
    pub count: u32,
    /// Scores, less the cut-off for each.
    pub sum: i32,
    pub normalised: f64,
}

/// The best chain that begins with each of the HSPs that are left.
///
/// A chain stays the best one until one of its HSPs is taken away, as that makes no other chain
/// better. So only the chains through those are looked for anew.
#[derive(Debug)]
pub(super) struct Chains<'a> {
    method: Method,
    rules: &'a Rules,
    hsps: &'a [Trimmed],
    chains: Vec<Chain>,
    /// The HSPs that are left, where they begin, with the sums of their chains.
    points: Points,
    /// Of each HSP those that it follows, or that it followed once.
    before: Vec<Vec<usize>>,
    /// Whose chains are looked for anew, and a mark for each.
    stale: BinaryHeap<Reverse<usize>>,
    is_stale: Vec<bool>,
}

impl<'a> Chains<'a> {
    /// The chains of HSPs, of which the last in the query comes first.
    pub fn new(method: Method, hsps: &'a [Trimmed], rules: &'a Rules) -> Chains<'a> {
        let mut chains = Chains {
            method,
            rules,
            hsps,
            chains: vec![Chain::default(); hsps.len()],
            points: Points::new(hsps.iter().map(|hsp| [hsp.q_start, hsp.s_start]).collect()),
            before: vec![Vec::new(); hsps.len()],
            stale: BinaryHeap::new(),
            is_stale: vec![false; hsps.len()],
        };
        (0..hsps.len()).for_each(|place| chains.search(place));
        chains
    }

    /// Where the best of all chains begins; of equal ones that of the first in the query.
    pub fn best(&self) -> Option<usize> {
        self.points.highest()
    }

    pub fn chain(&self, place: usize) -> &Chain {
        &self.chains[place]
    }

    /// Takes HSPs away.
    pub fn remove(&mut self, places: &[usize]) {
        for &place in places {
            self.points.set(place, None);
            self.is_stale[place] = true;
        }
        for &place in places {
            self.mark_before(place);
        }
        // Those that follow come first, so that a chain is made of chains that are up to date.
        while let Some(Reverse(place)) = self.stale.pop() {
            self.is_stale[place] = false;
            self.search(place);
            self.mark_before(place);
        }
    }

    /// Marks the chains that go on with that of an HSP. Those taken away keep their marks.
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

    /// Looks for the best chain that begins with an HSP.
    fn search(&mut self, place: usize) {
        let hsp = &self.hsps[place];
        let mut next = None;
        if hsp.score > self.method.cutoff {
            next = self.points.highest_of(&self.method.followers(hsp, place));
        }
        let rest = next.map_or_else(Chain::default, |next| self.chains[next]);
        let chain = Chain {
            next,
            count: rest.count + 1,
            sum: rest.sum + (hsp.score - self.method.cutoff),
            normalised: rest.normalised + f64::from(hsp.score) * self.rules.lambda
                - self.rules.log_k,
        };
        if let Some(next) = next.filter(|_| next != self.chains[place].next) {
            self.before[next].push(place);
        }
        self.chains[place] = chain;
        self.points.set(place, Some(chain.sum));
    }
}

impl Method {
    /// The HSPs that may follow one in a chain.
    fn followers(self, hsp: &Trimmed, place: usize) -> Question {
        let after = [hsp.q_end, hsp.s_end];
        let last = match self.is_near {
            true => after.map(|position| position + super::WINDOW),
            false => [i32::MAX; 2],
        };
        Question { after, last, numbers: place }
    }
}
