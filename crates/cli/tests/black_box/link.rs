//! Reports of searches at another site, by a link: the bytes of the report that the search would have written, whatever breaks on the
//! way, or a clear end on both sides and nothing under the report's name.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::family::{family, queries};
use crate::proxy::{Fate, Proxy};
use crate::volumes::Random;

fn fleetblast(dir: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetblast"));
    command.current_dir(dir).args(words).stdin(Stdio::null());
    command.env("BATCH_SIZE", "400");
    command
}

fn must(dir: &Path, words: &[&str]) -> Vec<u8> {
    let run = fleetblast(dir, words).output().unwrap();
    assert!(run.status.success(), "{words:?}: {}", said(&run));
    run.stdout
}

/// Waits, but not for ever: a test that hangs says nothing.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(100), "{what}: it does not come to that");
        sleep(Duration::from_millis(1));
    }
}

fn said(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Two sites in one directory, each with a key, and what they search.
struct Sites {
    dir: TempDir,
    /// Fingerprints of the keys `here`, `there` and `other`.
    keys: [String; 3],
}

const HERE: usize = 0;
const THERE: usize = 1;
const OTHER: usize = 2;
const NAMES: [&str; 3] = ["here", "there", "other"];

impl Sites {
    fn new(count: usize) -> Sites {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("q.fa"), queries(5, count).concat()).unwrap();
        make_database(dir.path(), "db", 1);
        let key = |name| {
            String::from_utf8(must(dir.path(), &["keygen", name])).unwrap().trim().to_owned()
        };
        let keys = NAMES.map(key);
        Sites { dir, keys }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn direct(&self, options: &[&str]) -> Vec<u8> {
        must(self.path(), &[&["blastp", "-query", "q.fa", "-db", "db"], options].concat())
    }

    /// A search that sends to an address, as who has the first key and knows the second.
    fn search(&self, to: &str, keys: [usize; 2], options: &[&str]) -> Command {
        let words = ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
        let link = ["-send", to, "-key", NAMES[keys[0]], "-peer", &self.keys[keys[1]]];
        let patience: &[&str] =
            if options.contains(&"-link_timeout") { &[] } else { &["-link_timeout", "60"] };
        fleetblast(self.path(), &[&words, &link[..], patience, options].concat())
    }

    fn receive(&self, keys: [usize; 2], options: &[&str]) -> Receiver {
        let words = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", "120"];
        let link = ["-key", NAMES[keys[0]], "-peer", &self.keys[keys[1]]];
        Receiver::new(fleetblast(self.path(), &[&words, &link[..], options].concat()))
    }

    /// Who receives from `here`.
    fn receive_db(&self) -> Receiver {
        self.receive([THERE, HERE], &["-db", "db"])
    }

    /// What is under the report's name, which is removed.
    fn report(&self) -> Option<Vec<u8>> {
        let report = fs::read(self.path().join("r")).ok()?;
        fs::remove_file(self.path().join("r")).unwrap();
        Some(report)
    }

    /// Removes what an earlier run kept.
    fn forget(&self) {
        let _ = fs::remove_file(self.path().join("r.fbm"));
    }
}

fn make_database(dir: &Path, name: &str, seed: u64) {
    let text = |(title, letters): &(String, Vec<u8>)| {
        format!(">{title}\n{}\n", String::from_utf8_lossy(letters))
    };
    let text: String = family(seed, 120).iter().map(text).collect();
    fs::write(dir.join("db.fa"), text).unwrap();
    must(dir, &["makeblastdb", "-in", "db.fa", "-dbtype", "prot", "-out", name, "-title", "db"]);
}

/// Who receives, and listens.
struct Receiver {
    child: Child,
    address: String,
    messages: Option<JoinHandle<String>>,
}

impl Drop for Receiver {
    /// Where an assertion fails nobody else ends it.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Receiver {
    fn new(mut command: Command) -> Receiver {
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

    /// Whether all was there although the search was killed: then nobody listens any more.
    fn is_through(&mut self) -> bool {
        sleep(Duration::from_millis(300));
        self.is_over()
    }

    /// Whether it has come to its end.
    fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for its end; its exit code and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        until("the receiver's end", || self.is_over());
        let status = self.child.wait().unwrap();
        (status.code(), self.messages.take().expect("it ends once").join().unwrap())
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.end();
    }

    fn must_end(self) {
        let (code, messages) = self.end();
        assert_eq!(code, Some(0), "{messages}");
    }
}

#[test]
fn every_kind_gives_the_bytes_of_the_search() {
    let sites = Sites::new(20);
    for (kind, format) in [("hits", "0"), ("oids", "6"), ("report", "5"), ("auto", "5")] {
        let receiver = match kind {
            "report" => sites.receive([THERE, HERE], &[]),
            // The format is settled.
            "auto" => sites.receive([THERE, HERE], &["-db", "db"]),
            _ => sites.receive([THERE, HERE], &["-db", "db", "-outfmt", format]),
        };
        let options = ["-metadata", kind, "-outfmt", format, "-timing", "t"];
        let mut search = sites.search(&receiver.address, [HERE, THERE], &options);
        let run = search.output().unwrap();
        assert!(run.status.success(), "{}", said(&run));
        assert!(run.stdout.is_empty());
        receiver.must_end();
        assert!(sites.report() == Some(sites.direct(&["-outfmt", format])), "{kind}");
        assert!(!sites.path().join("r.fbm").exists());
    }
    let timing = fs::read(sites.path().join("t")).unwrap();
    let timing: serde_json::Value = serde_json::from_slice(&timing).unwrap();
    let told = &timing["metadata"];
    assert!(told["link"]["round_trip_seconds"].as_f64().unwrap() < 5.0, "{told}");
    assert!(told["link"]["workers"].as_u64().unwrap() >= 1, "{told}");
    let blocks = |part: &serde_json::Value| -> u64 {
        part.as_array().unwrap().iter().map(|it| it["blocks"].as_u64().unwrap()).sum()
    };
    assert!(blocks(&told["choices"]) > 1 && blocks(&told["choices"]) == blocks(&told["kinds"]));
}

#[test]
fn a_connection_cut_anywhere_goes_on_from_there() {
    let sites = Sites::new(20);
    let wanted = sites.direct(&[]);
    // In the handshake, in messages, and in records, of which there are some at each connection.
    let cuts = [0, 1, 100, 500, 1000, 1200, 1300, 1400, 1600, 2000, 2500, 3000, 4000, 5000];
    let proxy = Proxy::new(cuts.map(Fate::Cut), false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted));
    assert!(proxy.connections() > 8, "{}", proxy.connections());
}

