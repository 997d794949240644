//! `difftest usage`: compares usage, help and the messages for wrong arguments of every program of
//! BLAST+ that FleetBLAST has.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fleetblast_oracle::without_own_sections;

use crate::compare::{compare, describe};
use crate::error::{Error, Result, io_error};
use crate::process::{Outcome, Tool, shell};
use crate::workspace::Workspace;

/// Time limit of one command.
const LIMIT: Duration = Duration::from_secs(60);

/// The programs of BLAST+ that FleetBLAST has.
pub const PROGRAMS: [&str; 14] = [
    "blastp",
    "blastn",
    "blastx",
    "tblastn",
    "tblastx",
    "psiblast",
    "blast_formatter",
    "makeblastdb",
    "blastdbcmd",
    "blastdb_aliastool",
    "segmasker",
    "dustmasker",
    "blastdbcheck",
    "convert2blastmask",
];

/// The texts about the default of `-num_threads` in which the help of the two programs differs, in
/// pairs of BLAST+'s and FleetBLAST's text: one pair for `-help`, two for `-xmlhelp`.
const THREADS: [[&str; 2]; 3] = [
    [
        "use in the BLAST search\n   Default = `1'\n",
        "use in the BLAST search\n   Default = FLEETBLAST_THREADS, OMP_NUM_THREADS or \
         SLURM_CPUS_PER_TASK in the\n   environment, else all CPUs that this process may use\n",
    ],
    [
        "use in the BLAST search</description>\n",
        "use in the BLAST search&#xa;Default = FLEETBLAST_THREADS, OMP_NUM_THREADS or \
         SLURM_CPUS_PER_TASK in the environment, else all CPUs that this process may \
         use</description>\n",
    ],
    [
        "<description>&gt;=1</description>\n</constraint>\n<default>1</default>\n",
        "<description>&gt;=1</description>\n</constraint>\n",
    ],
];

/// Arguments with which each program is run: for help, and arguments that no program or only some
/// programs accept.
const ARGUMENTS: [&[&str]; 17] = [
    &["-h"],
    &["-help"],
    &["-xmlhelp"],
    &["-nosuch", "-xmlhelp"],
    &["-dryrun", "-parse_deflines", "-parse_seqids", "-xmlhelp"],
    &["-xmlhelp", "-h"],
    &["-xmlhelp=x", "-nosuch"],
    &["-help-full"],
    &["-help-full", "-help"],
    &["-nosuch"],
    &["-no_taxid_expansion", "-taxids", "9606", "-subject", "x"],
    &["-sum_stats", "x"],
    &["-mt_mode", "3"],
    &["-mt_mode", "2"],
    &["-evalue", "-x"],
    &["-outfmt"],
    &["word"],
];

/// Options of `difftest usage`.
#[derive(Debug)]
pub struct UsageOptions {
    /// Run only cases whose id contains this text.
    pub filter: Option<String>,
    /// FleetBLAST's executable.
    pub program: PathBuf,
    /// Environment of FleetBLAST, `NAME=value`, with the release.
    pub environment: Vec<String>,
    /// BLAST+'s programs, by name.
    pub oracles: Vec<(&'static str, Tool)>,
}

/// Runs the cases. Prints one line for each difference and a closing summary. Returns true if there
/// is none.
///
/// # Errors
/// If a program cannot be started. Differences are not errors.
pub fn run(workspace: &Workspace, options: &UsageOptions) -> Result<bool> {
    let dir = workspace.target.join("difftest-usage");
    fs::create_dir_all(&dir).map_err(io_error("create", &dir))?;
    let (mut passed, mut failed) = (0, 0);
    for (name, oracle) in &options.oracles {
        let link = dir.join(name);
        let _ = fs::remove_file(&link);
        symlink(&options.program, &link).map_err(io_error("create", &link))?;
        let tested = Tool::plain(link).with_environment(&options.environment);
        for arguments in ARGUMENTS {
            let args: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
            let id = format!("{name} {}", shell(&args));
            if options.filter.as_ref().is_some_and(|text| !id.contains(text)) {
                continue;
            }
            let found = differences(oracle, &tested, &args, &dir)?;
            if found.is_empty() {
                passed += 1;
                continue;
            }
            failed += 1;
            println!("FAILED  {id}");
            found.iter().for_each(|difference| println!("  {difference}"));
        }
    }
    if passed + failed == 0 {
        return Err(Error::Usage("no case matches; a run of nothing proves nothing".into()));
    }
    println!("difftest usage: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// Runs both programs and describes the differences.
fn differences(oracle: &Tool, tested: &Tool, args: &[String], dir: &Path) -> Result<Vec<String>> {
    let expected = oracle.run(args, dir, None, LIMIT)?;
    let actual = tested.run(args, dir, None, LIMIT)?;
    let text = |outcome: &Outcome| String::from_utf8_lossy(&outcome.stdout).into_owned();
    let help = THREADS.iter().fold(text(&expected), |help, [from, to]| help.replace(from, to));
    let expected = Outcome { stdout: help.into_bytes(), ..expected };
    let actual = Outcome { stdout: without_own_sections(&actual.stdout).to_vec(), ..actual };
    Ok(compare(&expected, &actual, true).iter().map(describe).collect())
}
