//! One of the two sites is killed and resumes.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::sites::*;
use crate::patience::wait_until;
use crate::proxy::Proxy;
use fastrand::Rng;

/// Runs a search and kills it when the other site has received `more` further bytes, unless it ends
/// before.
pub(super) fn kill_after(mut search: Command, spool: &Path, more: u64) -> ExitStatus {
    let mut killed = search.stderr(Stdio::null()).spawn().unwrap();
    let length = || fs::metadata(spool).map_or(0, |meta| meta.len());
    let before = length();
    wait_until("bytes of the search", || {
        length() > before + more || killed.try_wait().unwrap().is_some()
    });
    killed.kill().unwrap();
    killed.wait().unwrap()
}

/// Returns whether a search succeeded, or came too late because the other site had all metadata and
/// listened no more.
fn went_well(run: &Output) -> bool {
    let ends = ["no connection for", "the other site confirmed nothing for"];
    run.status.success() || ends.iter().any(|end| stderr_text(run).contains(end))
}

#[test]
fn a_killed_search_goes_on_where_the_other_site_is() {
    let sites = Sites::new(60);
    let mut resumed = 0;
    // A resumed report has one head, and its end counts all queries.
    let kinds = ["hits", "oids", "report", "report", "auto", "auto"];
    for (kind, format) in kinds.into_iter().zip(["0", "0", "5", "7", "5", "7"]) {
        let wanted = sites.direct(&["-outfmt", format]);
        let mut receiver = sites.receive_db();
        let options = ["-metadata", kind, "-outfmt", format, "-timing", "t", "-num_threads", "1"];
        let address = receiver.address.clone();
        let search = || sites.search(&address, [SEARCH_SITE, IO_SITE], &options);
        for _ in 0..4 {
            kill_after(search(), &sites.path().join("r.fbm"), 1500);
            if receiver.is_through() {
                break;
            }
        }
        if !receiver.is_through() {
            let run = search().output().unwrap();
            assert!(went_well(&run), "{kind}: {}", stderr_text(&run));
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

#[test]
fn killed_ranks_go_on_where_their_checkpoint_and_the_other_site_are() {
    let sites = Sites::new(100);
    let wanted = sites.direct(&[]);
    let mut kills = 0;
    // With `auto`, another run may choose other encodings for the blocks.
    let all = [("hits", true), ("oids", false), ("report", true), ("auto", false), ("auto", true)];
    for (kind, checkpoint) in all {
        let mut receiver = sites.receive_db();
        let options = |ranks| {
            let all = ["-metadata", kind, "-num_threads", "1", "-ranks", ranks];
            let kept = ["-checkpoint", "kept", "-resume", "-link_timeout", "60"];
            [&all[..], if checkpoint { &kept } else { &kept[3..] }].concat()
        };
        for ranks in ["3", "4"] {
            let search = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options(ranks));
            kill_after(search, &sites.path().join("r.fbm"), 500);
            if receiver.is_through() {
                break;
            }
            kills += 1;
        }
        if !receiver.is_through() {
            let mut last = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options("2"));
            let run = last.output().unwrap();
            assert!(went_well(&run), "{kind}: {}", stderr_text(&run));
            assert!(!sites.path().join("kept").exists());
        }
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind}");
        let _ = fs::remove_dir_all(sites.path().join("kept"));
    }
    assert!(kills > 0, "no run was killed before all was there");
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
        let mut search = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &options);
        let search = search.stderr(Stdio::piped()).spawn().unwrap();
        let spool = sites.path().join("r.fbm");
        let mut receiver = receiver;
        let mut made = None;
        for part in 1..4 {
            // If there is no such file, the report is complete.
            let come = || fs::metadata(&spool).map_or(u64::MAX, |meta| meta.len());
            wait_until("bytes of the search", || come() >= 2000 * part);
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
        assert!(run.status.success(), "{kind}: {}", stderr_text(&run));
        // If there is a report, the receiver was killed after it was complete, and could not
        // confirm it.
        if made.is_some() {
            receiver.kill();
        } else {
            receiver.must_end();
            assert!(sites.report().as_ref() == Some(&wanted), "{kind}");
        }
        sites.forget();
    }
}

/// BLAST+ cuts these queries into batches by the hits of earlier batches.
#[test]
fn a_killed_search_of_nucleotides_goes_on_with_the_same_batches() {
    let sites = Sites::new(1);
    let mut random = Rng::with_seed(3);
    let mut bases = |count: usize| -> String {
        (0..count).map(|_| char::from(b"ACGT"[random.usize(..4)])).collect()
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

    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &["-db", "nt", "-metadata", "kept"]);
    let address = receiver.address.clone();
    let link = ["-send", &address, "-key", "search_site", "-peer", &sites.keys[IO_SITE]];
    let search = || {
        let mut search = fleetblast(sites.path(), &[&words[..], &link, &more].concat());
        search.env_remove("BATCH_SIZE");
        search
    };
    let killed = kill_after(search(), &sites.path().join("kept"), 1500);
    assert!(!killed.success(), "it was too fast for this test");
    let run = search().output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted.stdout));
    let [kept, whole] = ["kept", "whole"].map(|name| fs::read(sites.path().join(name)).unwrap());
    assert!(kept == whole, "the batches are those of one search");
    let timing = fs::read_to_string(sites.path().join("t")).unwrap();
    assert!(!timing.contains("\"queries\": 400"), "it went on: {timing}");

    // SAM begins with the references of all lines, so a part of a report cannot be resumed.
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &["-metadata", "sam"]);
    let link = ["-send", &receiver.address, "-key", "search_site", "-peer", &sites.keys[IO_SITE]];
    let sam = ["-outfmt", "17", "-metadata", "report"];
    let words = [&words[..7], &link, &more, &sam].concat();
    let search = || {
        let mut search = fleetblast(sites.path(), &words);
        search.env_remove("BATCH_SIZE");
        search
    };
    assert!(!kill_after(search(), &sites.path().join("sam"), 1500).success());
    let run = search().output().unwrap();
    assert!(
        stderr_text(&run).contains("a report in SAM cannot be gone on with"),
        "{}",
        stderr_text(&run)
    );
    // The receiver goes on waiting: the search could still resume with other options.
    receiver.kill();
    assert!(sites.report().is_none());
}