/// Kills a search as soon as so many bytes more have come at the other site, if it is not over by then.
fn kill_after(mut search: Command, spool: &Path, more: u64) -> ExitStatus {
    let mut killed = search.stderr(Stdio::null()).spawn().unwrap();
    let length = || fs::metadata(spool).map_or(0, |meta| meta.len());
    let before = length();
    until("bytes of the search", || {
        length() > before + more || killed.try_wait().unwrap().is_some()
    });
    killed.kill().unwrap();
    killed.wait().unwrap()
}

/// Whether a search went well, or came when all was there and nobody listened any more.
fn went_well(run: &Output) -> bool {
    run.status.success() || said(run).contains("no connection for")
}

#[test]
fn a_killed_search_goes_on_where_the_other_site_is() {
    let sites = Sites::new(60);
    let mut resumed = 0;
    // A report that goes on has one begin, and tells of all queries in its end.
    let kinds = ["hits", "oids", "report", "report", "auto", "auto"];
    for (kind, format) in kinds.into_iter().zip(["0", "0", "5", "7", "5", "7"]) {
        let wanted = sites.direct(&["-outfmt", format]);
        let mut receiver = sites.receive_db();
        let options = ["-metadata", kind, "-outfmt", format, "-timing", "t", "-num_threads", "1"];
        let address = receiver.address.clone();
        let search = || sites.search(&address, [HERE, THERE], &options);
        for _ in 0..4 {
            kill_after(search(), &sites.path().join("r.fbm"), 1500);
            if receiver.is_through() {
                break;
            }
        }
        if !receiver.is_through() {
            let run = search().output().unwrap();
            assert!(went_well(&run), "{kind}: {}", said(&run));
            if run.status.success() {
                let timing = fs::read_to_string(sites.path().join("t")).unwrap();
                resumed += u32::from(!timing.contains("\"queries\": 60"));
            }
        }
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind} in format {format}");
    }
    assert!(resumed > 2, "hardly a search went on: {resumed}");
}

