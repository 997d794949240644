//! BLAST+'s random number generator (`CRandom`, random_gen.cpp). It chooses among the possible
//! bases of ambiguous codes, and the sequences that `blastdbcheck` tests.

use super::N;

const SIZE: usize = 33;

/// The initial state of a generator without a seed.
const UNSEEDED: [u32; SIZE] = [
    3_577_682_002,
    3_754_396_547,
    1_327_849_622,
    241_450_487,
    2_193_840_575,
    3_346_615_802,
    3_588_882_346,
    747_419_210,
    789_033_780,
    2_908_389_045,
    2_531_003_614,
    1_875_002_761,
    2_776_970_822,
    3_876_943_586,
    229_519_583,
    2_963_072_785,
    1_582_755_719,
    1_263_206_530,
    1_867_461_646,
    3_317_372_904,
    3_616_069_477,
    1_732_870_279,
    2_642_065_958,
    638_800_340,
    1_092_544_490,
    60_007_011,
    744_118_325,
    3_239_443_672,
    636_031_788,
    3_502_696_710,
    3_267_124_013,
    1_812_356_248,
    1_849_146_709,
];

/// A lagged Fibonacci generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u32; SIZE],
    j: usize,
    k: usize,
}

impl Default for Random {
    /// Creates a generator without a seed. It always starts with the same numbers.
    fn default() -> Self {
        Random { state: UNSEEDED, j: 12, k: SIZE - 1 }
    }
}

impl Random {
    /// Creates a generator with a seed.
    pub fn new(seed: u32) -> Self {
        let mut state = [seed; SIZE];
        for i in 1..SIZE {
            state[i] = state[i - 1].wrapping_mul(1_103_515_245).wrapping_add(12345);
        }
        let mut random = Random { state, ..Random::default() };
        for _ in 0..330 {
            random.draw();
        }
        random
    }

    /// Draws the next number of 31 bits.
    pub fn draw(&mut self) -> u32 {
        // The lowest bit is the least random one.
        self.draw_32_bits() >> 1
    }

    /// Draws a number from 0 to below `size`, which must not be 0 (`CRandom::GetRandIndex`).
    pub fn draw_below(&mut self, size: u32) -> u32 {
        if size.is_power_of_two() {
            return ((u64::from(self.draw_32_bits()) * u64::from(size)) >> 32) as u32;
        }
        loop {
            let bits = self.draw_32_bits();
            let index = bits % size;
            // The last numbers of 32 bits do not give all indexes, and are not used.
            if u64::from(bits - index) + u64::from(size) <= 1 << 32 {
                return index;
            }
        }
    }

    fn draw_32_bits(&mut self) -> u32 {
        let sum = self.state[self.k].wrapping_add(self.state[self.j]);
        self.state[self.k] = sum;
        let before = |i: usize| i.checked_sub(1).unwrap_or(SIZE - 1);
        (self.j, self.k) = (before(self.j), before(self.k));
        sum
    }

    /// Draws one of the bases that an ncbi4na code can mean, as a two-bit code; any base for a gap.
    pub fn base(&mut self, code: u8) -> u8 {
        let picked = self.draw();
        if code == N || code == 0 {
            return (picked & 3) as u8;
        }
        let nth = picked % code.count_ones();
        let bases = (0..4).filter(|base| code >> base & 1 != 0);
        bases.into_iter().nth(nth as usize).unwrap_or(0)
    }
}
