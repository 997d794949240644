//! Finds the ungapped segments of a long subject with all threads of the current pool.
//!
//! The result of a seed depends on earlier seeds on diagonals that share its bucket in BLAST+'s
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

/// Least number of pairs of query and subject positions for which threads divide a search. A word
/// of 11 bases matches by chance at one of four million pairs.
const LEAST_PAIRS: u64 = 1 << 42;
/// Number of pieces and of classes for each thread, so that all threads have about as much to do.
const SHARES_PER_THREAD: usize = 4;
/// Greatest number of scanned positions in a piece. The seeds of all pieces should fit the caches
/// of the cores.
const MOST_POSITIONS: u32 = 1 << 13;
/// Number of seeds after which a piece ends early, to bound the memory for repeats.
const MOST_SEEDS: usize = 1 << 18;
/// Bit of a stored subject position that marks a seed that is too weak.
const TOO_WEAK: u32 = 1 << 31;

/// How threads divide the search of a subject into pieces and classes.
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

/// A piece of the subject, and its seeds.
#[derive(Default)]
struct Piece {
    candidates: Candidates,
    seeds: PieceSeeds,
    /// Positions of the piece that were not scanned, because it has too many seeds already.
    rest: Option<ScanPositions>,
}

/// The seeds of a piece of the subject.
#[derive(Default)]
struct PieceSeeds {
    /// Query and subject positions for each class, in the order in which the scan found them.
    classes: Vec<Vec<[u32; 2]>>,
    count: usize,
    most: usize,
}

/// State of the diagonals of a class, and the segments that were found on them.
#[derive(Default)]
struct DiagonalClass {
    diagonals: HashedDiagonals,
    segments: Vec<Segment>,
    reached_unknown_letters: bool,
}

impl Piece {
    /// Scans the piece with these positions. Forgets the seeds of the piece scanned before.
    fn scan(&mut self, scan: SubjectScan<'_>, places: ScanPositions, division: Division) {
        self.seeds.clear(division);
        let rest = scan.scan(places, &mut self.candidates, &mut self.seeds);
        self.rest = (rest.start < rest.end).then_some(rest);
    }
}

impl PieceSeeds {
    fn clear(&mut self, division: Division) {
        self.classes.iter_mut().for_each(Vec::clear);
        self.classes.resize(division.classes, Vec::new());
        (self.count, self.most) = (0, division.seeds);
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
        pieces: &[Piece],
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
        for &[q, s] in pieces.iter().flat_map(|piece| &piece.seeds.classes[class]) {
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

    /// Finds the segments of a subject and adds them to `out`. Segments of one diagonal are in the
    /// order in which they are found. Returns whether an extension reached unknown letters.
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
        let mut pieces: Vec<Piece> = Vec::new();
        pieces.resize_with(division.pieces, Piece::default);
        for (mut places, end) in self.scanned_ranges(scan.subject.length(), regions) {
            let mut positions = division.positions;
            while places.start < places.end {
                let scanned = scan_pieces(scan, &mut places, positions, division, &mut pieces);
                let numbered = classes.par_iter_mut().enumerate();
                numbered.for_each(|(number, class)| {
                    class.process(scan, (window, end), scanned, number);
                });
                positions = match scanned.last().is_some_and(|piece| piece.rest.is_some()) {
                    true => (positions / 8).max(1) * 4,
                    false => positions.saturating_mul(2).min(division.positions),
                };
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

/// Scans the next pieces of `positions` positions each, and removes them from `places`. Returns the
/// scanned pieces, up to the first one that is not scanned to its end.
fn scan_pieces<'a>(
    scan: SubjectScan<'_>,
    places: &mut ScanPositions,
    positions: u32,
    division: Division,
    pieces: &'a mut [Piece],
) -> &'a [Piece] {
    let length = positions.saturating_mul(places.stride);
    let ScanPositions { start, end, .. } = *places;
    let starts: Vec<u32> = (start..end).step_by(length as usize).take(pieces.len()).collect();
    let end_of = |start: u32| start.saturating_add(length).min(end);
    pieces.par_iter_mut().zip(&starts).for_each(|(piece, &start)| {
        piece.scan(scan, ScanPositions { start, end: end_of(start), ..*places }, division);
    });
    let scanned = &pieces[..starts.len()];
    match scanned.iter().position(|piece| piece.rest.is_some()) {
        Some(last) => {
            places.start = scanned[last].rest.map_or(end, |rest| rest.start);
            &scanned[..=last]
        }
        None => {
            places.start = starts.last().map_or(end, |&start| end_of(start));
            scanned
        }
    }
}
