//! Rows with AVX-512: a chunk of diagonals at a time, whose bases are gathered.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::linear::Rows;
use super::pairs::{Side, Walk};
use super::rows::{Chunk, Front, Furthest, LANES, Row, Stepper};
use super::{Found, NOWHERE, Run, Scoring};
use crate::kernel::Avx512;

/// Bases that are compared at once, which a word of 32 bits has wherever in its first byte they begin.
const AT_ONCE: i32 = 13;
/// Bases in a byte.
const IN_BYTE: usize = 4;
/// Bytes of a word.
const WORD: usize = 4;

/// Proof of AVX-512CD beside AVX-512BW.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof(Avx512);

impl Proof {
    /// The proof, if this CPU has the instructions.
    pub fn detect(proof: Avx512) -> Option<Proof> {
        is_x86_feature_detected!("avx512cd").then_some(Proof(proof))
    }
}

/// [`Rows::extend`] with AVX-512.
pub(super) fn extend<const BACK: bool>(
    proof: Proof,
    rows: &mut Rows,
    walk: &Walk<'_, BACK>,
    scoring: &Scoring,
    x_drop: i32,
    keeps: bool,
) -> Found {
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn inner<const BACK: bool>(
        proof: Proof,
        rows: &mut Rows,
        walk: &Walk<'_, BACK>,
        scoring: &Scoring,
        x_drop: i32,
        keeps: bool,
    ) -> Found {
        rows.extend(proof, walk, scoring, x_drop, keeps)
    }
    // SAFETY: the proof says that the CPU has the instructions.
    unsafe { inner(proof, rows, walk, scoring, x_drop, keeps) }
}

impl Stepper for Proof {
    #[inline(always)]
    fn row<const BACK: bool>(
        self,
        walk: &Walk<'_, BACK>,
        row: Row<'_>,
        front: &mut Front,
        longest: &mut Run,
    ) -> Furthest {
        // SAFETY: the proof says that the CPU has the instructions.
        unsafe { make(walk, row, front, longest) }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn make<const BACK: bool>(
    walk: &Walk<'_, BACK>,
    row: Row<'_>,
    front: &mut Front,
    longest: &mut Run,
) -> Furthest {
    let Row { before, cells, mut first, least } = row;
    let [neighbour, here, before @ ..] = before else { return Furthest::default() };
    let runs = Runs::new(walk);
    let (mut left, mut here) = (load(neighbour), load(here));
    let mut diagonals = _mm512_add_epi32(_mm512_set1_epi32(first), lanes());
    let (one, least) = (_mm512_set1_epi32(1), _mm512_set1_epi32(least));
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
            let met = runs.of(walk, query, subject, goes_on);
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
            // An end is reached where there was no room for a longer run.
            let (mut query_end, mut subject_end) = (0, 0);
            if _mm512_mask_cmpge_epi32_mask(goes_on, met.run, met.room) != 0 {
                let q_end = _mm512_add_epi32(query, met.run);
                query_end = _mm512_mask_cmpeq_epi32_mask(goes_on, q_end, runs.query.length);
                subject_end = _mm512_mask_cmpeq_epi32_mask(goes_on, end, runs.subject.length);
            }
            front.note(first, goes_on.into(), query_end.into(), subject_end.into());
        }
        diagonals = _mm512_add_epi32(diagonals, _mm512_set1_epi32(LANES as i32));
        first += LANES as i32;
    }
    let extent = _mm512_reduce_max_epi32(largest);
    let furthest = _mm512_cmpeq_epi32_mask(largest, _mm512_set1_epi32(extent));
    Furthest { extent, diagonal: _mm512_mask_reduce_min_epi32(furthest, places) }
}

/// Takes the first of the longest runs.
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

/// Runs of equal bases, and the room that there was for them.
struct Met {
    run: __m512i,
    room: __m512i,
}

/// What finds runs.
struct Runs<'a, const BACK: bool> {
    query: Words<'a, BACK>,
    subject: Words<'a, BACK>,
    /// A bit behind the bases that are compared, in each lane.
    guard: __m512i,
}

