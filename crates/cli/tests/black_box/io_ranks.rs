//! Reports made by the last ranks of a job, at another site. They have the bytes of the report that
//! one process writes, or there is a clear error and no file under the report's name.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

#[cfg(feature = "mpi")]
use crate::metadata_ranks::make_database;
use crate::metadata_ranks::{
    BLASTN, BLASTP, KINDS, bases, fleetblast, must, proteins, stderr_text,
};
use crate::patience::output;

/// Runs a command with a time limit.
fn run(command: Command) -> Output {
    output(command, Duration::from_secs(100))
}

fn search(dir: &Path, program: &[&str], options: &[&str]) -> Command {
    let mut command = fleetblast(dir, &[program, options].concat());
    command.env("BATCH_SIZE", "400");
    command
}

/// Returns the contents of the report, and removes it; `None` if there is none.
fn report(dir: &Path) -> Option<Vec<u8>> {
    let report = fs::read(dir.join("r")).ok()?;
    fs::remove_file(dir.join("r")).unwrap();
    Some(report)
}

/// Returns whether no unfinished file of a report is left.
fn is_clean(dir: &Path) -> bool {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.into_iter().all(|name| !name.to_string_lossy().ends_with(".part"))
}

#[test]
fn any_ratio_of_ranks_makes_the_bytes_of_one_process() {
    let dir = proteins(25);
    let dir = dir.path();
    let ratios = [["2", "1"], ["4", "1"], ["3", "2"], ["6", "4"]];
    for (format, line) in [("0", "60"), ("5", "60"), ("0", "40")] {
        let format = ["-outfmt", format, "-line_length", line];
        let format = if format[1] == "0" { &format[..] } else { &format[..2] };
        let wanted = must(search(dir, &BLASTP, format));
        let kinds = KINDS.into_iter().zip(ratios);
        for (kind, [ranks, io]) in kinds.chain([("hits", ratios[3]), ("auto", ratios[2])]) {
            let options = ["-out", "r", "-metadata", kind, "-ranks", ranks, "-io_ranks", io];
            let run = run(search(dir, &BLASTP, &[&options, format].concat()));
            assert!(run.status.success(), "{options:?}: {}", stderr_text(&run));
            assert!(report(dir).as_ref() == Some(&wanted), "{options:?} {format:?}");
        }
    }
    let to_pipe = run(search(dir, &BLASTP, &["-ranks", "3", "-io_ranks", "1"]));
    assert!(to_pipe.stdout == must(search(dir, &BLASTP, &[])));
    assert!(is_clean(dir));
}

#[test]
fn where_batches_depend_on_what_is_found_the_report_is_the_same() {
    let dir = bases(150);
    let dir = dir.path();
    let searched = |options: &[&str]| fleetblast(dir, &[&BLASTN[..], options].concat());
    for format in ["5", "0", "17"] {
        let wanted = must(searched(&["-outfmt", format]));
        let io = if format == "17" { "1" } else { "2" };
        let kinds = KINDS.into_iter().chain(["auto"]);
        for kind in kinds.filter(|kind| !["report", "auto"].contains(kind) || format != "17") {
            let options = ["-ranks", "4", "-io_ranks", io, "-metadata", kind, "-outfmt", format];
            let run = run(searched(&options));
            assert!(run.status.success(), "{options:?}: {}", stderr_text(&run));
            let [made, wanted] = [&run.stdout, &wanted].map(|text| without_command(text));
            assert!(made == wanted, "{kind} in format {format}");
        }
    }
}

/// Removes the line of SAM with the command, which has the numbers of ranks.
fn without_command(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|&byte| byte == b'\n');
    lines.filter(|line| !line.starts_with(b"@PG")).flatten().copied().collect()
}

#[test]
fn messages_about_queries_come_in_their_order() {
    let dir = proteins(12);
    let dir = dir.path();
    let mut text = fs::read_to_string(dir.join("q.fa")).unwrap();
    for number in 0..12 {
        text += &format!(">odd{number}\n{}\n>q{number} again\n", "X".repeat(30));
        text += &"MKVLAAGIVGLLALAQPSTAE".repeat(1 + number % 3);
        text += "\n";
    }
    fs::write(dir.join("q.fa"), text).unwrap();
    let alone = run(search(dir, &BLASTP, &["-out", "r"]));
    let wanted = report(dir);
    assert!(stderr_text(&alone).contains("odd11"), "{}", stderr_text(&alone));
    // With `auto`, a block is sent as its report if the other encodings have more than this share
    // of its bytes.
    for (kind, limit) in
        [("hits", None), ("report", None), ("auto", Some("0")), ("auto", Some("1"))]
    {
        let options = ["-out", "r", "-metadata", kind, "-ranks", "4", "-io_ranks", "2"];
        let limit = limit.map_or(vec![], |limit| vec!["-metadata_limit", limit]);
        let run = run(search(dir, &BLASTP, &[&options[..], &limit].concat()));
        assert!(run.status.success(), "{}", stderr_text(&run));
        assert!(report(dir) == wanted, "{kind}");
        assert_eq!(stderr_text(&run), stderr_text(&alone), "{kind}");
    }
}

