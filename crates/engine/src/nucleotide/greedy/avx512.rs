//! Rows with AVX-512, a chunk of diagonals at a time. The least extent that is followed determines
//! which bases the diagonals read next. A register holds 256 bases of each sequence from there on,
//! and each diagonal looks up its word in it.
#![allow(unsafe_code)]

mod narrow;

use std::arch::x86_64::*;

use super::linear::Rows;
use super::pairs::{OutwardBases, OutwardSequences};
use super::rows::{Chunk, ContinuingDiagonals, Furthest, LANES, Narrow, Path, Row, RowKernel};
use super::rules::Rules;
use super::{BestEnd, NOWHERE, Run, Scoring};
use crate::kernel::Avx512;

/// Number of bases that are compared at once: a word of 32 bits.
const AT_ONCE: i32 = 16;
/// Bases in a byte.
const IN_BYTE: i64 = 4;
/// Number of bytes in a register.
const BYTES: i64 = 64;
/// A word that begins before this base of a register lies completely in the register.
const SEEN: i32 = (BYTES * IN_BYTE) as i32 - AT_ONCE;

/// Proof of AVX-512CD in addition to AVX-512BW.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof(Avx512);

impl Proof {
    /// Returns the proof if this CPU has the instructions.
    pub fn detect(proof: Avx512) -> Option<Proof> {
        is_x86_feature_detected!("avx512cd").then_some(Proof(proof))
    }
}

