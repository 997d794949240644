//! Sequences for tests, from a seeded generator.

use fleetblast_stats::gumbel::Gumbel;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use crate::kernel::Kernel;

/// A small pseudo-random generator (xorshift*), so that a failing test can be repeated.
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    /// Random residues, mostly standard ones.
    pub fn protein(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.residue()).collect()
    }

    fn residue(&mut self) -> u8 {
        if self.below(60) == 0 {
            1 + self.below(27) as u8
        } else {
            let standard: Vec<u8> =
                (1..28).filter(|&c| fleetblast_seq::alphabet::is_standard(c)).collect();
            standard[self.below(20) as usize]
        }
    }
}

/// Two sequences that share a mutated range with gaps.
pub(super) fn related(random: &mut Random, len: usize) -> (Vec<u8>, Vec<u8>) {
    let shared = random.protein(len);
    let mut mutated = Vec::new();
    for &residue in &shared {
        match random.below(20) {
            0 => {}
            1 => {
                let extra = 1 + random.below(6) as usize;
                mutated.extend(random.protein(extra));
            }
            2..=7 => mutated.push(random.residue()),
            _ => mutated.push(residue),
        }
    }
    let ends: Vec<usize> = (0..4).map(|_| random.below(80) as usize).collect();
    let mut query = random.protein(ends[0]);
    query.extend(shared);
    query.extend(random.protein(ends[1]));
    let mut subject = random.protein(ends[2]);
    subject.extend(mutated);
    subject.extend(random.protein(ends[3]));
    (query, subject)
}

/// Statistics of the standard scoring system.
pub(in crate::protein::prelim) fn gumbel() -> Gumbel {
    let scoring = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None);
    Gumbel::new(&scoring.expect("a known matrix"))
}

/// The kernels that this machine can run.
pub(crate) fn kernels() -> Vec<Kernel> {
    Kernel::available().collect()
}
