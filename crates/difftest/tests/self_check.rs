//! Tests of the tester. It must find no difference between BLAST+ and itself, and must find the
//! fault of a wrapper that falsifies BLAST+'s output.
//!
//! A wrapper around BLAST+ takes the place of FleetBLAST. The sequences are made up and the same
//! for all tests, so databases are made once.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use flate2::{Compression, write::GzEncoder};
use fleetblast_oracle::{Oracle, WITHOUT_ORACLE_VARIABLE, oracle};

/// A scratch directory with made-up data and a wrapper script.
struct Stage {
    dir: PathBuf,
    program: PathBuf,
    oracle: &'static Oracle,
}

/// Returns the directory in which a run of the tester made queries and databases.
fn fixtures() -> Option<&'static Path> {
    static MADE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let stage = bare_stage("fixtures", "exec \"$@\"")?;
        let (output, text) = stage.difftest(&["table", "blastp", "--filter", "bad-task"]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        Some(stage.dir.join("difftest"))
    });
    made.as_deref()
}

/// Makes a stage with queries and databases.
fn stage(name: &str, wrapper: &str) -> Option<Stage> {
    let stage = bare_stage(name, wrapper)?;
    symlink(fixtures()?, stage.dir.join("difftest")).unwrap();
    Some(stage)
}

/// Makes a stage without databases. `wrapper` is a shell script that stands for FleetBLAST;
/// `blastp` in it is the oracle's.
fn bare_stage(name: &str, wrapper: &str) -> Option<Stage> {
    let oracle = oracle()?;
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("queries_aa.fa"), made_up(3, 1)).unwrap();
    let file = fs::File::create(dir.join("proteins_small.fa.gz")).unwrap();
    let mut gz = GzEncoder::new(file, Compression::fast());
    gz.write_all(made_up(40, 1).as_bytes()).unwrap();
    gz.finish().unwrap();
    let program = dir.join("wrapper");
    let script = format!("#!/bin/sh\nPATH='{}':$PATH\n{wrapper}\n", oracle.program("").display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Some(Stage { dir, program, oracle })
}

/// Returns FASTA text of `count` sequences of at least 160 residues. The same seed gives the same
/// first sequences.
fn made_up(count: usize, seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::new();
    for i in 0..count {
        text += &format!(">p{i} made up\n");
        for _ in 0..160 + 3 * i {
            text.push(char::from(b"ARNDCQEGHILKMFPSTWYV"[random.usize(..20)]));
        }
        text.push('\n');
    }
    text
}

impl Stage {
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_difftest"));
        command.args(args).arg("--program").arg(&self.program).arg("--data").arg(&self.dir);
        command.env("CARGO_TARGET_DIR", &self.dir).current_dir(env!("CARGO_MANIFEST_DIR"));
        command
    }

    fn difftest(&self, args: &[&str]) -> (Output, String) {
        let output = self.command(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output, text)
    }
}

/// A wrapper that adds one to the score column of the first tabular line, if there is one.
const LIAR: &str = r#"if [ "$2" = -version ]; then exec "$@"; fi
"$@" | awk -F '\t' -v OFS='\t' 'NR == 1 && NF > 2 { $3 = $3 + 1 } 1'"#;

#[test]
fn the_oracle_agrees_with_itself_also_from_the_cache() {
    let Some(stage) = stage("honest", "exec \"$@\"") else { return };
    for cached in ["0 from the cache", " 0 run, "] {
        let (output, text) = stage.difftest(&["table", "blastp", "--filter", "gaps-one-given"]);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.ends_with("difftest table blastp: 4 passed, 0 failed\n"), "{text}");
        assert!(text.contains(cached), "{text}");
    }
}

#[test]
fn a_lie_is_found_shown_and_kept() {
    let Some(stage) = stage("liar", LIAR) else { return };
    let (output, text) = stage.difftest(&["table", "blastp", "--filter", "db-mutants"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAILED  db-mutants"), "{text}");
    assert!(text.contains("stdout line 1 (1 lines differ)"), "{text}");
    assert!(text.ends_with("difftest table blastp: 0 passed, 1 failed\n"), "{text}");
    let kept = stage.dir.join("difftest-failed/blastp/db-mutants");
    let (old, new) = (fs::read(kept.join("expected.out")), fs::read(kept.join("actual.out")));
    assert_ne!(old.unwrap(), new.unwrap());
}

#[test]
fn wrong_exit_codes_and_messages_are_found() {
    let silent = "\"$@\" 2>/dev/null; code=$?; [ $code -eq 1 ] && exit 3; exit $code";
    let Some(stage) = stage("silent", silent) else { return };
    let (output, text) = stage.difftest(&["table", "blastp", "--filter", "bad-task"]);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("exit code: oracle 1, FleetBLAST 3"), "{text}");
    assert!(text.contains("stderr line 1"), "{text}");
}

#[test]
fn fuzzing_finds_minimises_and_keeps_a_lie() {
    let Some(stage) = stage("fuzz", LIAR) else { return };
    // This search has hits in tabular form.
    let args = ["fuzz", "blastp", "--seed", "4", "--only", "0:0", "--jobs", "1", "--effort", "20"];
    let (output, text) = stage.difftest(&args);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("DIFFERENCE  blastp --seed 4 --only 0:0"), "{text}");
    let found = fs::read_dir(stage.dir.join("fuzzdiff")).unwrap().flatten();
    let kept = found.map(|e| e.path()).find(|p| p.join("run.sh").exists()).unwrap();
    let count = |name: &str| fs::read_to_string(kept.join(name)).unwrap().matches('>').count();
    assert_eq!((count("query.fa"), count("db.fa")), (1, 1), "{text}");
    let again = Command::new("sh")
        .arg(kept.join("run.sh"))
        .arg(stage.oracle.program("blastp"))
        .output()
        .unwrap();
    assert_eq!(again.stdout, fs::read(kept.join("expected.out")).unwrap());
}