/// Ranks write records in any order, and send them in that of the queries.
#[test]
fn ranks_send_while_they_search() {
    let sites = Sites::new(60);
    let wanted = sites.direct(&[]);
    for (kind, ranks) in [("hits", "3"), ("oids", "1"), ("report", "4")] {
        let receiver = sites.receive_db();
        let options = ["-metadata", kind, "-ranks", ranks];
        let run = sites.search(&receiver.address, [HERE, THERE], &options).output().unwrap();
        assert!(run.status.success(), "{}", said(&run));
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind}");
        let left = fs::read_dir(sites.path()).unwrap().filter_map(Result::ok);
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        let is_part = |name: &std::ffi::OsString| name.to_string_lossy().ends_with(".part");
        assert!(!left.iter().any(is_part), "{left:?}");
    }
    // A search that ends with an error ends both sides.
    let queries = fs::read_to_string(sites.path().join("q.fa")).unwrap();
    fs::write(sites.path().join("q.fa"), format!("{queries}>nothing\n")).unwrap();
    let ends = |options: &[&str]| {
        let receiver = sites.receive_db();
        let run = sites.search(&receiver.address, [HERE, THERE], options).output().unwrap();
        let (code, messages) = receiver.end();
        sites.forget();
        assert!(sites.report().is_none() || run.status.success(), "{messages}");
        (run.status.code(), code)
    };
    assert_eq!(ends(&["-ranks", "2"]), ends(&[]));
}

/// The first of them sends what all of them write.
#[cfg(feature = "mpi")]
#[test]
fn processes_send_while_they_search() {
    let sites = Sites::new(60);
    let wanted = sites.direct(&[]);
    for (kind, output) in [("hits", "merge"), ("oids", "collective"), ("report", "individual")] {
        let receiver = sites.receive_db();
        let options = ["-metadata", kind, "-output", output];
        let typed = sites.search(&receiver.address, [HERE, THERE], &options);
        let mut search = crate::launched::launched(Path::new(env!("CARGO_BIN_EXE_fleetblast")), 3);
        search.args(typed.get_args()).current_dir(sites.path()).env("BATCH_SIZE", "400");
        let run = search.stdin(Stdio::null()).output().unwrap();
        assert!(run.status.success(), "{kind}: {}", said(&run));
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind}, {output}");
    }
}

#[test]
fn killed_ranks_go_on_where_their_checkpoint_and_the_other_site_are() {
    let sites = Sites::new(150);
    let wanted = sites.direct(&[]);
    let mut kills = 0;
    for (kind, checkpoint) in [("hits", true), ("oids", false), ("report", true)] {
        let mut receiver = sites.receive_db();
        let options = |ranks| {
            let all = ["-metadata", kind, "-num_threads", "1", "-ranks", ranks];
            let kept = ["-checkpoint", "kept", "-resume", "-link_timeout", "60"];
            [&all[..], if checkpoint { &kept } else { &kept[3..] }].concat()
        };
        for ranks in ["2", "3", "4"] {
            let search = sites.search(&receiver.address, [HERE, THERE], &options(ranks));
            kill_after(search, &sites.path().join("r.fbm"), 500);
            if receiver.is_through() {
                break;
            }
            kills += 1;
        }
        if !receiver.is_through() {
            let mut last = sites.search(&receiver.address, [HERE, THERE], &options("2"));
            let run = last.output().unwrap();
            assert!(went_well(&run), "{kind}: {}", said(&run));
            assert!(!sites.path().join("kept").exists());
        }
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind}");
        let _ = fs::remove_dir_all(sites.path().join("kept"));
    }
    assert!(kills > 0, "no run was killed before all was there");
}

#[test]
fn ranks_hear_at_once_what_ends_the_other_site() {
    let sites = Sites::new(60);
    make_database(sites.path(), "db2", 2);
    let receiver = sites.receive([THERE, HERE], &["-db", "db2"]);
    let options = ["-ranks", "2"];
    let run = sites.search(&receiver.address, [HERE, THERE], &options).output().unwrap();
    let (code, messages) = receiver.end();
    assert_eq!((run.status.code(), code), (Some(6), Some(2)), "{}{messages}", said(&run));
    assert!(said(&run).contains("is not the database that was searched"), "{}", said(&run));
    assert!(sites.report().is_none());
}