#[test]
fn an_input_without_queries_or_with_a_broken_one_ends_as_it_does_in_one_process() {
    let dir = proteins(20);
    let dir = dir.path();
    let queries = fs::read_to_string(dir.join("q.fa")).unwrap();
    for text in [String::new(), format!("{queries}>nothing\n"), format!("{queries}>bad\nMK\x01\n")]
    {
        fs::write(dir.join("q.fa"), text).unwrap();
        let alone = run(search(dir, &BLASTP, &["-out", "r"]));
        let wanted = report(dir);
        for kind in KINDS {
            let options = ["-out", "r", "-metadata", kind, "-ranks", "3", "-io_ranks", "1"];
            let run = run(search(dir, &BLASTP, &options));
            assert_eq!(run.status.code(), alone.status.code(), "{}", stderr_text(&run));
            assert_eq!(stderr_text(&run), stderr_text(&alone));
            if alone.status.success() {
                assert!(report(dir) == wanted, "{kind}");
            } else {
                assert!(report(dir).is_none(), "{kind}: what is not whole has the report's name");
            }
        }
    }
    assert!(is_clean(dir));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let dir = proteins(5);
    let dir = dir.path();
    let refused: [(&[&str], &str); 9] = [
        (&["-ranks", "2", "-io_ranks", "2"], "-io_ranks 2 leaves none of 2 ranks to search"),
        (&["-io_ranks", "1"], "-io_ranks is for a job of several ranks"),
        (&["-ranks", "3", "-io_ranks", "1", "-checkpoint", "c"], "checkpoint"),
        (&["-ranks", "3", "-io_ranks", "1", "-metadata_out", "m"], "metadata_out"),
        (&["-ranks", "3", "-io_ranks", "1", "-output", "records"], "-output records"),
        (&["-ranks", "3", "-io_ranks", "1", "-timing", "r"], "-timing both name r"),
        (&["-ranks", "3", "-io_ranks", "0"], "io_ranks"),
        (&["-metadata", "hits"], "-metadata needs -metadata_out, -send or -io_ranks"),
        (&["-ranks", "3", "-io_ranks", "1", "-out", "/nowhere/r"], "/nowhere/r"),
    ];
    for (options, what) in refused {
        let out: &[&str] = if options.contains(&"-out") { &[] } else { &["-out", "r"] };
        let run = run(search(dir, &BLASTP, &[options, out].concat()));
        assert_eq!(run.status.code(), Some(1), "{options:?}: {}", stderr_text(&run));
        assert!(stderr_text(&run).contains(what), "{options:?}: {}", stderr_text(&run));
        assert!(!dir.join("r").exists(), "{options:?}");
    }
    let sites = bases(3);
    let sam = ["-outfmt", "17", "-ranks", "4", "-io_ranks", "2"];
    let run = run(search(sites.path(), &BLASTN, &sam));
    assert!(
        stderr_text(&run).contains("-io_ranks above 1 and -outfmt 17"),
        "{}",
        stderr_text(&run)
    );
}

#[test]
fn an_output_that_is_full_is_one_error() {
    let dir = proteins(20);
    let dir = dir.path();
    let options = ["-ranks", "4", "-io_ranks", "2", "-out", "/dev/full"];
    let run = run(search(dir, &BLASTP, &options));
    assert_eq!(run.status.code(), Some(6));
    assert_eq!(stderr_text(&run).matches("/dev/full").count(), 1, "{}", stderr_text(&run));
}

#[cfg(feature = "mpi")]
mod processes {
    use std::thread::sleep;
    use std::time::Instant;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;
    use crate::launched::{launched, rank_of};
    use crate::patience::{wait_for_value, wait_until};

