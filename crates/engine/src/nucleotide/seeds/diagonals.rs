//! What is remembered of diagonals while a subject is searched.
//!
//! BLAST+ keeps it from subject to subject, with places of the subject shifted by a running origin that grows by the length of each
//! subject and the window. So whatever was remembered ends `window` before the origin or earlier, hence is
//!
//! * no explored stretch that reaches to the subject,
//! * no first hit within the window of any hit, nor beside one (it would have to end after the origin, less the window).
//!
//! Hence [`Direct`] forgets by construction, as BLAST+ does.
//!
//! The hash of BLAST+ for long queries ([`Lossy`]) forgets what it knew in the same sense, but not the cells, and they are what
//! is *not* the same: a cell that is out of date is used again for another diagonal, otherwise a new one is put before all others of
//! its bucket. With a window of 0 a cell counts as out of date already when its explored stretch ends less than a word after the
//! present seed, although it could still stop a seed that starts before that end. Which one of *several* such cells of a
//! bucket is given up depends on their order, and that on how many cells earlier subjects left. It takes three diagonals equal modulo
//! 512 with seeds within about one word size, and then one more seed at the same place on the one that was given up; what changes
//! then is that an explored stretch is extended once more. (With several threads it depends in BLAST+ on which subjects a thread
//! gets.) Here each subject starts without cells, as the first one of a search does in BLAST+.
//!
//! With a window of at least the word size nothing is lost: a cell is out of date only when no seed can ask for it any more.

/// What is remembered of a diagonal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// Up to here it is explored, or here the last hit ends: a place of the subject, counted from the origin.
    pub last: i32,
    /// The last seed became a segment.
    pub saved: bool,
    /// Length of the last hit; 0 if it became a segment.
    pub length: i32,
}

/// A memory of diagonals. A diagonal is a place in the subject less the one in the queries.
pub(super) trait Diagonals {
    /// Place 0 of the subject.
    fn origin(&self) -> i32;

    /// What is known of a diagonal; of one not seen yet, that its last hit was long ago.
    fn get(&self, diagonal: i32) -> Known;

    /// Remembers a seed that starts at `at`. What ended more than `stale` before that may be forgotten.
    fn put(&mut self, diagonal: i32, known: Known, at: i32, stale: i32);
}

/// A place for each diagonal, modulo a power of two that is not less than the length of the queries and the window: diagonals with
/// the same place are never of interest at the same time.
#[derive(Debug, Default)]
pub(super) struct Direct {
    /// `last`, and in the lowest bit `saved`.
    lasts: Vec<u32>,
    /// Lengths of hits, modulo 256 as in BLAST+. None in one-hit mode, where nobody asks.
    lengths: Vec<u8>,
    /// Number of places in use, less one.
    mask: usize,
    origin: i32,
    /// Where what earlier subjects left behind ends.
    end: i32,
}

impl Direct {
    /// Gets ready for a subject that is searched with this window, and for queries of this length.
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

    /// Puts what was remembered behind the next origin.
    pub fn finish(&mut self, subject_length: u32) {
        self.end = self.origin.saturating_add_unsigned(subject_length);
    }

    #[inline]
    fn place(&self, diagonal: i32) -> usize {
        diagonal as u32 as usize & self.mask
    }
}

impl Diagonals for Direct {
    #[inline]
    fn origin(&self) -> i32 {
        self.origin
    }

    #[inline]
    fn get(&self, diagonal: i32) -> Known {
        let place = self.place(diagonal);
        let last = self.lasts[place];
        let length = self.lengths.get(place).map_or(0, |&length| i32::from(length));
        Known { last: (last >> 1) as i32, saved: last & 1 != 0, length }
    }

    #[inline]
    fn put(&mut self, diagonal: i32, known: Known, _at: i32, _stale: i32) {
        let place = self.place(diagonal);
        self.lasts[place] = (known.last as u32) << 1 | u32::from(known.saved);
        if let Some(length) = self.lengths.get_mut(place) {
            *length = known.length as u8;
        }
    }
}

/// Number of buckets of the hash.
const BUCKETS: usize = 512;

/// The hash of BLAST+, which forgets a bit too much: chains of cells, the newest one first.
#[derive(Debug, Default)]
pub(super) struct Lossy {
    /// The first cell of each bucket, 0 for none.
    heads: Vec<u32>,
    /// The cells after cell 0, which is none.
    cells: Vec<Cell>,
    origin: i32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    diagonal: i32,
    known: Known,
    next: u32,
}

impl Lossy {
    /// Gets ready for a subject: forgets everything.
    pub fn start(&mut self, window: i32) {
        if self.cells.len() != 1 {
            self.heads.clear();
            self.heads.resize(BUCKETS, 0);
            self.cells.clear();
            self.cells.push(Cell::default());
        }
        self.origin = window;
    }

    /// The bucket of a diagonal: BLAST+ multiplies by a number that is 1 modulo that of the buckets.
    #[inline]
    fn bucket(diagonal: i32) -> usize {
        diagonal as u32 as usize % BUCKETS
    }
}

impl Diagonals for Lossy {
    #[inline]
    fn origin(&self) -> i32 {
        self.origin
    }

    #[inline]
    fn get(&self, diagonal: i32) -> Known {
        let mut at = self.heads[Lossy::bucket(diagonal)];
        while at != 0 {
            let cell = &self.cells[at as usize];
            if cell.diagonal == diagonal {
                return cell.known;
            }
            at = cell.next;
        }
        Known::default()
    }

    fn put(&mut self, diagonal: i32, known: Known, at: i32, stale: i32) {
        let bucket = Lossy::bucket(diagonal);
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
