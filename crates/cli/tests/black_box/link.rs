//! Tests searches whose report is made at the I/O site, over a link with faults. Either the report
//! equals that of a search without a link, or both sides print an error and no report file exists.

#[path = "link/killed.rs"]
mod killed;
#[path = "link/newcomers.rs"]
mod newcomers;
#[path = "link/peers.rs"]
mod peers;
#[path = "link/planted.rs"]
mod planted;
#[path = "link/silent.rs"]
mod silent;
#[path = "link/sites.rs"]
mod sites;

use std::fs;

use self::killed::kill_after;
pub(crate) use self::sites::Receiver;
use self::sites::*;
use crate::proxy::{ConnectionFault, Proxy};

#[test]
fn every_kind_gives_the_bytes_of_the_search() {
    let sites = Sites::new(20);
    for (kind, format) in [("hits", "0"), ("oids", "6"), ("report", "5"), ("auto", "5")] {
        let receiver = match kind {
            "report" => sites.receive([IO_SITE, SEARCH_SITE], &[]),
            // With `auto`, the format is that of the search.
            "auto" => sites.receive([IO_SITE, SEARCH_SITE], &["-db", "db"]),
            _ => sites.receive([IO_SITE, SEARCH_SITE], &["-db", "db", "-outfmt", format]),
        };
        let options = ["-metadata", kind, "-outfmt", format, "-timing", "t"];
        let mut search = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options);
        let run = search.output().unwrap();
        assert!(run.status.success(), "{}", stderr_text(&run));
        assert!(run.stdout.is_empty());
        receiver.must_end();
        assert!(sites.report() == Some(sites.direct(&["-outfmt", format])), "{kind}");
        assert!(!sites.path().join("r.fbm").exists());
    }
    let timing = fs::read(sites.path().join("t")).unwrap();
    let timing: serde_json::Value = serde_json::from_slice(&timing).unwrap();
    let metadata = &timing["metadata"];
    assert!(metadata["link"]["round_trip_seconds"].as_f64().unwrap() < 5.0, "{metadata}");
    assert!(metadata["link"]["workers"].as_u64().unwrap() >= 1, "{metadata}");
    let blocks = |part: &serde_json::Value| -> u64 {
        part.as_array().unwrap().iter().map(|it| it["blocks"].as_u64().unwrap()).sum()
    };
    assert!(
        blocks(&metadata["choices"]) > 1
            && blocks(&metadata["choices"]) == blocks(&metadata["kinds"])
    );
}

#[test]
fn a_connection_cut_anywhere_goes_on_from_there() {
    let sites = Sites::new(20);
    let wanted = sites.direct(&[]);
    // The connections are cut in the handshake, in messages and in records; each transfers some
    // bytes.
    let cuts = [0, 1, 100, 500, 1000, 1200, 1300, 1400, 1600, 2000, 2500, 3000, 4000, 5000];
    let proxy = Proxy::new(cuts.map(ConnectionFault::Cut), false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted));
    assert!(proxy.connections() > 8, "{}", proxy.connections());
}

/// Ranks write records in any order, and send them in the order of the queries.
#[test]
fn ranks_send_while_they_search() {
    let sites = Sites::new(60);
    let wanted = sites.direct(&[]);
    for (kind, ranks) in [("hits", "3"), ("oids", "1"), ("report", "4"), ("auto", "3")] {
        let receiver = sites.receive_db();
        let options = ["-metadata", kind, "-ranks", ranks];
        let run =
            sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
        assert!(run.status.success(), "{}", stderr_text(&run));
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
        let run =
            sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], options).output().unwrap();
        let (code, messages) = receiver.end();
        sites.forget();
        assert!(sites.report().is_none() || run.status.success(), "{messages}");
        (run.status.code(), code)
    };
    assert_eq!(ends(&["-ranks", "2"]), ends(&[]));
}

/// The first process sends the metadata that all processes write.
#[cfg(feature = "mpi")]
#[test]
fn processes_send_while_they_search() {
    let sites = Sites::new(60);
    let wanted = sites.direct(&[]);
    for (kind, output) in [("hits", "merge"), ("oids", "collective"), ("report", "individual")] {
        let receiver = sites.receive_db();
        let options = ["-metadata", kind, "-output", output];
        let typed = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options);
        let mut search =
            crate::launched::launched(std::path::Path::new(env!("CARGO_BIN_EXE_fleetblast")), 3);
        search.args(typed.get_args()).current_dir(sites.path()).env("BATCH_SIZE", "400");
        let run = search.stdin(std::process::Stdio::null()).output().unwrap();
        assert!(run.status.success(), "{kind}: {}", stderr_text(&run));
        receiver.must_end();
        assert!(sites.report().as_ref() == Some(&wanted), "{kind}, {output}");
    }
}

#[test]
fn ranks_end_at_once_when_the_other_site_fails() {
    let sites = Sites::new(60);
    make_database(sites.path(), "db2", 2);
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &["-db", "db2"]);
    let options = ["-ranks", "2"];
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
    let (code, messages) = receiver.end();
    assert_eq!((run.status.code(), code), (Some(6), Some(2)), "{}{messages}", stderr_text(&run));
    assert!(
        stderr_text(&run).contains("is not the database that was searched"),
        "{}",
        stderr_text(&run)
    );
    assert!(sites.report().is_none());
}

