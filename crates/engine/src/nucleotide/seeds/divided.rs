//! Finds the ungapped segments of a long subject with all threads of the current pool.
//!
//! What becomes of a seed depends on earlier seeds on diagonals that share its bucket in BLAST+'s
//! hash ([`HashedDiagonals`]), and on nothing else. So the threads first scan pieces of the
//! subject, and sort the seeds into classes of buckets. Then they process one class each, in the
//! order of subject positions.

use std::ops::Range;

use rayon::prelude::*;

use super::diagonals::{BUCKETS, HashedDiagonals};
use super::finder::Finder;
use super::scan::{Candidates, ScanPositions};
use super::subject_scan::{SeedReceiver, SubjectScan};
use super::{Seeds, Segment};

/// Least number of pairs of query and subject positions for which division pays. A word of 11 bases
/// matches by chance at one of four million pairs.
const LEAST_PAIRS: u64 = 1 << 42;
/// Number of pieces and of classes for each thread, so that all threads have about as much to do.
const SHARES_PER_THREAD: usize = 4;
/// Greatest number of scanned positions in a piece.
const MOST_POSITIONS: u32 = 1 << 16;
/// Number of seeds after which a piece ends early, to bound the memory for repeats.
const MOST_SEEDS: usize = 1 << 20;
/// Bit of a stored subject position that marks a seed that is too weak.
const TOO_WEAK: u32 = 1 << 31;

/// How the work is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// Number of pieces that are scanned before their seeds are processed.
    pub pieces: usize,
    /// Number of classes of diagonals: a power of two, at most [`BUCKETS`].
    pub classes: usize,
    /// Greatest number of scanned positions in a piece: a multiple of 4.
    pub positions: u32,
    /// Number of seeds after which a piece ends early.
    pub seeds: usize,
}

/// The seeds of a piece of the subject.
struct PieceSeeds {
    /// Query and subject positions for each class, in the order in which the scan found them.
    classes: Vec<Vec<[u32; 2]>>,
    count: usize,
    most: usize,
    /// Positions that were not scanned because there are too many seeds.
    rest: ScanPositions,
}

/// State of the diagonals of a class, and what was found on them.
#[derive(Default)]
struct DiagonalClass {
    diagonals: HashedDiagonals,
    segments: Vec<Segment>,
    reached_unknown_letters: bool,
}

impl PieceSeeds {
    fn scan(
        scan: SubjectScan<'_>,
        places: ScanPositions,
        division: Division,
        candidates: &mut Candidates,
    ) -> PieceSeeds {
        let classes = vec![Vec::new(); division.classes];
        let mut seeds = PieceSeeds { classes, count: 0, most: division.seeds, rest: places };
        seeds.rest = scan.scan(places, candidates, &mut seeds);
        seeds
    }

    #[inline(always)]
    fn store(&mut self, q: u32, s: u32, flag: u32) {
        let class = s.wrapping_sub(q) as usize & (self.classes.len() - 1);
        self.classes[class].push([q, s | flag]);
        self.count += 1;
    }
}

impl SeedReceiver for PieceSeeds {
    #[inline(always)]
    fn word(&mut self, q: u32, s: u32) {
        self.store(q, s, 0);
    }

    #[inline(always)]
    fn whole_seed(&mut self, q: u32, s: u32, is_too_weak: bool) {
        self.store(q, s, if is_too_weak { TOO_WEAK } else { 0 });
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.count >= self.most
    }
}

