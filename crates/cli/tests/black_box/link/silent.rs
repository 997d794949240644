//! Sites that send nothing for a long time, and sites that hang.

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::sites::*;
use crate::patience::wait_until;

impl Sites {
    /// Starts a receiver with `-link_timeout seconds`, which takes a silent peer for dead after a
    /// third of that time.
    fn receive_for(&self, seconds: &str) -> Receiver {
        let link = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", seconds];
        let words = ["-key", "io_site", "-peer", &self.keys[SEARCH_SITE], "-db", "db"];
        Receiver::new(fleetblast(self.path(), &[&link[..], &words].concat()))
    }

    /// Starts a search that gets half of its queries. Returns it when metadata have arrived, with
    /// the other half of the queries.
    pub(super) fn begin(&self, to: &str, options: &[&str]) -> (Child, Vec<u8>) {
        let words = ["blastp", "-query", "-", "-db", "db", "-block_residues", "500"];
        let link = ["-send", to, "-key", "search_site", "-peer", &self.keys[IO_SITE]];
        let mut command: Command = fleetblast(self.path(), &[&words, &link[..], options].concat());
        let mut search = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let queries = fs::read(self.path().join("q.fa")).unwrap();
        let (half, rest) = queries.split_at(queries.len() / 2);
        search.stdin.as_mut().unwrap().write_all(half).unwrap();
        let spool = self.path().join("r.fbm");
        wait_until("metadata", || fs::metadata(&spool).is_ok_and(|meta| meta.len() > 1000));
        (search, rest.to_vec())
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn a_search_that_finds_nothing_for_long_is_not_cut_off() {
    // (Ranks that wait for queries write only their own results, no results of other ranks.)
    let layouts = [&[][..], &["-ranks", "2", "-output", "individual"]];
    let survives_silence = |ranks: &[&str]| {
        let sites = Sites::new(40);
        let wanted = sites.direct(&[]);
        // A peer that is silent for two seconds counts as dead.
        let receiver = sites.receive_for("6");
        let options = [&["-link_timeout", "6"], ranks].concat();
        let (mut search, rest) = sites.begin(&receiver.address, &options);
        sleep(Duration::from_secs(8));
        search.stdin.take().unwrap().write_all(&rest).unwrap();
        let run = search.wait_with_output().unwrap();
        assert!(run.status.success() && stderr_text(&run).is_empty(), "{}", stderr_text(&run));
        let (code, messages) = receiver.end();
        assert!(code == Some(0) && !messages.contains("broke"), "{messages}");
        assert!(sites.report() == Some(wanted));
    };
    // Both searches run at the same time, since they mostly wait.
    thread::scope(|scope| {
        for ranks in layouts {
            scope.spawn(|| survives_silence(ranks));
        }
    });
}

#[test]
fn a_receiver_that_hangs_ends_ranks_that_have_nothing_to_send() {
    let sites = Sites::new(40);
    let receiver = sites.receive_for("60");
    let options = ["-ranks", "2", "-output", "individual", "-link_timeout", "3"];
    let (mut search, _) = sites.begin(&receiver.address, &options);
    signal(&receiver.child, Signal::STOP);
    let start = Instant::now();
    // The pipe stays open, so the queries do not end.
    let pipe = search.stdin.take();
    let run = search.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("no connection for 3 s"), "{}", stderr_text(&run));
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    drop(pipe);
    signal(&receiver.child, Signal::CONT);
    receiver.kill();
    assert!(sites.report().is_none());
}

#[test]
fn a_search_that_hangs_is_noticed_and_goes_on_after_that() {
    let sites = Sites::new(40);
    let wanted = sites.direct(&[]);
    let receiver = sites.receive_for("30");
    let (mut search, rest) = sites.begin(&receiver.address, &["-link_timeout", "60"]);
    signal(&search, Signal::STOP);
    sleep(Duration::from_secs(13));
    signal(&search, Signal::CONT);
    search.stdin.take().unwrap().write_all(&rest).unwrap();
    let run = search.wait_with_output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    let (code, messages) = receiver.end();
    assert!(messages.contains("The connection broke (the peer is silent)"), "{messages}");
    assert!(code == Some(0) && sites.report() == Some(wanted), "{messages}");
}