/// Runs [`Rows::extend`] with AVX-512.
pub(super) fn extend<const BACK: bool>(
    proof: Proof,
    rows: &mut Rows,
    sequences: &OutwardSequences<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> BestEnd {
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn inner<const BACK: bool>(
        proof: Proof,
        rows: &mut Rows,
        sequences: &OutwardSequences<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> BestEnd {
        rows.extend(proof, sequences, scoring, x_drop, keeps)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, rows, sequences, scoring, x_drop, keeps) }
}

impl RowKernel for Proof {
    const NARROW: bool = true;

    #[inline(always)]
    fn row<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        row: Row<'_>,
        continuing: &mut ContinuingDiagonals,
        longest: &mut Run,
    ) -> Furthest {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { make(sequences, row, continuing, longest) }
    }

    #[inline(always)]
    fn narrow<const BACK: bool>(
        self,
        sequences: &OutwardSequences<'_, BACK>,
        rules: &Rules,
        best: &mut Vec<i32>,
        path: &mut Path,
        row: &mut Narrow,
    ) -> bool {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { narrow::rows(sequences, rules, best, path, row) }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn make<const BACK: bool>(
    sequences: &OutwardSequences<'_, BACK>,
    row: Row<'_>,
    continuing: &mut ContinuingDiagonals,
    longest: &mut Run,
) -> Furthest {
    let Row { before, cells, mut first, least: least_extent } = row;
    let [neighbour, here, before @ ..] = before else { return Furthest::default() };
    let runs = Runs::new(sequences);
    let (mut left, mut here) = (load(neighbour), load(here));
    let mut diagonals = _mm512_add_epi32(_mm512_set1_epi32(first), lanes());
    let (one, least) = (_mm512_set1_epi32(1), _mm512_set1_epi32(least_extent));
    let (mut largest, mut places) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    for (right, cells) in before.iter().zip(cells) {
        let right = load(right);
        let above = _mm512_alignr_epi32::<1>(right, here);
        let below = _mm512_alignr_epi32::<15>(here, left);
        let over = _mm512_add_epi32(_mm512_max_epi32(above, here), one);
        let subject = _mm512_max_epi32(over, below);
        let query = _mm512_add_epi32(subject, diagonals);
        let extent = _mm512_add_epi32(subject, query);
        let goes_on = _mm512_cmpge_epi32_mask(extent, least);
        let goes_on = _mm512_mask_cmpge_epi32_mask(goes_on, subject, _mm512_setzero_si512());
        (left, here) = (here, right);
        if goes_on == 0 {
            *cells = Chunk::NOWHERE;
        } else {
            // The least positions in the query and in the subject: half of the extent, plus or
            // minus the diagonal.
            let last = first + LANES as i32 - 1;
            let reach =
                [(least_extent + first) >> 1, (least_extent - last) >> 1].map(|at| at.max(0));
            let met = runs.find(sequences, reach, query, subject, goes_on);
            let longer =
                _mm512_mask_cmpgt_epi32_mask(goes_on, met.run, _mm512_set1_epi32(longest.length));
            if longer != 0 {
                lengthen(longest, longer, query, subject, met.run);
            }
            let end = _mm512_add_epi32(subject, met.run);
            let extent = _mm512_add_epi32(extent, _mm512_add_epi32(met.run, met.run));
            *cells = store(_mm512_mask_mov_epi32(_mm512_set1_epi32(NOWHERE), goes_on, end));
            let further = _mm512_mask_cmpgt_epi32_mask(goes_on, extent, largest);
            largest = _mm512_mask_mov_epi32(largest, further, extent);
            places = _mm512_mask_mov_epi32(places, further, diagonals);
            // A path reaches an end if there was no room for a longer run.
            let (mut query_end, mut subject_end) = (0, 0);
            if _mm512_mask_cmpge_epi32_mask(goes_on, met.run, met.room) != 0 {
                let q_end = _mm512_add_epi32(query, met.run);
                query_end = _mm512_mask_cmpeq_epi32_mask(goes_on, q_end, runs.query.length);
                subject_end = _mm512_mask_cmpeq_epi32_mask(goes_on, end, runs.subject.length);
            }
            continuing.update(first, goes_on.into(), query_end.into(), subject_end.into());
        }
        diagonals = _mm512_add_epi32(diagonals, _mm512_set1_epi32(LANES as i32));
        first += LANES as i32;
    }
    let extent = _mm512_reduce_max_epi32(largest);
    let furthest = _mm512_cmpeq_epi32_mask(largest, _mm512_set1_epi32(extent));
    Furthest { extent, diagonal: _mm512_mask_reduce_min_epi32(furthest, places) }
}

/// Replaces `longest` by the first of the longest runs.
#[cold]
#[target_feature(enable = "avx512bw,avx512cd")]
fn lengthen(longest: &mut Run, longer: u16, query: __m512i, subject: __m512i, run: __m512i) {
    let [Chunk(query), Chunk(subject), Chunk(run)] = [query, subject, run].map(|v| store(v));
    for lane in (0..LANES).filter(|lane| longer >> lane & 1 != 0) {
        if run[lane] > longest.length {
            *longest = Run { query: query[lane], subject: subject[lane], length: run[lane] };
        }
    }
}

/// Lengths of runs of equal bases, and the greatest lengths that the ends of the sequences allow.
struct MeasuredRuns {
    run: __m512i,
    room: __m512i,
}

/// The sequences in which runs of equal bases are measured.
struct Runs<'a, const BACK: bool> {
    query: Words<'a, BACK>,
    subject: Words<'a, BACK>,
}

impl<'a, const BACK: bool> Runs<'a, BACK> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn new(sequences: &OutwardSequences<'a, BACK>) -> Self {
        Runs { query: Words::new(&sequences.query), subject: Words::new(&sequences.subject) }
    }

    /// Measures the runs from these positions on, in the lanes that continue. `reach` has the least
    /// of these positions in the query and in the subject.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn find(
        &self,
        sequences: &OutwardSequences<'_, BACK>,
        reach: [i32; 2],
        query: __m512i,
        subject: __m512i,
        goes_on: u16,
    ) -> MeasuredRuns {
        let (equal, seen) = self.equal::<false>(reach, query, subject);
        let room = _mm512_min_epi32(
            _mm512_sub_epi32(self.query.length, query),
            _mm512_sub_epi32(self.subject.length, subject),
        );
        let mut run = _mm512_max_epi32(_mm512_min_epi32(equal, room), _mm512_setzero_si512());
        let whole = _mm512_cmpeq_epi32_mask(run, _mm512_set1_epi32(AT_ONCE));
        let mut rest = goes_on & (whole | !seen);
        if rest != 0 {
            let [Chunk(queries), Chunk(subjects)] = [store(query), store(subject)];
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                let taken = if seen >> lane & 1 != 0 { AT_ONCE } else { 0 };
                let length = sequences.run(queries[lane], subjects[lane], taken);
                run = _mm512_mask_set1_epi32(run, 1 << lane, length);
                rest &= rest - 1;
            }
        }
        MeasuredRuns { run, room }
    }

    /// Counts the equal bases from these positions on, at most [`AT_ONCE`], not limited by the
    /// ends. Also returns the lanes for which the count is known. `NARROW` gives each caller its
    /// own copy, as only code with one caller is inlined.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn equal<const NARROW: bool>(
        &self,
        reach: [i32; 2],
        query: __m512i,
        subject: __m512i,
    ) -> (__m512i, u16) {
        let windows = [self.query.window(reach[0]), self.subject.window(reach[1])];
        let [q, s] = [windows[0].places(query), windows[1].places(subject)];
        let seen =
            _mm512_cmplt_epu32_mask(_mm512_max_epu32(q.first, s.first), _mm512_set1_epi32(SEEN));
        let bases = [q.extract(windows[0].bases), s.extract(windows[1].bases)];
        let mut different = _mm512_xor_si512(bases[0], bases[1]);
        if self.query.ambiguous.is_some() || self.subject.ambiguous.is_some() {
            different = _mm512_or_si512(different, q.extract(self.query.ambiguous(&windows[0])));
            different = _mm512_or_si512(different, s.extract(self.subject.ambiguous(&windows[1])));
        }
        let equal = if BACK {
            // All bits below the lowest set bit.
            let less = _mm512_add_epi32(different, _mm512_set1_epi32(-1));
            let below = _mm512_andnot_si512(different, less);
            _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(below))
        } else {
            _mm512_lzcnt_epi32(different)
        };
        (_mm512_srli_epi32::<1>(equal), seen)
    }
}