    /// Returns a command that runs a search on this number of processes.
    fn mpirun(dir: &Path, processes: u32, options: &[&str]) -> Command {
        let mut command = launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), processes);
        command.args(BLASTP).args(options).current_dir(dir).env("BATCH_SIZE", "400");
        command.stdin(std::process::Stdio::null());
        command
    }

    #[test]
    fn processes_make_the_bytes_of_one() {
        let dir = proteins(40);
        let dir = dir.path();
        let wanted = must(search(dir, &BLASTP, &[]));
        let kinds = KINDS.into_iter().chain(["auto"]);
        for (kind, [processes, io]) in kinds.zip([[3, 1], [4, 2], [5, 4], [4, 2]]) {
            let io = io.to_string();
            let run =
                run(mpirun(dir, processes, &["-out", "r", "-metadata", kind, "-io_ranks", &io]));
            assert!(run.status.success(), "{kind}: {}", stderr_text(&run));
            assert!(report(dir).as_ref() == Some(&wanted), "{kind}");
        }
        fs::write(dir.join("q.fa"), "").unwrap();
        let run = run(mpirun(dir, 3, &["-out", "r", "-io_ranks", "1"]));
        assert!(run.status.success() && report(dir) == Some(Vec::new()), "{}", stderr_text(&run));
        assert!(is_clean(dir));
    }

    /// Returns a command that runs three processes; the last one has `io_options`.
    fn with_other(dir: &Path, search_options: &[&str], io_options: &[&str]) -> Command {
        let mut command = mpirun(dir, 2, search_options);
        command.args([":", "-n", "1", env!("CARGO_BIN_EXE_fleetblast"), "blastp"]).args(io_options);
        command
    }

    /// The queries are at the search site only, the report is at the I/O site, and the databases
    /// have different names.
    #[test]
    fn each_site_has_files_of_its_own() {
        let dir = proteins(20);
        let dir = dir.path();
        let wanted = must(search(dir, &BLASTP, &[]));
        let io_site = dir.join("io_site");
        fs::create_dir(&io_site).unwrap();
        make_database(&io_site, "prot", &fs::read_to_string(dir.join("db.fa")).unwrap());
        let search_options = ["-out", "/nowhere/r", "-io_ranks", "1"];
        let io_options = ["-query", "none.fa", "-db", "io_site/db", "-out", "r", "-io_ranks", "1"];
        let run = run(with_other(dir, &search_options, &io_options));
        assert!(run.status.success(), "{}", stderr_text(&run));
        // The report names the database that was searched.
        assert!(report(dir) == Some(wanted));
    }

    #[test]
    fn another_database_or_none_is_one_error_that_names_the_rank() {
        let dir = proteins(20);
        let dir = dir.path();
        let other = dir.join("other");
        fs::create_dir(&other).unwrap();
        let text = fs::read_to_string(dir.join("db.fa")).unwrap();
        make_database(&other, "prot", &text[..text.rfind('>').unwrap()]);
        let wrong = [
            ("other/db", "other/db is not the database that was searched"),
            ("none/db", "No alias or index file found for protein database [none/db]"),
        ];
        for (db, what) in wrong {
            let io_options = ["-query", "q.fa", "-db", db, "-out", "r", "-io_ranks", "2"];
            let run = run(with_other(dir, &["-out", "r", "-io_ranks", "2"], &io_options));
            assert_eq!(run.status.code(), Some(2), "{}", stderr_text(&run));
            assert_eq!(stderr_text(&run).matches(what).count(), 1, "{}", stderr_text(&run));
            assert!(stderr_text(&run).contains("(rank 2 on host "), "{}", stderr_text(&run));
            assert!(report(dir).is_none());
        }
        let io_options = ["-query", "q.fa", "-db", "db", "-out", "r", "-io_ranks", "2"];
        let run = run(with_other(dir, &["-out", "r", "-io_ranks", "1"], &io_options));
        assert!(
            stderr_text(&run).contains("with another -io_ranks than rank 0"),
            "{}",
            stderr_text(&run)
        );
        assert!(!run.status.success() && report(dir).is_none());
    }

    /// An option that is given at one site only would have no effect.
    #[test]
    fn other_options_at_the_other_site_are_refused_by_name() {
        let dir = proteins(20);
        let dir = dir.path();
        let files = ["-query", "q.fa", "-db", "db", "-out", "r", "-io_ranks", "1"];
        let cases: [(&[&str], &[&str], &str); 3] = [
            (&[], &["-outfmt", "6"], "-outfmt"),
            (&["-evalue", "3"], &[], "-evalue"),
            (
                &["-outfmt", "5", "-max_target_seqs", "3"],
                &["-outfmt", "5", "-max_target_seqs", "4"],
                "-max_target_seqs",
            ),
        ];
        for (search_options, io_options, name) in cases {
            let search_options = [&files[4..], search_options].concat();
            let io_options = [&files[..], io_options].concat();
            let run = run(with_other(dir, &search_options, &io_options));
            assert_eq!(run.status.code(), Some(1), "{}", stderr_text(&run));
            let wanted = format!("{name} differs between the ranks that search");
            assert!(stderr_text(&run).contains(&wanted), "{}", stderr_text(&run));
            assert!(report(dir).is_none());
        }
    }

    /// A search that is refused, or finds no database, ends the I/O site, too.
    #[test]
    fn a_search_that_cannot_begin_ends_both_sites() {
        let dir = proteins(3);
        let dir = dir.path();
        for (options, what) in [
            (&["-query", "q.fa", "-db", "none"][..], "[none]"),
            (&["-query", "none.fa", "-db", "db"], "none.fa"),
            (&["-query", "q.fa", "-db", "db", "-metadata", "auto", "-outfmt", "17"], "SAM"),
        ] {
            let mut command = launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 4);
            command.arg("blastp").args(options).args(["-io_ranks", "2", "-out", "r"]);
            let run = run({
                command.current_dir(dir).stdin(std::process::Stdio::null());
                command
            });
            assert!(!run.status.success());
            assert!(stderr_text(&run).contains(what), "{}", stderr_text(&run));
            assert!(report(dir).is_none());
        }
    }

    /// Longest wait for a launcher after one of its ranks was killed.
    const LAUNCHER: Duration = Duration::from_secs(20);

    #[test]
    fn whatever_rank_dies_nothing_has_the_name_of_the_report() {
        let dir = proteins(600);
        let dir = dir.path();
        let (mut died, wanted) = (0, must(search(dir, &BLASTP, &[])));
        let ranks = ["0", "1", "2", "3"];
        // Ranks die early and late.
        let deaths = [("0", 60), ("0", 400), ("1", 400), ("2", 60), ("2", 400), ("3", 400)];
        for (rank, pause) in deaths {
            // Ranks of the job before may not have ended yet.
            let is_over = || ranks.iter().all(|rank| rank_of(dir, rank).is_none());
            wait_until("the end of all ranks", is_over);
            let mut child = mpirun(dir, 4, &["-out", "r", "-io_ranks", "2", "-num_threads", "1"])
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .spawn()
                .unwrap();
            let victim = wait_for_value("a rank to die", || rank_of(dir, rank));
            sleep(Duration::from_millis(pause));
            // The rank may have ended already.
            let _ = kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL);
            let killed = Instant::now();
            let ended =
                wait_for_value("the end of the others", || match child.try_wait().unwrap() {
                    None if killed.elapsed() < LAUNCHER => None,
                    ended => Some(ended.is_some_and(|status| status.success())),
                });
            // If a rank dies during the start, Open MPI's launcher may hang, and the ranks with it.
            let _ = child.kill();
            let _ = child.wait();
            for rank in ranks.into_iter().filter_map(|rank| rank_of(dir, rank)) {
                let _ = kill_process(Pid::from_raw(rank).unwrap(), Signal::KILL);
            }
            let report = report(dir);
            died += u32::from(!ended);
            match ended {
                true => assert!(report.as_ref() == Some(&wanted)),
                false => assert!(report.is_none(), "rank {rank} died"),
            }
        }
        assert!(died > 2, "{died} died in time");
    }
}

