//! Related sequences, statistics and kernels for tests.

use fastrand::Rng;
use fleetblast_stats::gumbel::GumbelParameters;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use crate::kernel::Kernel;
use crate::testing::RandomSequences;

/// Returns two sequences that share a mutated range with gaps.
pub(super) fn related_pair(random: &mut Rng, len: usize) -> (Vec<u8>, Vec<u8>) {
    let shared = random.protein(len);
    let mut mutated = Vec::new();
    for &residue in &shared {
        match random.u8(..20) {
            0 => {}
            1 => {
                let extra = random.usize(1..=6);
                mutated.extend(random.protein(extra));
            }
            2..=7 => mutated.push(random.residue()),
            _ => mutated.push(residue),
        }
    }
    let ends: Vec<usize> = (0..4).map(|_| random.usize(..80)).collect();
    let mut query = random.protein(ends[0]);
    query.extend(shared);
    query.extend(random.protein(ends[1]));
    let mut subject = random.protein(ends[2]);
    subject.extend(mutated);
    subject.extend(random.protein(ends[3]));
    (query, subject)
}

/// Returns the statistics of the standard scoring system.
pub(in crate::protein::prelim) fn gumbel() -> GumbelParameters {
    let scoring = ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", None, None);
    GumbelParameters::new(&scoring.expect("a known matrix"))
}

/// Returns the kernels that this machine can run.
pub(crate) fn kernels() -> Vec<Kernel> {
    Kernel::available().collect()
}