impl<'a, const BACK: bool> Runs<'a, BACK> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn new(walk: &Walk<'a, BACK>) -> Self {
        let behind = 2 * AT_ONCE;
        let guard = if BACK { 1 << behind } else { 1 << (31 - behind) };
        Runs {
            query: Words::new(&walk.query),
            subject: Words::new(&walk.subject),
            guard: _mm512_set1_epi32(guard),
        }
    }

    /// The runs from these positions on, where they go on.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn of(&self, walk: &Walk<'_, BACK>, query: __m512i, subject: __m512i, goes_on: u16) -> Met {
        let inside = self.subject.inside(subject, self.query.inside(query, goes_on));
        let bases = [self.query.bases(query, inside), self.subject.bases(subject, inside)];
        // (a ^ b) | c
        let mut different = _mm512_ternarylogic_epi32::<0xBE>(bases[0], bases[1], self.guard);
        if self.query.ambiguous.is_some() || self.subject.ambiguous.is_some() {
            different = _mm512_or_si512(different, self.query.ambiguous(query, inside));
            different = _mm512_or_si512(different, self.subject.ambiguous(subject, inside));
        }
        let equal = if BACK {
            let lowest = _mm512_sub_epi32(_mm512_setzero_si512(), different);
            let lowest = _mm512_and_si512(lowest, different);
            _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(lowest))
        } else {
            _mm512_lzcnt_epi32(different)
        };
        let equal = _mm512_srli_epi32::<1>(equal);
        let room = _mm512_min_epi32(
            _mm512_sub_epi32(self.query.length, query),
            _mm512_sub_epi32(self.subject.length, subject),
        );
        let mut run = _mm512_min_epi32(equal, room);
        let whole = _mm512_cmpeq_epi32_mask(run, _mm512_set1_epi32(AT_ONCE));
        let mut rest = goes_on & (whole | !inside);
        if rest != 0 {
            let [Chunk(queries), Chunk(subjects)] = [store(query), store(subject)];
            while rest != 0 {
                let lane = rest.trailing_zeros() as usize;
                let taken = if inside >> lane & 1 != 0 { AT_ONCE } else { 0 };
                let length = walk.run(queries[lane], subjects[lane], taken);
                run = _mm512_mask_set1_epi32(run, 1 << lane, length);
                rest &= rest - 1;
            }
        }
        Met { run, room }
    }
}

/// Words of one of the sequences.
struct Words<'a, const BACK: bool> {
    bytes: *const u8,
    ambiguous: Option<*const u8>,
    /// Place of the base at position zero in its byte.
    phase: __m512i,
    length: __m512i,
    /// At positions before this one there is a whole word.
    inside: __m512i,
    sequence: std::marker::PhantomData<&'a [u8]>,
}

impl<'a, const BACK: bool> Words<'a, BACK> {
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn new(side: &Side<'a, BACK>) -> Self {
        let Side { bytes, ambiguous, start, length } = *side;
        // The first byte of the word at position zero.
        let first = (start / IN_BYTE).wrapping_sub(if BACK { WORD - 1 } else { 0 });
        Words {
            bytes: bytes.as_ptr().wrapping_add(first),
            ambiguous: ambiguous.map(|ambiguous| ambiguous.as_ptr().wrapping_add(first)),
            phase: _mm512_set1_epi32((start % IN_BYTE) as i32),
            length: _mm512_set1_epi32(length),
            inside: _mm512_set1_epi32(side.inside(WORD)),
            sequence: std::marker::PhantomData,
        }
    }

    /// Those of the lanes at whose positions there is a whole word.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn inside(&self, positions: __m512i, lanes: u16) -> u16 {
        _mm512_mask_cmplt_epu32_mask(lanes, positions, self.inside)
    }

    /// Bits that tell the bases from these positions on apart, as [`Side::bases`] has them.
    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn bases(&self, positions: __m512i, inside: u16) -> __m512i {
        self.words(self.bytes, positions, inside)
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn ambiguous(&self, positions: __m512i, inside: u16) -> __m512i {
        match self.ambiguous {
            Some(bytes) => self.words(bytes, positions, inside),
            None => _mm512_setzero_si512(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512bw,avx512cd")]
    fn words(&self, bytes: *const u8, positions: __m512i, inside: u16) -> __m512i {
        let places = match BACK {
            true => _mm512_sub_epi32(self.phase, positions),
            false => _mm512_add_epi32(self.phase, positions),
        };
        let at = _mm512_srai_epi32::<2>(places);
        // SAFETY: at these positions there are whole words, which is what `inside` says.
        let words = unsafe {
            _mm512_mask_i32gather_epi32::<1>(_mm512_setzero_si512(), inside, at, bytes.cast())
        };
        let words = _mm512_shuffle_epi8(words, swapped());
        let three = _mm512_set1_epi32(3);
        if BACK {
            // Three minus the place in the byte.
            let after = _mm512_andnot_si512(places, three);
            _mm512_srlv_epi32(words, _mm512_add_epi32(after, after))
        } else {
            let before = _mm512_and_si512(places, three);
            _mm512_sllv_epi32(words, _mm512_add_epi32(before, before))
        }
    }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn lanes() -> __m512i {
    _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// The order of the bytes of words with the last byte first.
#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn swapped() -> __m512i {
    _mm512_set4_epi32(0x0C0D_0E0F, 0x0809_0A0B, 0x0405_0607, 0x0001_0203)
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn load(chunk: &Chunk) -> __m512i {
    // SAFETY: a chunk is 64 bytes and aligned to as many.
    unsafe { _mm512_load_si512(std::ptr::from_ref(chunk).cast()) }
}

#[inline]
#[target_feature(enable = "avx512bw,avx512cd")]
fn store(cells: __m512i) -> Chunk {
    let mut chunk = Chunk::NOWHERE;
    // SAFETY: a chunk is 64 bytes and aligned to as many.
    unsafe { _mm512_store_si512(std::ptr::from_mut(&mut chunk).cast(), cells) };
    chunk
}
