//! The contexts of a batch of queries, concatenated.

use std::ops::Range;

use fleetblast_seq::nucleotide::blastna::SENTINEL;
use serde::{Deserialize, Serialize};

/// Number of letters above which BLAST+ keeps the state of diagonals in a hash.
const LONG: u32 = 8000;

/// Concatenated contexts of a batch, of a chunk of it, or of some of its queries. A sentinel stands
/// before, between and after them. Letters of neighbouring contexts may surround them.
///
/// The first context starts at 0, or after the neighbours before it. A context starts after the
/// sentinel that ends the context before it. After an empty context it starts at the same position.
#[derive(Clone, Debug)]
pub(crate) struct Contexts {
    letters: Vec<u8>,
    spans: Vec<Span>,
    bounds: Bounds,
    /// Whether the batch has further letters before the known ones, and after them.
    more: (bool, bool),
    /// Number of neighbouring contexts before the first context that is searched.
    others: usize,
}

/// Letters of other contexts on one side of the contexts that are searched, with their sentinels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Neighbours {
    /// The nearest letters, in sequence order. Letters before the contexts end with a sentinel;
    /// letters after them begin after their last sentinel.
    pub letters: Vec<u8>,
    /// Whether the batch has further letters beyond `letters`.
    pub is_truncated: bool,
    /// Neighbouring contexts before the contexts that are searched. Their words may be the first of
    /// two hits; segments found in these contexts are dropped.
    pub contexts_before: Vec<NeighbourContext>,
}

/// A neighbouring context, or the end of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NeighbourContext {
    /// Start of the context among the neighbouring letters.
    pub start: u32,
    /// Number of known letters of the context.
    pub length: u32,
    /// Ranges of the letters where words may be indexed.
    pub regions: Vec<Range<u32>>,
    /// Score limits of the context; `None` if it is not valid.
    pub limits: Option<UngappedLimits>,
}

impl Neighbours {
    /// Appends letters until there are `most` in all. Sets `is_truncated` if letters are left over.
    pub fn extend_to<'a>(&mut self, letters: impl Iterator<Item = &'a u8>, most: usize) {
        for &letter in letters {
            if self.letters.len() == most {
                self.is_truncated = true;
                return;
            }
            self.letters.push(letter);
        }
    }
}

/// Returns whether BLAST+ uses the hash of diagonals for contexts that end at `end`. If the last
/// context is empty, the sentinel before it counts as well.
pub(super) fn are_long(end: u32) -> bool {
    end > LONG
}

/// Bounds of the score limits of all valid contexts. Most seeds fail these bounds, so that their
/// context need not be found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The X-drop, if it is the same for all contexts.
    pub x_drop: Option<i32>,
    /// The lowest X-drop and the lowest cut-off of all valid contexts.
    pub lowest: UngappedLimits,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    offset: u32,
    length: u32,
    limits: Option<UngappedLimits>,
}

/// Score limits of ungapped extensions in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UngappedLimits {
    /// Greatest drop of the score that does not stop an extension.
    pub x_drop: i32,
    /// The least score of a segment that is kept.
    pub cutoff: i32,
}

impl UngappedLimits {
    /// Returns the least score of an approximate extension that is repeated exactly.
    pub fn reduced_cutoff(&self) -> i32 {
        (0.8 * f64::from(self.cutoff)) as i32
    }
}

impl Bounds {
    fn from_limits(limits: impl Iterator<Item = UngappedLimits>) -> Bounds {
        let mut lowest = UngappedLimits { x_drop: i32::MAX, cutoff: i32::MAX };
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
    /// Concatenates contexts. An item has the blastna codes of a context (empty for a strand that
    /// is not searched), and the score limits of the context if it is valid.
    pub fn new<'a>(
        contexts: impl IntoIterator<Item = (&'a [u8], Option<UngappedLimits>)>,
    ) -> Contexts {
        let nothing = Neighbours::default();
        Contexts::with_neighbours(&nothing, contexts, &nothing)
    }

    /// Concatenates contexts between their neighbours.
    pub fn with_neighbours<'a>(
        before: &Neighbours,
        contexts: impl IntoIterator<Item = (&'a [u8], Option<UngappedLimits>)>,
        after: &Neighbours,
    ) -> Contexts {
        let mut letters = vec![SENTINEL];
        letters.extend_from_slice(&before.letters);
        let other = |&NeighbourContext { start: offset, length, limits, .. }: &NeighbourContext| {
            Span { offset, length, limits }
        };
        let mut spans: Vec<Span> = before.contexts_before.iter().map(other).collect();
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
        let bounds = Bounds::from_limits(spans.iter().filter_map(|span| span.limits));
        Contexts { letters, spans, bounds, more: (before.is_truncated, after.is_truncated), others }
    }

    /// Returns bounds of the score limits of all contexts.
    pub(super) fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Returns the number of letters between the first sentinel and the last one.
    pub fn length(&self) -> u32 {
        (self.letters.len() as u32).saturating_sub(2)
    }

    /// Returns the letters from position 0 on, ending with a sentinel.
    pub fn letters(&self) -> &[u8] {
        &self.letters[1..]
    }

    /// Returns whether the batch has further letters before the known ones, and after them.
    pub(super) fn truncated_neighbours(&self) -> (bool, bool) {
        self.more
    }

    /// Returns the number of the context at a position, not counting neighbours; `None` within a
    /// neighbour.
    pub fn searched_context_at(&self, place: u32) -> Option<usize> {
        self.context_at(place).checked_sub(self.others)
    }

    /// Returns the start of a context, whose number does not count neighbours.
    pub fn own_start(&self, context: usize) -> u32 {
        self.start(self.others + context)
    }

    /// Returns the number of the context of a position, counting neighbours: the last context that
    /// starts there or before. The position just after a context belongs to it.
    pub fn context_at(&self, place: u32) -> usize {
        self.spans.partition_point(|span| span.offset <= place).saturating_sub(1)
    }

    /// Returns the start of a context, whose number counts neighbours.
    pub fn start(&self, context: usize) -> u32 {
        self.spans[context].offset
    }

    /// Returns the end of a context, whose number counts neighbours.
    pub fn end(&self, context: usize) -> u32 {
        let span = &self.spans[context];
        span.offset + span.length
    }

    /// Returns the score limits of a context, whose number counts neighbours; `None` if it is not
    /// valid.
    pub fn limits(&self, context: usize) -> Option<UngappedLimits> {
        self.spans[context].limits
    }

    /// Packs the lower two bits of each letter, four letters a byte, the first in the high bits.
    pub(super) fn packed(&self) -> Vec<u8> {
        let pack = |four: &[u8]| {
            let bits = |(i, &code): (usize, &u8)| (code & 3) << (6 - 2 * i);
            four.iter().enumerate().map(bits).fold(0, |byte, bits| byte | bits)
        };
        self.letters().chunks(4).map(pack).collect()
    }
}