/// The search ends with an error at its last query. Message and exit code are those of one process.
/// Standard output has a prefix of its report, which in SAM is empty.
#[test]
fn a_malformed_query_at_the_end_leaves_a_prefix_of_the_report() {
    let dir = bases(40);
    let dir = dir.path();
    let queries = fs::read_to_string(dir.join("q.fa")).unwrap();
    let malformed = [">gi|abc z\nACGT\n", ">q2\n%%%%%%%%\n", ">empty\n"];
    for (end, format) in malformed.into_iter().flat_map(|end| ["17", "6"].map(|it| (end, it))) {
        fs::write(dir.join("q.fa"), format!("{queries}{end}")).unwrap();
        let options = ["-outfmt", format, "-parse_deflines"];
        let alone = run(search(dir, &BLASTN, &options));
        let ranks = ["-ranks", "3", "-io_ranks", "1", "-metadata", "hits"];
        let sites = run(search(dir, &BLASTN, &[&options[..], &ranks].concat()));
        assert!(!alone.status.success(), "{end:?}");
        assert_eq!(sites.status.code(), alone.status.code(), "{end:?}: {}", stderr_text(&sites));
        let last = |run: &Output| stderr_text(run).lines().last().map(str::to_owned);
        assert_eq!(last(&sites), last(&alone), "{end:?}");
        assert!(!alone.stdout.is_empty() && alone.stdout.starts_with(&sites.stdout), "{end:?}");
        assert!(format != "17" || sites.stdout.is_empty(), "{end:?}");
    }
}