/// One of the sequences, read in words of [`AT_ONCE`] bases.
struct Words<'a, const BACK: bool> {
    bytes: &'a [u8],
    ambiguous: Option<&'a [u8]>,
    /// Index of the base at position zero among the bases of `bytes`. The word of this position
    /// begins with this base, or ends with it if read backwards.
    start: i64,
    length: __m512i,
}

impl<'a, const BACK: bool> Words<'a, BACK> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn new(side: &OutwardBases<'a, BACK>) -> Self {
        let OutwardBases { bytes, ambiguous, start, length } = *side;
        Words { bytes, ambiguous, start: start as i64, length: _mm512_set1_epi32(length) }
    }

    /// Loads the bases from position `reach` on, or backwards from it.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn window(&self, reach: i32) -> Window<BACK> {
        let place =
            if BACK { self.start - i64::from(reach) } else { self.start + i64::from(reach) };
        let first = place / IN_BYTE - if BACK { BYTES - 2 } else { 0 };
        let at = first.clamp(0, self.bytes.len() as i64);
        let start = self.start - at * IN_BYTE - if BACK { i64::from(AT_ONCE) - 1 } else { 0 };
        let at = at as usize;
        Window { at, start: _mm512_set1_epi32(start as i32), bases: words(self.bytes, at) }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn ambiguous(&self, window: &Window<BACK>) -> __m512i {
        match self.ambiguous {
            Some(bytes) => words(bytes, window.at),
            None => _mm512_setzero_si512(),
        }
    }
}

/// Part of a sequence, held in a register.
struct Window<const BACK: bool> {
    /// Index of the window's first byte.
    at: usize,
    /// Index, in the window, of the first base of the word of position zero.
    start: __m512i,
    bases: __m512i,
}

impl<const BACK: bool> Window<BACK> {
    /// Locates the words of these positions.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn places(&self, positions: __m512i) -> Places {
        let first = match BACK {
            true => _mm512_sub_epi32(self.start, positions),
            false => _mm512_add_epi32(self.start, positions),
        };
        let in_word = _mm512_and_si512(first, _mm512_set1_epi32(AT_ONCE - 1));
        Places { first, shift: _mm512_add_epi32(in_word, in_word) }
    }
}

/// Locations of words in a window.
struct Places {
    first: __m512i,
    /// Number of bits before each word in the word of the window where it begins.
    shift: __m512i,
}

impl Places {
    /// Extracts the words from a window: two bits a base, the first in the highest bits.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn extract(&self, window: __m512i) -> __m512i {
        let at = _mm512_srli_epi32::<4>(self.first);
        let after = _mm512_add_epi32(at, _mm512_set1_epi32(1));
        let high = _mm512_permutexvar_epi32(at, window);
        let low = _mm512_permutexvar_epi32(after, window);
        let rest = _mm512_sub_epi32(_mm512_set1_epi32(32), self.shift);
        _mm512_or_si512(_mm512_sllv_epi32(high, self.shift), _mm512_srlv_epi32(low, rest))
    }
}

/// Loads words of 16 bases from the byte `at` on; zeros beyond the last byte.
#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn words(bytes: &[u8], at: usize) -> __m512i {
    let rest = bytes.get(at..).unwrap_or(&[]);
    let there = u64::MAX.checked_shr(64 - rest.len().min(64) as u32).unwrap_or(0);
    // SAFETY: as many bytes as the mask has bits are there.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(there, rest.as_ptr().cast()) };
    _mm512_shuffle_epi8(bytes, swapped())
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn lanes() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// Returns the order of bytes that reverses each word.
#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn swapped() -> __m512i {
    _mm512_set4_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn load(chunk: &Chunk) -> __m512i {
    // SAFETY: a chunk has 64 bytes and is aligned to 64.
    unsafe { _mm512_load_si512(std::ptr::from_ref(chunk).cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn store(cells: __m512i) -> Chunk {
    let mut chunk = Chunk::NOWHERE;
    // SAFETY: a chunk has 64 bytes and is aligned to 64.
    unsafe { _mm512_store_si512(std::ptr::from_mut(&mut chunk).cast(), cells) };
    chunk
}