impl DiagonalClass {
    /// Processes the seeds of the class number `class` in these pieces. `end` is the end of the
    /// unmasked range of the subject.
    fn process(
        &mut self,
        scan: SubjectScan<'_>,
        (window, end): (i32, u32),
        pieces: &[PieceSeeds],
        class: usize,
    ) {
        let mut finder = Finder {
            scan,
            window,
            end,
            diagonals: &mut self.diagonals,
            out: &mut self.segments,
            reached_unknown_letters: self.reached_unknown_letters,
        };
        let are_whole = scan.finds_whole_seeds();
        for &[q, s] in pieces.iter().flat_map(|piece| &piece.classes[class]) {
            match are_whole {
                true => finder.whole_seed(q, s & !TOO_WEAK, s & TOO_WEAK != 0),
                false => finder.word(q, s),
            }
        }
        self.reached_unknown_letters = finder.reached_unknown_letters;
    }
}

impl Seeds {
    /// Returns how the threads of the current pool divide the search of a subject; `None` if one
    /// thread searches it.
    pub(super) fn division(&self, scan: &SubjectScan<'_>) -> Option<Division> {
        let pairs = u64::from(scan.contexts.length()) * u64::from(scan.subject.length());
        // With a range of diagonals a seed depends on hits in other buckets.
        if !self.long || self.off_diagonal_range > 0 || pairs < LEAST_PAIRS {
            return None;
        }
        let threads = rayon::current_num_threads();
        let shares = SHARES_PER_THREAD * threads;
        (threads > 1).then_some(Division {
            pieces: shares,
            classes: shares.next_power_of_two().min(BUCKETS),
            positions: MOST_POSITIONS,
            seeds: MOST_SEEDS,
        })
    }

    /// Finds the segments of a subject and adds them to `out`, those of a diagonal in the order in
    /// which they are found. Returns whether an extension reached unknown letters.
    pub(super) fn find_divided(
        &self,
        scan: SubjectScan<'_>,
        window: i32,
        regions: Option<&[Range<u32>]>,
        division: Division,
        out: &mut Vec<Segment>,
    ) -> bool {
        let mut classes: Vec<DiagonalClass> = Vec::new();
        classes.resize_with(division.classes, DiagonalClass::default);
        classes.iter_mut().for_each(|class| class.diagonals.start(window));
        for (mut places, end) in self.scanned_ranges(scan.subject.length(), regions) {
            let mut positions = division.positions;
            while places.start < places.end {
                let (pieces, rest, next) = scan_pieces(scan, places, positions, division);
                (places.start, positions) = (rest, next);
                let numbered = classes.par_iter_mut().enumerate();
                numbered.for_each(|(number, class)| {
                    class.process(scan, (window, end), &pieces, number);
                });
            }
        }
        let mut reached_unknown_letters = false;
        for class in &mut classes {
            out.append(&mut class.segments);
            reached_unknown_letters |= class.reached_unknown_letters;
        }
        reached_unknown_letters
    }
}

/// Scans the next pieces of `positions` positions each. Returns their seeds, up to the first piece
/// that ended early; the start of the rest; and the number of positions for the next pieces.
fn scan_pieces(
    scan: SubjectScan<'_>,
    places: ScanPositions,
    positions: u32,
    division: Division,
) -> (Vec<PieceSeeds>, u32, u32) {
    let length = positions.saturating_mul(places.stride);
    let piece = |start: u32| {
        let end = start.saturating_add(length).min(places.end);
        ScanPositions { start, end, ..places }
    };
    let starts = (places.start..places.end).step_by(length as usize).take(division.pieces);
    let pieces: Vec<ScanPositions> = starts.map(piece).collect();
    let end = pieces.last().map_or(places.end, |piece| piece.end);
    let mut seeds: Vec<PieceSeeds> = pieces
        .into_par_iter()
        .map_init(Candidates::default, |candidates, piece| {
            PieceSeeds::scan(scan, piece, division, candidates)
        })
        .collect();
    match seeds.iter().position(|piece| piece.rest.start < piece.rest.end) {
        Some(last) => {
            seeds.truncate(last + 1);
            let rest = seeds[last].rest.start;
            (seeds, rest, (positions / 8).max(1) * 4)
        }
        None => (seeds, end, positions.saturating_mul(2).min(division.positions)),
    }
}
