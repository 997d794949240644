//! Signals that end a search while it waits for queries from a pipe and has begun its report. The
//! process ends by the signal, and leaves no files.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::metadata_ranks::{BLASTP, fleetblast, proteins, stderr_text};
use crate::patience::{wait_for_value, wait_until};

#[test]
fn a_search_that_waits_for_queries_is_ended_and_leaves_nothing() {
    let dir = proteins(25);
    let dir = dir.path();
    let queries = fs::read(dir.join("q.fa")).unwrap();
    let names = || {
        let entries = fs::read_dir(dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    let before = names();
    let layouts: [&[&str]; 3] = [&[], &["-ranks", "2"], &["-ranks", "2", "-io_ranks", "1"]];
    for layout in layouts {
        for signal in [Signal::TERM, Signal::HUP] {
            let words: Vec<&str> = BLASTP
                .iter()
                .map(|word| match *word {
                    "q.fa" => "-",
                    word => word,
                })
                .collect();
            let options = ["-out", "r"];
            // The tests themselves may run with signals ignored, as under `nohup`.
            let program = ["--default-signal=TERM,HUP", env!("CARGO_BIN_EXE_fleetblast")];
            let mut command = Command::new("env");
            command.args(program).args([&words[..], &options, layout].concat());
            command.current_dir(dir).env("BATCH_SIZE", "400").stdin(Stdio::piped());
            let errors = tempfile::NamedTempFile::new().unwrap();
            let mut child = command.stderr(File::create(errors.path()).unwrap()).spawn().unwrap();
            let mut pipe = child.stdin.take().unwrap();
            pipe.write_all(&queries).unwrap();
            wait_until("a report that is begun", || {
                names().iter().any(|name| name.ends_with(".part"))
            });
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = wait_for_value("the end of the search", || child.try_wait().unwrap());
            drop(pipe);
            let messages = fs::read_to_string(errors.path()).unwrap();
            assert_eq!(status.signal(), Some(signal.as_raw()), "{layout:?}: {messages}");
            assert_eq!(names(), before, "{layout:?}, {signal:?}");
        }
    }
    // The report is made if the queries end.
    let run = fleetblast(dir, &[&BLASTP[..], &["-out", "r"]].concat()).output().unwrap();
    assert!(run.status.success() && dir.join("r").exists(), "{}", stderr_text(&run));
}