#[test]
fn a_killed_receiver_goes_on_with_what_it_has() {
    let sites = Sites::new(60);
    let wanted = sites.direct(&[]);
    for (kind, pause) in [("hits", 0), ("oids", 60), ("report", 10), ("hits", 150)] {
        let proxy = Proxy::new([], false);
        let receiver = sites.receive_db();
        proxy.lead_to(&receiver.address);
        let options = ["-metadata", kind, "-num_threads", "1"];
        let mut search = sites.search(&proxy.address, [HERE, THERE], &options);
        let search = search.stderr(Stdio::piped()).spawn().unwrap();
        let spool = sites.path().join("r.fbm");
        let mut receiver = receiver;
        let mut made = None;
        for part in 1..4 {
            // Where there is none any more it has come to its end.
            let come = || fs::metadata(&spool).map_or(u64::MAX, |meta| meta.len());
            until("bytes of the search", || come() >= 2000 * part);
            sleep(Duration::from_millis(pause));
            if receiver.is_over() || !spool.exists() {
                break;
            }
            receiver.kill();
            made = sites.report();
            assert!(made.is_none() || made.as_ref() == Some(&wanted), "nothing by halves");
            receiver = sites.receive_db();
            proxy.lead_to(&receiver.address);
            if made.is_some() {
                break;
            }
        }
        let run = search.wait_with_output().unwrap();
        assert!(run.status.success(), "{kind}: {}", said(&run));
        // Who had made it, and was killed before that was told, has done all there was to do.
        if made.is_some() {
            receiver.kill();
        } else {
            receiver.must_end();
            assert!(sites.report().as_ref() == Some(&wanted), "{kind}");
        }
        sites.forget();
    }
}

#[test]
fn who_is_unknown_is_refused_on_both_sides_and_disturbs_nobody() {
    let sites = Sites::new(5);
    let receiver = sites.receive_db();
    // Another key, and a peer that has another one.
    for keys in [[OTHER, THERE], [HERE, OTHER]] {
        let run = sites.search(&receiver.address, keys, &[]).output().unwrap();
        assert_eq!(run.status.code(), Some(6), "{keys:?}");
        let told = said(&run);
        assert_eq!(told.lines().count(), 1, "{told}");
        let wanted = ["the peer does not know this key", "the peer has another key"];
        assert!(wanted.iter().any(|wanted| told.contains(wanted)), "{told}");
    }
    assert_eq!(fs::metadata(sites.path().join("r.fbm")).unwrap().len(), 0);
    assert!(sites.report().is_none());
    let run = sites.search(&receiver.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    let (code, messages) = receiver.end();
    assert_eq!((code, messages.matches("is not let in").count()), (Some(0), 2), "{messages}");
    assert!(sites.report() == Some(sites.direct(&[])));
}

#[test]
fn what_is_altered_on_the_way_is_never_taken() {
    let sites = Sites::new(10);
    let wanted = sites.direct(&[]);
    // Some of the bits, in the handshake and after it: it is sent again.
    let flips = [10, 200, 900, 1300, 1700, 2500].map(Fate::Flip);
    let proxy = Proxy::new(flips, false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted));
    // On every connection: it is given up.
    let proxy = Proxy::new([Fate::Flip(1100)], true);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let options = ["-link_timeout", "2"];
    let run = sites.search(&proxy.address, [HERE, THERE], &options).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", said(&run));
    assert!(said(&run).contains("no connection for 2 s"), "{}", said(&run));
    receiver.kill();
    assert!(sites.report().is_none() && proxy.has_fates());
}

