//! Whatever happens to the bytes of a database, a search of it ends with a report or with a message.

use std::ffi::OsString;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::sandbox::{SEQUENCES, Sandbox};
use crate::volumes::{FIVE, FOUR, Random, entries, volume};
use fleetblast_cli::blastp;
use fleetblast_cli::error::Error;
use fleetblast_cli::options::blastp::BLASTP;
use fleetblast_cli::options::parse::{self, Request};
use fleetblast_cli::options::typed::BlastpOptions;
use fleetblast_cli::options::usage::Name;
use fleetblast_cli::plan::{Host, Plan};
use fleetblast_db::VolumeBytes;

/// Damaged databases searched, if there is time.
const TRIALS: u64 = 1500;
/// Time allowed.
const TIME: Duration = Duration::from_secs(5);

/// Ways to search, chosen in turn.
const SEARCHES: [&[&str]; 6] = [
    &["-outfmt", "0"],
    &["-outfmt", "5", "-comp_based_stats", "0"],
    &["-outfmt", "6 std stitle sseq qcovs salltitles sallseqid", "-seg", "yes"],
    &["-outfmt", "7", "-num_threads", "2"],
    &["-outfmt", "10", "-task", "blastp-fast", "-max_target_seqs", "2"],
    &["-outfmt", "6", "-task", "blastp-short", "-comp_based_stats", "0", "-use_sw_tback"],
];

/// Damages a volume; says how.
fn damage(bytes: &mut VolumeBytes, random: &mut Random) -> String {
    let mut done = String::new();
    for _ in 0..=random.below(3) {
        let tables = bytes.index.len().saturating_sub(8 * (SEQUENCES + 1));
        let (name, file) = match random.below(3) {
            0 => ("index", &mut bytes.index),
            1 => ("residues", &mut bytes.residues),
            _ => ("headers", &mut bytes.headers),
        };
        if file.is_empty() {
            continue;
        }
        let at = random.below(file.len() as u64) as usize;
        let value = random.below(1 << 32) as u32;
        let how = match random.below(8) {
            0 => {
                file.truncate(at);
                "cut"
            }
            1 => {
                file.extend(value.to_be_bytes());
                "lengthened"
            }
            2 if name == "index" && at >= tables && at + 4 <= file.len() => {
                // An offset that may well lie within its file.
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

fn search(sandbox: &Sandbox, options: &[&str]) -> Result<(), Error> {
    let files = [("-query", "q.fa"), ("-db", "bad"), ("-out", "report")];
    let named = files.map(|(option, file)| [option.into(), sandbox.path(file).into_os_string()]);
    let mut arguments: Vec<OsString> = named.into_iter().flatten().collect();
    arguments.extend(options.iter().map(OsString::from));
    let request = parse::parse(&BLASTP, Name::Blast, &arguments)?;
    let Request::Run(given) = request else { panic!("{arguments:?} is no search") };
    let host = Host { cores: 2, variable: &|_| None };
    let mut options = BlastpOptions::new(&given);
    // One thread, unless asked for more: making threads takes longer than these searches.
    options.num_threads.get_or_insert(1);
    blastp::run(Plan::new(&options, &host, &mut Vec::new())?)
}

/// Seeded: each trial is the same in every run; how many there are depends on the machine.
#[test]
fn no_damage_makes_a_search_panic() {
    let sandbox = Sandbox::new();
    sandbox.write("x.pdb", "");
    let sound = [volume(&FOUR, &entries(11, SEQUENCES)), volume(&FIVE, &entries(11, SEQUENCES))];
    let start = Instant::now();
    let (mut refused, mut reported) = (0u64, 0u64);
    for seed in (0..TRIALS).take_while(|_| start.elapsed() < TIME) {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = sound[random.below(2) as usize].clone();
        let how = damage(&mut bytes, &mut random);
        sandbox.database("bad", &bytes);
        let options = SEARCHES[random.below(SEARCHES.len() as u64) as usize];
        let trial = format!("seed {seed}, {options:?}: {how}");
        let outcome = catch_unwind(AssertUnwindSafe(|| search(&sandbox, options)));
        let report = sandbox.path("report");
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
                // 3 is a title that XML cannot hold.
                assert!(matches!(error.exit_code, 2 | 3 | 255), "{error} with {trial}");
                assert!(!error.message.is_empty(), "no message with {trial}");
                refused += 1;
            }
        }
    }
    eprintln!("{refused} refused, {reported} searched");
    // Some damage, as to a title or from one residue to another, cannot be noticed.
    assert!(refused > 50 && reported > 10, "{refused} refused, {reported} searched");
}
