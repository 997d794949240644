//! Two sites: a search runs at one, and a receiver at the other.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::Duration;

use tempfile::TempDir;

use crate::family::{family, queries};
use crate::patience::wait_until;

pub(super) fn fleetblast(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.current_dir(dir).args(words).stdin(Stdio::null());
    command.env("BATCH_SIZE", "400");
    command
}

pub(super) fn must(dir: &Path, words: &[&str]) -> Vec<u8> {
    let run = fleetblast(dir, words).output().unwrap();
    assert!(run.status.success(), "{words:?}: {}", stderr_text(&run));
    run.stdout
}

pub(super) fn stderr_text(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Two sites in one directory, each with a key, and the database and queries.
pub(super) struct Sites {
    pub(super) dir: TempDir,
    /// Fingerprints of the keys in [`NAMES`].
    pub(super) keys: [String; 3],
}

pub(super) const SEARCH_SITE: usize = 0;
pub(super) const IO_SITE: usize = 1;
pub(super) const OTHER: usize = 2;
pub(super) const NAMES: [&str; 3] = ["search_site", "io_site", "other"];

impl Sites {
    pub(super) fn new(count: usize) -> Sites {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("q.fa"), queries(5, count).concat()).unwrap();
        make_database(dir.path(), "db", 1);
        let key = |name| {
            String::from_utf8(must(dir.path(), &["keygen", name])).unwrap().trim().to_owned()
        };
        let keys = NAMES.map(key);
        Sites { dir, keys }
    }

    pub(super) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(super) fn direct(&self, options: &[&str]) -> Vec<u8> {
        must(self.path(), &[&["blastp", "-query", "q.fa", "-db", "db"], options].concat())
    }

    /// Returns a command that searches and sends to an address. `keys` are the numbers of its own
    /// key and of the peer's key.
    pub(super) fn search(&self, to: &str, keys: [usize; 2], options: &[&str]) -> Command {
        let words = ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
        let link = ["-send", to, "-key", NAMES[keys[0]], "-peer", &self.keys[keys[1]]];
        let patience: &[&str] =
            if options.contains(&"-link_timeout") { &[] } else { &["-link_timeout", "60"] };
        fleetblast(self.path(), &[&words, &link[..], patience, options].concat())
    }

    /// Searches, and sends the results to a receiver. The search must succeed.
    pub(super) fn must_search(&self, to: &Receiver) {
        let mut search = self.search(&to.address, [SEARCH_SITE, IO_SITE], &[]);
        assert!(search.output().unwrap().status.success());
    }

    pub(super) fn receive(&self, keys: [usize; 2], options: &[&str]) -> Receiver {
        let words = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", "120"];
        let link = ["-key", NAMES[keys[0]], "-peer", &self.keys[keys[1]]];
        Receiver::new(fleetblast(self.path(), &[&words, &link[..], options].concat()))
    }

    /// Starts a receiver with `-db db` that accepts connections from the search site.
    pub(super) fn receive_db(&self) -> Receiver {
        self.receive([IO_SITE, SEARCH_SITE], &["-db", "db"])
    }

    /// Returns the contents of the report, and removes it; `None` if there is none.
    pub(super) fn report(&self) -> Option<Vec<u8>> {
        let report = fs::read(self.path().join("r")).ok()?;
        fs::remove_file(self.path().join("r")).unwrap();
        Some(report)
    }

    /// Removes the metadata that an earlier run kept.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(self.path().join("r.fbm"));
    }
}

pub(super) fn make_database(dir: &Path, name: &str, seed: u64) {
    let text = |(title, letters): &(String, Vec<u8>)| {
        format!(">{title}\n{}\n", String::from_utf8_lossy(letters))
    };
    let text: String = family(seed, 60).iter().map(text).collect();
    fs::write(dir.join("db.fa"), text).unwrap();
    must(dir, &["makeblastdb", "-in", "db.fa", "-dbtype", "prot", "-out", name, "-title", "db"]);
}

/// A running receiver, and its address.
pub(crate) struct Receiver {
    pub(super) child: Child,
    pub(crate) address: String,
    pub(super) messages: Option<JoinHandle<String>>,
}

impl Drop for Receiver {
    /// Kills the receiver, which nothing else ends if an assertion fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Receiver {
    pub(crate) fn new(mut command: Command) -> Receiver {
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut before = String::new();
        let address = loop {
            let mut line = String::new();
            assert!(lines.read_line(&mut line).unwrap() > 0, "it does not listen: {before}");
            match line.strip_prefix("Listening at ").and_then(|rest| rest.split_once(';')) {
                Some((address, _)) => break address.to_owned(),
                None => before += &line,
            }
        };
        let messages = thread::spawn(move || {
            let mut rest = before;
            let _ = lines.read_to_string(&mut rest);
            rest
        });
        Receiver { child, address, messages: Some(messages) }
    }

    /// Returns whether the receiver has ended, because all metadata came although the search was
    /// killed.
    pub(super) fn is_through(&mut self) -> bool {
        sleep(Duration::from_millis(300));
        self.is_over()
    }

    /// Returns whether the receiver has ended.
    pub(super) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the receiver's end; returns its exit code and messages.
    pub(super) fn end(mut self) -> (Option<i32>, String) {
        wait_until("the receiver's end", || self.is_over());
        let status = self.child.wait().unwrap();
        (status.code(), self.messages.take().expect("it ends once").join().unwrap())
    }

    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.end();
    }

    pub(crate) fn must_end(self) {
        let (code, messages) = self.end();
        assert_eq!(code, Some(0), "{messages}");
    }
}