#[test]
fn what_was_recorded_is_of_no_use() {
    let sites = Sites::new(5);
    let proxy = Proxy::new([], false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report().is_some());

    let receiver = sites.receive_db();
    let mut thief = TcpStream::connect(&receiver.address).unwrap();
    thief.write_all(&proxy.said()).unwrap();
    let mut answer = Vec::new();
    let _ = thief.read_to_end(&mut answer);
    assert!(answer.len() < 5000, "the handshake is all there is");
    assert_eq!(fs::metadata(sites.path().join("r.fbm")).unwrap().len(), 0);
    let run = sites.search(&receiver.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    let (code, messages) = receiver.end();
    assert_eq!((code, messages.matches("is not let in").count()), (Some(0), 1), "{messages}");
}

/// Peers that say nothing, nonsense, half of something, or something endless; more of them than are let wait.
#[test]
fn strangers_are_cut_off_in_time() {
    let sites = Sites::new(5);
    let words = ["-db", "db"];
    let link = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", "9"];
    let keys = ["-key", "there", "-peer", &sites.keys[HERE]];
    let receiver =
        Receiver::new(fleetblast(sites.path(), &[&link[..], &keys, &words[..]].concat()));
    let hello = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3];
    let mut strangers = Vec::new();
    for number in 0..12 {
        let mut stranger = TcpStream::connect(&receiver.address).unwrap();
        let _ = match number % 4 {
            0 => Ok(()),
            1 => stranger.write_all(b"GET / HTTP/1.1\r\n\r\n"),
            2 => stranger.write_all(&hello),
            _ => stranger.write_all(&[22; 100_000]),
        };
        strangers.push(stranger);
    }
    let start = Instant::now();
    for mut stranger in strangers {
        stranger.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut answer = Vec::new();
        let end = stranger.read_to_end(&mut answer).map_err(|error| error.kind());
        assert!(!matches!(end, Err(std::io::ErrorKind::WouldBlock)), "it is never cut off");
        assert!(answer.len() < 100);
    }
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    let run = sites.search(&receiver.address, [HERE, THERE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report() == Some(sites.direct(&[])));
}

#[test]
fn another_database_another_search_and_other_queries_are_refused() {
    let sites = Sites::new(60);
    // The database there differs: both sides hear it.
    make_database(sites.path(), "db2", 2);
    let receiver = sites.receive([THERE, HERE], &["-db", "db2"]);
    let run = sites.search(&receiver.address, [HERE, THERE], &[]).output().unwrap();
    let (code, messages) = receiver.end();
    assert_eq!((run.status.code(), code), (Some(6), Some(2)), "{}{messages}", said(&run));
    for told in [&said(&run), &messages] {
        assert!(told.contains("is not the database that was searched"), "{told}");
    }
    assert!(sites.report().is_none());
    sites.forget();

    // Something of a search, then others.
    let receiver = sites.receive_db();
    let options = ["-num_threads", "1"];
    let search = sites.search(&receiver.address, [HERE, THERE], &options);
    let killed = kill_after(search, &sites.path().join("r.fbm"), 4000);
    assert!(!killed.success(), "it was too fast for this test");
    let other = ["-num_threads", "1", "-evalue", "1"];
    let run = sites.search(&receiver.address, [HERE, THERE], &other).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", said(&run));
    assert!(said(&run).contains("holds metadata of another search"), "{}", said(&run));

    let all = fs::read_to_string(sites.path().join("q.fa")).unwrap();
    fs::write(sites.path().join("q.fa"), all.replacen('W', "Y", 1)).unwrap();
    let run = sites.search(&receiver.address, [HERE, THERE], &options).output().unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", said(&run));
    assert!(said(&run).contains("metadata of other queries"), "{}", said(&run));
    let (code, _) = receiver.end();
    assert_eq!(code, Some(6));
    assert!(sites.report().is_none());

    // The queries that were: it goes on.
    fs::write(sites.path().join("q.fa"), all).unwrap();
    let receiver = sites.receive_db();
    let run = sites.search(&receiver.address, [HERE, THERE], &options).output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report() == Some(sites.direct(&[])));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let sites = Sites::new(2);
    let peer = sites.keys[THERE].as_str();
    let lines: [(&[&str], &str); 7] = [
        (&["-send", "localhost:1"], "\"key\""),
        (&["-send", "localhost", "-key", "here", "-peer", peer], "is no address with a port"),
        (&["-send", "localhost:1", "-key", "here", "-peer", "12ab"], "is no fingerprint"),
        (&["-send", "localhost:1", "-key", "q.fa", "-peer", peer], "-key: q.fa"),
        (&["-send", "h:1", "-key", "here", "-peer", peer, "-out", "x"], "Incompatible"),
        (&["-key", "here"], "\"send\". Must be specified"),
        (&["-metadata", "oids"], "-metadata needs -metadata_out or -send"),
    ];
    for (line, wanted) in lines {
        let words = [&["blastp", "-query", "q.fa", "-db", "db"], line].concat();
        let run = fleetblast(sites.path(), &words).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{line:?}");
        assert!(said(&run).contains(wanted), "{line:?}: {}", said(&run));
    }
    let link = ["-send", "localhost:1", "-key", "here", "-peer", peer];
    for odd in [["-filtering_db", "db"], ["-sum_stats", "true"]] {
        let words = [&["blastn", "-query", "q.fa", "-db", "db"], &link[..], &odd].concat();
        let run = fleetblast(sites.path(), &words).output().unwrap();
        let told = format!("does not support {}", odd[0]);
        assert_eq!(run.status.code(), Some(1), "{odd:?}");
        assert!(said(&run).contains(&told) && said(&run).contains("with -send"), "{}", said(&run));
    }
    let run = fleetblast(sites.path(), &["keygen", "q.fa"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(String::from_utf8(must(sites.path(), &["keygen", "there"])).unwrap().trim(), peer);
}

/// How BLAST+ cuts these queries into batches depends on what the batches before found.
#[test]
fn a_killed_search_of_nucleotides_goes_on_with_the_same_batches() {
    let sites = Sites::new(1);
    let mut random = Random(3);
    let mut bases = |count: usize| -> String {
        (0..count).map(|_| char::from(b"ACGT"[random.below(4) as usize])).collect()
    };
    let subjects: Vec<String> = (0..20).map(|_| bases(3000)).collect();
    let text = |number: usize, letters: &str| format!(">s{number}\n{letters}\n");
    let file: String = subjects.iter().enumerate().map(|(number, s)| text(number, s)).collect();
    fs::write(sites.path().join("nt.fa"), file).unwrap();
    must(sites.path(), &["makeblastdb", "-in", "nt.fa", "-dbtype", "nucl", "-out", "nt"]);
    let query = |number: usize| {
        let from = number * 37 % 2400;
        text(number, &subjects[number % 20][from..from + 600])
    };
    fs::write(sites.path().join("n.fa"), (0..400).map(query).collect::<String>()).unwrap();
    let words = ["blastn", "-task", "blastn", "-query", "n.fa", "-db", "nt", "-outfmt", "6"];
    let wanted = fleetblast(sites.path(), &words).env_remove("BATCH_SIZE").output().unwrap();
    assert!(wanted.status.success() && wanted.stdout.len() > 10_000);

    let more = ["-num_threads", "1", "-timing", "t"];
    let file = ["-metadata_out", "whole"];
    let mut whole = fleetblast(sites.path(), &[&words[..], &file, &more].concat());
    assert!(whole.env_remove("BATCH_SIZE").status().unwrap().success());

    let receiver = sites.receive([THERE, HERE], &["-db", "nt", "-metadata", "kept"]);
    let address = receiver.address.clone();
    let link = ["-send", &address, "-key", "here", "-peer", &sites.keys[THERE]];
    let search = || {
        let mut search = fleetblast(sites.path(), &[&words[..], &link, &more].concat());
        search.env_remove("BATCH_SIZE");
        search
    };
    let killed = kill_after(search(), &sites.path().join("kept"), 1500);
    assert!(!killed.success(), "it was too fast for this test");
    let run = search().output().unwrap();
    assert!(run.status.success(), "{}", said(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted.stdout));
    let [kept, whole] = ["kept", "whole"].map(|name| fs::read(sites.path().join(name)).unwrap());
    assert!(kept == whole, "the batches are those of one search");
    let timing = fs::read_to_string(sites.path().join("t")).unwrap();
    assert!(!timing.contains("\"queries\": 400"), "it went on: {timing}");

    // SAM begins with what all lines refer to: a part of a report cannot be gone on with.
    let receiver = sites.receive([THERE, HERE], &["-metadata", "sam"]);
    let link = ["-send", &receiver.address, "-key", "here", "-peer", &sites.keys[THERE]];
    let sam = ["-outfmt", "17", "-metadata", "report"];
    let words = [&words[..7], &link, &more, &sam].concat();
    let search = || {
        let mut search = fleetblast(sites.path(), &words);
        search.env_remove("BATCH_SIZE");
        search
    };
    assert!(!kill_after(search(), &sites.path().join("sam"), 1500).success());
    let run = search().output().unwrap();
    assert!(said(&run).contains("a report in SAM cannot be gone on with"), "{}", said(&run));
    assert_ne!(receiver.end().0, Some(0));
    assert!(sites.report().is_none());
}
