//! Random sequences and threads for tests.

use fastrand::Rng;
use fleetblast_seq::alphabet;

/// Starts a pool of threads.
pub(crate) fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// Random sequences. A failing test can be repeated, because the seed fixes all sequences.
pub(crate) trait RandomSequences {
    /// Returns a residue, mostly a standard one.
    fn residue(&mut self) -> u8;

    /// Returns residues, mostly standard ones.
    fn protein(&mut self, len: usize) -> Vec<u8>;

    /// Returns bases.
    fn bases(&mut self, len: usize) -> Vec<u8>;

    /// Returns bases with repeats of short units in them.
    fn repetitive(&mut self, len: usize) -> Vec<u8>;

    /// Returns the bases with changes at about one of `one_in` positions: substitutions, insertions
    /// and deletions.
    fn mutated(&mut self, bases: &[u8], one_in: usize) -> Vec<u8>;

    /// Makes about one of `one_in` letters ambiguous.
    fn blur(&mut self, letters: &mut [u8], one_in: usize);
}

impl RandomSequences for Rng {
    fn residue(&mut self) -> u8 {
        if self.u8(..60) == 0 {
            self.u8(1..28)
        } else {
            let standard: Vec<u8> = (1..28).filter(|&c| alphabet::is_standard(c)).collect();
            standard[self.usize(..20)]
        }
    }

    fn protein(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.residue()).collect()
    }

    fn bases(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.u8(..4)).collect()
    }

    fn repetitive(&mut self, len: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < len {
            if self.u8(..3) == 0 {
                let part = self.usize(1..=30);
                out.extend(self.bases(part));
            } else {
                let unit = self.usize(1..=5);
                let (unit, times) = (self.bases(unit), self.usize(2..10));
                out.extend(unit.iter().cycle().take(unit.len() * times));
            }
        }
        out.truncate(len);
        out
    }

    fn mutated(&mut self, bases: &[u8], one_in: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for &base in bases {
            match self.usize(..one_in * 10) {
                0 => {}
                1 => {
                    let extra = self.usize(1..=6);
                    out.extend(self.bases(extra));
                    out.push(base);
                }
                2 => out.extend([base; 3]),
                3..=9 => out.push(self.u8(..4)),
                _ => out.push(base),
            }
        }
        out
    }

    fn blur(&mut self, letters: &mut [u8], one_in: usize) {
        for letter in letters {
            if self.usize(..one_in) == 0 {
                *letter = self.u8(4..15);
            }
        }
    }
}