#[test]
fn a_test_of_nothing_is_an_error() {
    let Some(stage) = stage("nothing", "exec \"$@\"") else { return };
    let (output, _) = stage.difftest(&["table", "blastp", "--filter", "no such case"]);
    assert_eq!(output.status.code(), Some(2));
    let (output, _) = stage.difftest(&["tabel"]);
    assert_eq!(output.status.code(), Some(2));
}

/// The tester does not use FleetBLAST as the oracle if it is first in `PATH` under BLAST+'s names,
/// nor if the user names it.
#[test]
fn fleetblast_is_not_its_own_oracle() {
    let ours = r#"name=${0##*/}; echo "$name: 2.12.0+"; echo ' Package: FleetBLAST, reports equal blast 2.12.0'"#;
    // This stage makes its own databases, also with BLAST+'s makeblastdb.
    let Some(stage) = bare_stage("own", ours) else { return };
    for name in ["blastp", "makeblastdb", "blastdbcmd"] {
        fs::copy(&stage.program, stage.dir.join(name)).unwrap();
    }
    let link = stage.dir.join("blastp").display().to_string();
    let table = ["table", "blastp", "--filter", "gaps-one-given"];
    let (output, _) = stage.difftest(&[&table[..], &["--oracle", &link]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is another program: its -version says 'Package: FleetBLAST"), "{said}");

    let run = |path: String, without: &str| {
        let output = stage
            .command(&table)
            .env("PATH", path)
            .env(WITHOUT_ORACLE_VARIABLE, without)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let own = stage.dir.display().to_string();
    let both = format!("{own}:{}", stage.oracle.program("").display());
    let (_, text) = run(both, "0");
    assert!(
        text.contains(&format!("oracle: {} (", stage.oracle.program("blastp").display())),
        "{text}"
    );
    let (code, text) = run(own.clone(), "0");
    assert!(code == Some(2) && text.contains(&link), "{text}");
    let (code, text) = run(own, "1");
    assert!(
        code == Some(0) && text.contains("NOT TESTED: difftest table blastp --filter"),
        "{text}"
    );
}

/// Returns a script that acts as a search with a checkpoint. The first run saves data and waits
/// until it is interrupted, and the second reports. `first` and `last` are commands of the two
/// runs.
fn with_checkpoint(first: &str, last: &str) -> String {
    format!(
        r#"if [ "$2" = -version ]; then exec "$@"; fi
shift
left=$#
while [ $left -gt 0 ]; do
    case $1 in
    -checkpoint) kept=$2; words=2 ;;
    -out) out=$2; words=2 ;;
    -resume) words=1 ;;
    -ranks|-partitions|-output|-groups|-replicas|-schedule|-write_buffer|-result_memory|-segment_size|-num_threads) words=2 ;;
    *) set -- "$@" "$1"; words=1 ;;
    esac
    shift $words
    left=$((left - words))
done
if [ ! -d "$kept" ]; then
    trap 'exit 75' USR1
    mkdir "$kept"
    {first}
fi
blastp "$@" -out "$out"
{last}"#
    )
}

const WAITS: &str = r#"echo some >"$kept/a.zst"; while :; do sleep 0.01; done"#;
const CLEARS: &str = r#"rm -r "$kept""#;

#[test]
fn interrupted_searches_are_resumed_and_compared() {
    let spoiled = format!(r#"echo more >>"$out"; {CLEARS}"#);
    for (name, first, last, code, said) in [
        ("resumed", WAITS, CLEARS, 0, "interrupted and resumed: 4 of 4 searches"),
        ("spoiled", WAITS, &spoiled, 1, "stdout line"),
        ("remains", WAITS, ":", 1, "interrupted and resumed: the checkpoint is still there"),
        ("through", ":", CLEARS, 2, "interrupted and resumed: 0 of 4 searches"),
    ] {
        let Some(stage) = stage(name, &with_checkpoint(first, last)) else { return };
        let (output, text) =
            stage.difftest(&["table", "blastp", "--resume", "--filter", "gaps-one-given"]);
        assert_eq!(output.status.code(), Some(code), "{name}: {text}");
        assert!(text.contains(said), "{name}: {text}");
    }
}
