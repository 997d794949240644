//! Gives each word the number of its cell in a lookup table.

/// A rule that gives each word the number of its cell.
#[derive(Debug)]
pub(super) enum Numbering {
    /// Consecutive bases; the lowest `shift` bits do not belong to the word.
    Contiguous { shift: u32 },
    /// The bases that a template selects.
    Template(Box<BitGatherer>),
}

/// Tables by which the bits that a mask selects are gathered into adjacent bits.
#[derive(Debug)]
pub(super) struct BitGatherer {
    mask: u64,
    /// For each group of nine bits of the bases, the gathered bits of each value of the group.
    parts: [[u32; 512]; 5],
}

impl BitGatherer {
    fn new(mask: u64) -> BitGatherer {
        let mut chunks = [[0; 512]; 5];
        let mut above = mask.count_ones();
        for (i, chunk) in chunks.iter_mut().enumerate() {
            let part = (mask >> BitGatherer::shift(i)) as u32 & 511;
            above -= part.count_ones();
            for (bits, gathered) in (0..).zip(chunk) {
                *gathered = close_up(bits, part) << above;
            }
        }
        BitGatherer { mask, parts: chunks }
    }

    /// Returns the mask, with bits set for the selected bases.
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no instruction gathers"))]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Returns the number of bits below a group of nine bits of the bases.
    fn shift(chunk: usize) -> u32 {
        55 - 9 * chunk as u32
    }

    #[inline]
    pub fn cell(&self, bases: u64) -> usize {
        let part = |i: usize| self.parts[i][(bases >> BitGatherer::shift(i)) as usize & 511];
        (part(0) | part(1) | part(2) | part(3) | part(4)) as usize
    }
}

/// Gathers the bits that a mask selects among nine bits into adjacent bits.
fn close_up(bits: u32, mask: u32) -> u32 {
    let places = (0..9).filter(|place| mask >> place & 1 != 0);
    (0..).zip(places).map(|(to, from)| (bits >> from & 1) << to).sum()
}

impl Numbering {
    /// Creates the rule for words of `span` bases, or for those that the mask of a template
    /// selects. Also returns the number of bits of a cell's number.
    pub fn new(span: u32, mask: Option<u64>) -> (Numbering, u32) {
        match mask {
            None => (Numbering::Contiguous { shift: 64 - 2 * span }, 2 * span),
            Some(mask) => {
                (Numbering::Template(Box::new(BitGatherer::new(mask))), mask.count_ones())
            }
        }
    }

    #[inline]
    pub fn cell(&self, bases: u64) -> usize {
        self.cell_with(bases, BitGatherer::cell)
    }

    /// Returns the number of the cell of the word at the start of these bases. `gather` gathers the
    /// bits that a template selects.
    #[inline(always)]
    pub fn cell_with(&self, bases: u64, gather: impl Fn(&BitGatherer, u64) -> usize) -> usize {
        match self {
            Numbering::Contiguous { shift } => (bases >> shift) as usize,
            Numbering::Template(gatherer) => gather(gatherer, bases),
        }
    }
}