#[test]
fn another_database_another_search_and_other_queries_are_refused() {
    let sites = Sites::new(60);
    // The I/O site has another database: both sites print the error.
    make_database(sites.path(), "db2", 2);
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &["-db", "db2"]);
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    let (code, messages) = receiver.end();
    assert_eq!((run.status.code(), code), (Some(6), Some(2)), "{}{messages}", stderr_text(&run));
    for message in [&stderr_text(&run), &messages] {
        assert!(message.contains("is not the database that was searched"), "{message}");
    }
    assert!(sites.report().is_none());
    sites.forget();

    // The receiver has a part of one search when other searches connect.
    let receiver = sites.receive_db();
    let options = ["-num_threads", "1"];
    let search = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options);
    let killed = kill_after(search, &sites.path().join("r.fbm"), 4000);
    assert!(!killed.success(), "it was too fast for this test");
    let other = ["-num_threads", "1", "-evalue", "1"];
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &other).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert!(
        stderr_text(&run).contains("holds metadata of another search"),
        "{}",
        stderr_text(&run)
    );

    let all = fs::read_to_string(sites.path().join("q.fa")).unwrap();
    fs::write(sites.path().join("q.fa"), all.replacen('W', "Y", 1)).unwrap();
    for ranks in [&[][..], &["-ranks", "2"]] {
        let options = [&options[..], ranks].concat();
        let run =
            sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{}", stderr_text(&run));
        assert!(stderr_text(&run).contains("metadata of other queries"), "{}", stderr_text(&run));
    }
    // The queries cannot be read.
    fs::remove_file(sites.path().join("q.fa")).unwrap();
    fs::create_dir(sites.path().join("q.fa")).unwrap();
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
    assert!(!run.status.success(), "{}", stderr_text(&run));
    fs::remove_dir(sites.path().join("q.fa")).unwrap();
    assert!(sites.report().is_none());

    // With the original queries, the search is resumed.
    fs::write(sites.path().join("q.fa"), all).unwrap();
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(sites.direct(&[])));
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let sites = Sites::new(2);
    let peer = sites.keys[IO_SITE].as_str();
    let lines: [(&[&str], &str); 7] = [
        (&["-send", "localhost:1"], "\"key\""),
        (
            &["-send", "localhost", "-key", "search_site", "-peer", peer],
            "is no address with a port",
        ),
        (&["-send", "localhost:1", "-key", "search_site", "-peer", "12ab"], "is no fingerprint"),
        (&["-send", "localhost:1", "-key", "q.fa", "-peer", peer], "-key: q.fa"),
        (&["-send", "h:1", "-key", "search_site", "-peer", peer, "-out", "x"], "Incompatible"),
        (&["-key", "search_site"], "\"send\". Must be specified"),
        (&["-metadata", "oids"], "-metadata needs -metadata_out, -send or -io_ranks"),
    ];
    for (line, wanted) in lines {
        let words = [&["blastp", "-query", "q.fa", "-db", "db"], line].concat();
        let run = fleetblast(sites.path(), &words).output().unwrap();
        assert_eq!(run.status.code(), Some(1), "{line:?}");
        assert!(stderr_text(&run).contains(wanted), "{line:?}: {}", stderr_text(&run));
    }
    let link = ["-send", "localhost:1", "-key", "search_site", "-peer", peer];
    for odd in [["-filtering_db", "db"], ["-sum_stats", "true"]] {
        let words = [&["blastn", "-query", "q.fa", "-db", "db"], &link[..], &odd].concat();
        let run = fleetblast(sites.path(), &words).output().unwrap();
        let refusal = format!("does not support {}", odd[0]);
        assert_eq!(run.status.code(), Some(1), "{odd:?}");
        assert!(
            stderr_text(&run).contains(&refusal) && stderr_text(&run).contains("with -send"),
            "{}",
            stderr_text(&run)
        );
    }
    let run = fleetblast(sites.path(), &["keygen", "q.fa"]).output().unwrap();
    assert_eq!(run.status.code(), Some(1));
    assert_eq!(String::from_utf8(must(sites.path(), &["keygen", "io_site"])).unwrap().trim(), peer);
}

/// The receiver is started again after its end, without and with kept metadata.
#[test]
fn a_receiver_that_is_typed_again_says_what_it_waits_for() {
    let sites = Sites::new(10);
    let receiver = sites.receive_db();
    sites.must_search(&receiver);
    receiver.must_end();
    let mut again = sites.receive_db();
    again.child.kill().unwrap();
    let (_, messages) = again.end();
    assert!(messages.contains("r exists already, and nothing of another"), "{messages}");

    let kept = ["-db", "db", "-metadata", "kept"];
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &kept);
    sites.must_search(&receiver);
    receiver.must_end();
    let wanted = sites.report();
    let (code, messages) = sites.receive([IO_SITE, SEARCH_SITE], &kept).end();
    assert!(messages.contains("kept holds all metadata of a search"), "{messages}");
    assert!(code == Some(0) && sites.report() == wanted, "{messages}");
}
