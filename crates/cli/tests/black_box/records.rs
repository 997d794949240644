//! `-output records` and `fleetblast cat`: the same bytes as in one file, all at once or a query at
//! a time. Records that are damaged, cut off or missing are reported by name, and all others are
//! shown.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::family::{family, queries};
use crate::volumes::{FOUR, write};
use tempfile::TempDir;

/// Number of queries: they fill several blocks, and take long enough to be killed.
const QUERIES: usize = 600;
/// Options for ranks and small buffers, so that there are many records.
const SHAPE: [&str; 8] =
    ["-ranks", "3", "-partitions", "3", "-write_buffer", "5000", "-result_memory", "30000"];

/// A directory with a database and queries, and the report of a search without ranks.
struct Inputs {
    dir: TempDir,
    report: Vec<u8>,
}

fn inputs() -> &'static Inputs {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary directory");
        write(dir.path(), "db", &FOUR, &family(5, 12));
        fs::write(dir.path().join("q.fa"), queries(6, QUERIES).concat()).expect("queries");
        let mut inputs = Inputs { dir, report: Vec::new() };
        let output = inputs.search(&["-outfmt", "7"]).output().expect("the program runs");
        assert!(output.status.success(), "{}", stderr_text(&output));
        inputs.report = output.stdout;
        inputs
    })
}

impl Inputs {
    fn search(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
        command
            .args(["blastp", "-query", "q.fa", "-db", "db", "-num_threads", "1"])
            .args(["-comp_based_stats", "0"])
            .args(arguments)
            .current_dir(self.dir.path())
            .env_remove("BLASTDB")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Returns a command that writes the report of a search as records in `out`.
    fn records(&self, out: &Path, arguments: &[&str]) -> Command {
        let mut command = self.search(&["-outfmt", "7", "-output", "records"]);
        command.args(SHAPE).arg("-out").arg(out).args(arguments);
        command
    }
}

fn cat(records: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.arg("cat").arg(records).args(arguments).output().expect("the program runs")
}

fn stderr_text(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("panicked"), "{text}");
    text
}

/// Writes a complete report to a separate directory.
fn write_report(arguments: &[&str]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("report");
    let output = inputs().records(&out, arguments).output().expect("the program runs");
    assert!(output.status.success(), "{}", stderr_text(&output));
    (dir, out)
}

/// Returns all files with this extension, in their order.
fn files(records: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(records).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the part of the report that belongs to a query.
fn part(query: &str) -> Vec<u8> {
    let report = String::from_utf8(inputs().report.clone()).expect("text");
    let mut parts = report.split_inclusive("# BLASTP 2.12.0+\n").peekable();
    while let Some(before) = parts.next() {
        let Some(next) = parts.peek() else { break };
        if next.starts_with(&format!("# Query: {query}\n")) {
            let lines: String = next
                .split_inclusive('\n')
                .take_while(|line| {
                    *line != "# BLASTP 2.12.0+\n" && !line.starts_with("# BLAST processed")
                })
                .collect();
            assert!(before.ends_with("# BLASTP 2.12.0+\n"));
            return format!("# BLASTP 2.12.0+\n{lines}").into_bytes();
        }
    }
    panic!("no {query} in the report")
}

#[test]
fn the_records_are_the_report() {
    for (arguments, extension) in [(&[][..], "zst"), (&["-compression", "gzip"], "gz")] {
        let (_dir, records) = write_report(arguments);
        let output = cat(&records, &[]);
        assert_eq!((stderr_text(&output), output.status.code()), (String::new(), Some(0)));
        assert!(output.stdout == inputs().report, "{arguments:?}");
        // Every rank has its own files, each with an index.
        let all = files(&records, extension);
        assert!(all.len() >= 2, "{all:?}");
        assert!(all.iter().all(|file| file.with_extension("index").is_file()), "{all:?}");
        // Nothing else is left of the job.
        assert!(!records.join("lock").exists());
        // The usual tools can decompress the files, too.
        let tool = if extension == "gz" { "gzip" } else { "zstd" };
        let mut shown = 0;
        for file in &all {
            let Ok(output) = Command::new(tool).arg("-dc").arg(file).output() else { continue };
            assert!(output.status.success(), "{tool}: {}", stderr_text(&output));
            shown += output.stdout.len();
        }
        assert!(shown == 0 || shown > inputs().report.len(), "{shown}");
    }
}

#[test]
fn a_query_is_read_alone() {
    let (_dir, records) = write_report(&[]);
    for query in ["q0", "q7", "q333", "q599"] {
        let output = cat(&records, &["-query", query]);
        assert_eq!((stderr_text(&output), output.status.code()), (String::new(), Some(0)));
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&part(query)));
    }
    let output = cat(&records, &["-query", "q600"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_text(&output).contains("no query 'q600' is there"), "{}", stderr_text(&output));
    // The output is the same without the indexes, and without most records of other queries.
    for index in files(&records, "index") {
        fs::remove_file(index).expect("it is there");
    }
    assert_eq!(cat(&records, &["-query", "q333"]).stdout, part("q333"));
}

