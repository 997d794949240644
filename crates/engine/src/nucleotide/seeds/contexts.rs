//! The contexts of a batch of queries, one after another.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna::SENTINEL;
use serde::{Deserialize, Serialize};

/// Beyond this BLAST+ remembers diagonals in a hash.
const LONG: u32 = 8000;

/// The contexts of a batch, of a chunk of it, or of a run of its queries, laid one after another with a sentinel before, between and
/// after them, and perhaps with letters of the others beside them.
///
/// The first context starts at 0, or after what is beside it; the next one after the sentinel that follows it, or at the same place if it is
/// empty.
#[derive(Clone, Debug)]
pub(crate) struct Contexts {
    letters: Vec<u8>,
    spans: Vec<Span>,
    bounds: Bounds,
    /// There is more than these letters, before and after them.
    more: (bool, bool),
    /// So many spans are of others beside them.
    others: usize,
}

/// What lies beside contexts: letters of others, with their sentinels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beside {
    /// The nearest letters, in their order; those before a context end with its sentinel, those after it begin after its sentinel.
    pub letters: Vec<u8>,
    /// There are more.
    pub more: bool,
    /// Contexts before, whose words may be the first hits of pairs; their segments are of no interest.
    pub others: Vec<Other>,
}

/// A context beside others, or the end of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Other {
    /// Where it starts among the letters.
    pub start: u32,
    /// Its letters.
    pub length: u32,
    /// Where among the letters words may be indexed.
    pub regions: Vec<Range<u32>>,
    /// What it is measured by, if it is valid.
    pub limits: Option<Limits>,
}

impl Beside {
    /// Adds further letters, as long as there are not more than so many.
    pub fn take<'a>(&mut self, letters: impl Iterator<Item = &'a u8>, most: usize) {
        for &letter in letters {
            if self.letters.len() == most {
                self.more = true;
                return;
            }
            self.letters.push(letter);
        }
    }
}

/// Whether contexts that end there are so long that BLAST+ remembers diagonals in a hash. If the last context is empty, the sentinel
/// before it counts as well.
pub(super) fn are_long(end: u32) -> bool {
    end > LONG
}

/// What can be said of the limits of all valid contexts, so that nobody must find the context of what comes to nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The drop, if it is the same for all.
    pub x_drop: Option<i32>,
    /// The lowest of the limits.
    pub lowest: Limits,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    offset: u32,
    length: u32,
    limits: Option<Limits>,
}

/// What an ungapped extension in a context is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// An extension stops where its score has fallen by more than this.
    pub x_drop: i32,
    /// A segment is kept from this score on.
    pub cutoff: i32,
}

impl Limits {
    /// From this score on an approximate extension is done again exactly.
    pub fn reduced_cutoff(&self) -> i32 {
        (0.8 * f64::from(self.cutoff)) as i32
    }
}

impl Bounds {
    fn of(limits: impl Iterator<Item = Limits>) -> Bounds {
        let mut lowest = Limits { x_drop: i32::MAX, cutoff: i32::MAX };
        let mut highest = i32::MIN;
        for limits in limits {
            lowest.x_drop = lowest.x_drop.min(limits.x_drop);
            lowest.cutoff = lowest.cutoff.min(limits.cutoff);
            highest = highest.max(limits.x_drop);
        }
        Bounds { x_drop: (lowest.x_drop == highest).then_some(highest), lowest }
    }
}

impl Contexts {
    /// Lays contexts one after another. Each is its blastna codes, empty for a strand that was not asked for, and its limits if it
    /// is valid.
    pub fn new<'a>(contexts: impl IntoIterator<Item = (&'a [u8], Option<Limits>)>) -> Contexts {
        let nothing = Beside::default();
        Contexts::beside(&nothing, contexts, &nothing)
    }

    /// The same with what lies beside them.
    pub fn beside<'a>(
        before: &Beside,
        contexts: impl IntoIterator<Item = (&'a [u8], Option<Limits>)>,
        after: &Beside,
    ) -> Contexts {
        let mut letters = vec![SENTINEL];
        letters.extend_from_slice(&before.letters);
        let other =
            |&Other { start: offset, length, limits, .. }: &Other| Span { offset, length, limits };
        let mut spans: Vec<Span> = before.others.iter().map(other).collect();
        let others = spans.len();
        for (codes, limits) in contexts {
            let (offset, length) = (letters.len() as u32 - 1, codes.len() as u32);
            spans.push(Span { offset, length, limits });
            if !codes.is_empty() {
                letters.extend_from_slice(codes);
                letters.push(SENTINEL);
            }
        }
        if !after.letters.is_empty() {
            letters.extend_from_slice(&after.letters);
            if letters.last() != Some(&SENTINEL) {
                letters.push(SENTINEL);
            }
        }
        let bounds = Bounds::of(spans.iter().filter_map(|span| span.limits));
        Contexts { letters, spans, bounds, more: (before.more, after.more), others }
    }

    /// What can be said of the limits of all contexts.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Number of letters between the first sentinel and the last one.
    pub fn length(&self) -> u32 {
        (self.letters.len() as u32).saturating_sub(2)
    }

    /// The letters, from that of place 0 on; a sentinel is the last one.
    pub fn letters(&self) -> &[u8] {
        &self.letters[1..]
    }

    /// Whether there is more than the letters that are known, before and after them.
    pub(super) fn more(&self) -> (bool, bool) {
        self.more
    }

    /// Which of the contexts, without those beside them, a place lies in; `None` if it is one of those.
    pub fn own(&self, place: u32) -> Option<usize> {
        self.at(place).checked_sub(self.others)
    }

    /// Where one of the contexts starts, without counting those beside them.
    pub fn own_start(&self, context: usize) -> u32 {
        self.start(self.others + context)
    }

    /// Number of the context of a place: the last one that starts there or before. The place just after a context belongs to it.
    pub fn at(&self, place: u32) -> usize {
        self.spans.partition_point(|span| span.offset <= place).saturating_sub(1)
    }

    /// Where a context starts.
    pub fn start(&self, context: usize) -> u32 {
        self.spans[context].offset
    }

    /// Where a context ends.
    pub fn end(&self, context: usize) -> u32 {
        let span = &self.spans[context];
        span.offset + span.length
    }

    /// The limits of a context, if it is valid.
    pub fn limits(&self, context: usize) -> Option<Limits> {
        self.spans[context].limits
    }

    /// The lower two bits of each letter, four letters a byte, the first in the high bits.
    pub(super) fn packed(&self) -> Vec<u8> {
        let pack = |four: &[u8]| {
            let bits = |(i, &code): (usize, &u8)| (code & 3) << (6 - 2 * i);
            four.iter().enumerate().map(bits).fold(0, |byte, bits| byte | bits)
        };
        self.letters().chunks(4).map(pack).collect()
    }
}
