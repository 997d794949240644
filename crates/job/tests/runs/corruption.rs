//! Tests that a search ends with a report or with a message, whatever bytes the database has.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use fastrand::Rng;
use fleetblast_db::VolumeBytes;
use fleetblast_engine::params::{CompositionMode, Params, ProteinParams};
use fleetblast_job::plan::{Format, Plan};
use fleetblast_seq::seg::SegParams;

use crate::plans::{SEQUENCES, TestDirectory, blastp_params, protein_params_mut, run};
use crate::volumes::{FIVE, FOUR, entries, volume};

/// Maximum number of damaged databases. [`LEAST_TRIALS`] is the minimum.
const TRIALS: u64 = 1500;
const LEAST_TRIALS: u64 = 150;
/// Time after which no trials beyond [`LEAST_TRIALS`] start.
const TIME: Duration = Duration::from_secs(5);

/// Kinds of search, chosen at random.
const SEARCHES: [fn(&mut Plan); 6] = [
    |plan| plan.report.format = Format::Pairwise,
    |plan| {
        plan.report.format = Format::Xml;
        protein_params_mut(plan).composition = CompositionMode::Off;
    },
    |plan| {
        plan.report.columns = "std stitle sseq qcovs salltitles sallseqid".to_owned();
        protein_params_mut(plan).seg = Some(SegParams::QUERY);
    },
    |plan| {
        plan.report.format = Format::TabularComments;
        plan.threads.count = 2;
    },
    // As `-task blastp-fast -max_target_seqs 2`.
    |plan| {
        plan.report.format = Format::Csv;
        let params = protein_params_mut(plan);
        (params.word_size, params.threshold, params.common.hitlist_size) = (6, 21.0, 2);
    },
    // As `-task blastp-short`.
    |plan| {
        let (composition, smith_waterman) = (CompositionMode::Off, true);
        let params =
            ProteinParams { word_size: 2, composition, smith_waterman, ..blastp_params("PAM30") };
        plan.params = Params::Protein(params);
        plan.matrix_name = "PAM30".to_owned();
    },
];

/// Damages the bytes of a volume at random. Returns a description of the damage.
fn damage(bytes: &mut VolumeBytes, random: &mut Rng) -> String {
    let mut done = String::new();
    for _ in 0..=random.u64(..3) {
        let tables = bytes.index.len().saturating_sub(8 * (SEQUENCES + 1));
        let (name, file) = match random.u64(..3) {
            0 => ("index", &mut bytes.index),
            1 => ("residues", &mut bytes.residues),
            _ => ("headers", &mut bytes.headers),
        };
        if file.is_empty() {
            continue;
        }
        let at = random.usize(..file.len());
        let value = random.u32(..);
        let how = match random.u64(..8) {
            0 => {
                file.truncate(at);
                "cut"
            }
            1 => {
                file.extend(value.to_be_bytes());
                "lengthened"
            }
            2 if name == "index" && at >= tables && at + 4 <= file.len() => {
                // An offset that may well be within its file.
                file[at & !3..][..4].copy_from_slice(&(value % 300).to_be_bytes());
                "offset"
            }
            3 => {
                file[at] ^= 1 << (value % 8);
                "bit"
            }
            4 => {
                file[at] = 0xff;
                "ff"
            }
            5 => {
                file[at] = 0;
                "zero"
            }
            _ => {
                file[at] = value as u8;
                "byte"
            }
        };
        done += &format!("{name} {how} at {at} ({value}); ");
    }
    done
}

/// Each trial has a fixed seed, so it is the same in every run. The number of trials depends on the
/// speed of the machine.
#[test]
fn no_damage_makes_a_search_panic() {
    let directory = TestDirectory::new();
    directory.write("x.pdb", "");
    let sound = [volume(&FOUR, &entries(11, SEQUENCES)), volume(&FIVE, &entries(11, SEQUENCES))];
    let start = Instant::now();
    let (mut refused, mut reported) = (0u64, 0u64);
    let in_time = |&seed: &u64| seed < LEAST_TRIALS || start.elapsed() < TIME;
    for seed in (0..TRIALS).take_while(in_time) {
        let mut random = Rng::with_seed(seed);
        let mut bytes = sound[random.usize(..2)].clone();
        let how = damage(&mut bytes, &mut random);
        // Each trial has a name of its own: a file that is rewritten counts as changed in this
        // process.
        let name = format!("bad-{seed}");
        directory.database(&name, &bytes);
        let kind = random.usize(..SEARCHES.len());
        let mut plan = directory.plan(&name);
        SEARCHES[kind](&mut plan);
        let trial = format!("seed {seed}, search {kind}: {how}");
        let outcome = catch_unwind(AssertUnwindSafe(|| run(plan).0));
        let report = directory.path("report");
        match outcome.unwrap_or_else(|_| panic!("panic with {trial}")) {
            Ok(()) => {
                assert!(report.exists(), "no report with {trial}");
                fs::remove_file(&report).expect("the report");
                reported += 1;
            }
            Err(error) => {
                let left = fs::read(&report).expect("an empty file");
                assert!(left.is_empty(), "a report in spite of {error} with {trial}");
                fs::remove_file(&report).expect("the empty file");
                // Exit code 3 stands for a title that XML cannot hold.
                assert!(matches!(error.exit_code, 2 | 3 | 255), "{error} with {trial}");
                assert!(!error.is_silent(), "no message with {trial}");
                refused += 1;
            }
        }
    }
    // Some damage cannot be noticed, such as one residue in place of another.
    assert!(refused > 50 && reported > 10, "{refused} refused, {reported} searched");
}