#[test]
fn damage_is_named_by_file_and_offset_and_loses_only_its_record() {
    let (_dir, records) = write_report(&[]);
    let file = files(&records, "zst")
        .into_iter()
        .max_by_key(|file| fs::metadata(file).map_or(0, |meta| meta.len()));
    let file = file.expect("a file");
    let sound = fs::read(&file).expect("readable");
    let mut bytes = sound.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).expect("writable");
    for with_index in [true, false] {
        let output = cat(&records, &[]);
        assert_eq!(output.status.code(), Some(6), "{}", stderr_text(&output));
        let name =
            file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        assert!(
            stderr_text(&output).contains(&name) && stderr_text(&output).contains("at offset "),
            "{}",
            stderr_text(&output)
        );
        let output = cat(&records, &["-partial"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr_text(&output));
        assert!(stderr_text(&output).contains("at offset "), "{}", stderr_text(&output));
        let (there, all) = (output.stdout.len(), inputs().report.len());
        assert!(there < all && there > all / 2, "{there} of {all}");
        if with_index {
            fs::remove_file(file.with_extension("index")).expect("it is there");
        }
    }
    // The program notices a missing file, with the whole report or with a single query.
    fs::write(&file, &sound).expect("writable");
    assert!(cat(&records, &[]).stdout == inputs().report);
    for file in files(&records, "zst") {
        let aside = file.with_extension("aside");
        fs::rename(&file, &aside).expect("it is there");
        let output = cat(&records, &[]);
        let named = cat(&records, &["-query", "q333"]);
        let whole = output.status.success() && named.status.success();
        assert!(!whole, "nobody misses {}", file.display());
        assert!(
            stderr_text(&output).contains("is missing")
                || stderr_text(&named).contains("is missing")
        );
        fs::rename(&aside, &file).expect("it is there");
    }
}

/// Returns whether there are some complete records.
fn has_records(records: &Path) -> bool {
    records.join("job").is_file()
        && files(records, "zst")
            .iter()
            .any(|file| fs::metadata(file).is_ok_and(|meta| meta.len() > 20_000))
}

#[test]
fn a_job_cut_off_leaves_what_it_wrote() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let records = dir.path().join("report");
    let mut child = inputs().records(&records, &[]).spawn().expect("the program runs");
    let start = Instant::now();
    while !has_records(&records) && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().expect("it is a child");
    let output = child.wait_with_output().expect("it ended");
    assert_eq!(output.status.code(), None, "it was through before it was killed");
    let refused = cat(&records, &[]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr_text(&refused).contains("the report is not whole"), "{}", stderr_text(&refused));
    assert!(refused.stdout.is_empty());
    let partial = cat(&records, &["-partial"]);
    assert_eq!(partial.status.code(), Some(0), "{}", stderr_text(&partial));
    assert!(stderr_text(&partial).contains("the report is not whole"), "{}", stderr_text(&partial));
    // The partial report has lines of the report, in their order.
    let report = &inputs().report;
    let lines =
        |bytes: &[u8]| bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let mut all = lines(report).into_iter();
    assert!(
        lines(&partial.stdout)
            .into_iter()
            .filter(|line| !line.is_empty())
            .all(|line| all.any(|other| other == line))
    );
    assert!(partial.stdout.len() > 1000, "{}", partial.stdout.len());
    // The job cannot be resumed, and its records are not overwritten.
    let again = inputs().records(&records, &[]).output().expect("the program runs");
    assert_eq!(again.status.code(), Some(1));
    assert!(
        stderr_text(&again).contains("keeps the results of a job that did not end"),
        "{}",
        stderr_text(&again)
    );
}

#[test]
fn with_a_checkpoint_it_goes_on() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let records = dir.path().join("report");
    let name = records.display().to_string();
    let resume = ["-checkpoint", name.as_str(), "-resume"];
    let mut killed = 0;
    for _ in 0..3 {
        let mut child = inputs().records(&records, &resume).spawn().expect("the program runs");
        let start = Instant::now();
        let before: u64 = if records.is_dir() { files(&records, "zst").len() as u64 } else { 0 };
        while !(records.is_dir() && files(&records, "zst").len() as u64 > before + 1)
            && start.elapsed() < Duration::from_secs(60)
        {
            thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        killed += usize::from(child.wait().expect("it ended").code().is_none());
    }
    assert!(killed > 0);
    let output = inputs().records(&records, &resume).output().expect("the program runs");
    assert!(output.status.success(), "{}", stderr_text(&output));
    assert!(cat(&records, &[]).stdout == inputs().report);
    assert_eq!(cat(&records, &["-query", "q333"]).stdout, part("q333"));
    // The job has nothing left to do, and another search is refused.
    let output = inputs().records(&records, &resume).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(stderr_text(&output).contains("nothing is left to do"), "{}", stderr_text(&output));
    let other = [&resume[..], &["-evalue", "1"]].concat();
    let output = inputs().records(&records, &other).output().expect("the program runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_text(&output).contains("-evalue"), "{}", stderr_text(&output));
    assert!(cat(&records, &[]).stdout == inputs().report);
}

#[test]
fn what_cannot_be_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    fs::write(dir.path().join("file"), "precious").expect("a file");
    fs::create_dir(dir.path().join("full")).expect("a directory");
    fs::write(dir.path().join("full/notes"), "precious").expect("a file");
    let refused = |arguments: &[&str], part: &str| {
        let mut command = inputs().search(&["-output", "records"]);
        let output = command.args(arguments).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", stderr_text(&output));
        assert!(stderr_text(&output).contains(part), "{arguments:?}: {}", stderr_text(&output));
    };
    let path = |name: &str| dir.path().join(name).display().to_string();
    refused(&[], "needs a directory");
    refused(&["-out", &path("file")], "is none");
    refused(&["-checkpoint", &path("a"), "-out", &path("b")], "must name the same directory");
    let output = inputs().records(&dir.path().join("absent/report"), &[]).output().expect("runs");
    assert_eq!(output.status.code(), Some(6), "{}", stderr_text(&output));
    assert_eq!(fs::read(dir.path().join("file")).expect("there"), b"precious");
    let output = cat(&dir.path().join("full"), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_text(&output).contains("keeps no report"), "{}", stderr_text(&output));
    let mut other = inputs().search(&["-compression", "gzip", "-output", "merge"]);
    let output = other.output().expect("the program runs");
    assert!(stderr_text(&output).contains("-compression goes with -output records only"));
}
