//! The state of diagonals during the search of a subject.
//!
//! BLAST+ keeps this state from subject to subject. It shifts positions of the subject by an origin
//! that grows by the length of each subject plus the window. So all state of earlier subjects ends
//! at least `window` before the origin. This state therefore holds
//!
//! * no explored range that reaches into the subject,
//! * no first hit within the window of any hit, nor on a nearby diagonal (it would have to end
//!   after the origin minus the window).
//!
//! Hence [`DirectDiagonals`] forgets earlier subjects by construction, as BLAST+ does.
//!
//! The hash of BLAST+ for long queries ([`HashedDiagonals`]) also forgets the state, but not the
//! cells. Here results of BLAST+ can depend on earlier subjects. An outdated cell is reused for
//! another diagonal; if there is none, a new cell is put in front of its bucket. With a window of 0
//! a cell is outdated once its explored range ends less than a word after the present seed. Such a
//! cell could still reject a seed that starts before that end.
//!
//! If *several* cells are outdated, their order decides which one is reused. The order depends on
//! the number of cells that earlier subjects left. A difference needs three diagonals that are
//! equal modulo 512, with seeds within about one word size. Then one more seed must follow at the
//! same position on the diagonal that lost its cell, so that the explored range is extended once
//! more. (With several threads, BLAST+'s result also depends on which subjects a thread gets.) Here
//! each subject starts without cells, as the first subject of a search does in BLAST+.
//!
//! With a window of at least the word size no information is lost: a cell is outdated only when no
//! seed can need it any more.

/// State of a diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiagonalState {
    /// End of the explored range or of the last hit: a position of the subject plus the origin.
    pub last: i32,
    /// Whether the last seed became a segment.
    pub became_segment: bool,
    /// Length of the last hit; 0 if it became a segment.
    pub length: i32,
}

/// Storage of the state of diagonals. A diagonal is the subject position minus the query position.
pub(super) trait Diagonals {
    /// Returns the stored coordinate of position 0 of the subject.
    fn origin(&self) -> i32;

    /// Returns the state of a diagonal. A diagonal without state counts as one with its last hit
    /// long ago.
    fn get(&self, diagonal: i32) -> DiagonalState;

    /// Stores the state of a diagonal after a seed that starts at `at`. A state that ends more than
    /// `stale` letters before `at` may be forgotten.
    fn put(&mut self, diagonal: i32, known: DiagonalState, at: i32, stale: i32);
}

/// An array with an entry for each diagonal, modulo a power of two. The power is at least the
/// length of the queries plus the window. Diagonals that share an entry are never needed at the
/// same time.
#[derive(Debug, Default)]
pub(super) struct DirectDiagonals {
    /// `last` of each entry, with `became_segment` in the lowest bit.
    lasts: Vec<u32>,
    /// Lengths of hits, modulo 256 as in BLAST+. Empty if one hit is enough, as they are not needed
    /// then.
    lengths: Vec<u8>,
    /// Number of entries in use, less one.
    mask: usize,
    origin: i32,
    /// Greatest coordinate that earlier subjects may have stored.
    end: i32,
}

impl DirectDiagonals {
    /// Prepares for a subject, searched with this window and with queries of this length.
    pub fn start(&mut self, length: u32, window: i32) {
        let window = window.max(0);
        let size = (length as usize + window as usize).next_power_of_two();
        if self.end >= i32::MAX / 4 {
            self.lasts.fill(0);
            self.lengths.fill(0);
            self.end = 0;
        }
        if self.lasts.len() < size {
            self.lasts.resize(size, 0);
        }
        if window > 0 && self.lengths.len() < size {
            self.lengths.resize(size, 0);
        }
        self.mask = size - 1;
        self.origin = self.end + window;
    }

    /// Ends the search of a subject: the origin of the next one will be beyond all stored state.
    pub fn finish(&mut self, subject_length: u32) {
        self.end = self.origin.saturating_add_unsigned(subject_length);
    }

    #[inline]
    fn place(&self, diagonal: i32) -> usize {
        diagonal as u32 as usize & self.mask
    }
}

impl Diagonals for DirectDiagonals {
    #[inline]
    fn origin(&self) -> i32 {
        self.origin
    }

    #[inline]
    fn get(&self, diagonal: i32) -> DiagonalState {
        let place = self.place(diagonal);
        let last = self.lasts[place];
        let length = self.lengths.get(place).map_or(0, |&length| i32::from(length));
        DiagonalState { last: (last >> 1) as i32, became_segment: last & 1 != 0, length }
    }

    #[inline]
    fn put(&mut self, diagonal: i32, known: DiagonalState, _at: i32, _stale: i32) {
        let place = self.place(diagonal);
        self.lasts[place] = (known.last as u32) << 1 | u32::from(known.became_segment);
        if let Some(length) = self.lengths.get_mut(place) {
            *length = known.length as u8;
        }
    }
}

/// Number of buckets of the hash.
pub(super) const BUCKETS: usize = 512;

/// The hash of BLAST+, which forgets some state that is still needed: chains of cells, the newest
/// first.
#[derive(Debug, Default)]
pub(super) struct HashedDiagonals {
    /// First cell of each bucket, 0 for none.
    heads: Vec<u32>,
    /// The cells. Cell 0 is unused.
    cells: Vec<Cell>,
    origin: i32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    diagonal: i32,
    known: DiagonalState,
    next: u32,
}

impl HashedDiagonals {
    /// Prepares for a subject: forgets all state.
    pub fn start(&mut self, window: i32) {
        if self.cells.len() != 1 {
            self.heads.clear();
            self.heads.resize(BUCKETS, 0);
            self.cells.clear();
            self.cells.push(Cell::default());
        }
        self.origin = window;
    }

    /// Returns the bucket of a diagonal. BLAST+ also multiplies by a number that is 1 modulo the
    /// number of buckets.
    #[inline]
    fn bucket(diagonal: i32) -> usize {
        diagonal as u32 as usize % BUCKETS
    }
}

impl Diagonals for HashedDiagonals {
    #[inline]
    fn origin(&self) -> i32 {
        self.origin
    }

    #[inline]
    fn get(&self, diagonal: i32) -> DiagonalState {
        let mut at = self.heads[HashedDiagonals::bucket(diagonal)];
        while at != 0 {
            let cell = &self.cells[at as usize];
            if cell.diagonal == diagonal {
                return cell.known;
            }
            at = cell.next;
        }
        DiagonalState::default()
    }

    fn put(&mut self, diagonal: i32, known: DiagonalState, at: i32, stale: i32) {
        let bucket = HashedDiagonals::bucket(diagonal);
        let mut number = self.heads[bucket];
        while number != 0 {
            let cell = &mut self.cells[number as usize];
            if cell.diagonal == diagonal || at - cell.known.last > stale {
                *cell = Cell { diagonal, known, ..*cell };
                return;
            }
            number = cell.next;
        }
        let next = std::mem::replace(&mut self.heads[bucket], self.cells.len() as u32);
        self.cells.push(Cell { diagonal, known, next });
    }
}
