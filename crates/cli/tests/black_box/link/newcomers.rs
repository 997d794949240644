//! Searches that connect while another search is received.

use std::fs;
use std::io::Write;

use super::sites::*;
use crate::taxonomy::taxdb;

#[test]
fn another_search_is_refused_and_the_first_goes_on() {
    let sites = Sites::new(40);
    let wanted = sites.direct(&[]);
    let receiver = sites.receive_db();
    let (mut search, rest) = sites.begin(&receiver.address, &["-link_timeout", "60"]);
    // The header of this search shows that it is another one.
    let other = ["-evalue", "1"];
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &other).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("another search is received here"), "{}", stderr_text(&run));
    // The header of this search is that of the first one, which may be dead: the search waits.
    let (mut waiting, _) = sites.begin(&receiver.address, &["-link_timeout", "2"]);
    drop(waiting.stdin.take());
    let run = waiting.wait_with_output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("another run of this search"), "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("no connection for 2 s"), "{}", stderr_text(&run));

    search.stdin.take().unwrap().write_all(&rest).unwrap();
    let run = search.wait_with_output().unwrap();
    assert!(run.status.success() && stderr_text(&run).is_empty(), "{}", stderr_text(&run));
    let (code, messages) = receiver.end();
    assert!(code == Some(0) && !messages.contains("broke"), "{messages}");
    assert!(messages.contains("is not let in: another search"), "{messages}");
    assert!(sites.report() == Some(wanted));
}

/// All metadata of a search came in an earlier run, or as a file. Other searches that connect
/// change nothing.
#[test]
fn all_of_a_search_becomes_its_report_whoever_else_comes() {
    let sites = Sites::new(10);
    let wanted = sites.direct(&[]);
    let search = ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
    must(sites.path(), &[&search[..], &["-metadata_out", "sent"]].concat());
    let queries = fs::read_to_string(sites.path().join("q.fa")).unwrap();
    let other = queries.replacen('W', "Y", 1);
    let longer = format!("{queries}>one_more\nMKVLAAGIVGLCAKAYLEHHHHHH\n");
    let newcomers = [
        (&queries, &["-evalue", "1e-5"][..], 6, "holds metadata of another search"),
        (&other, &[], 1, "holds metadata of other queries"),
        (&longer, &[], 1, "holds metadata of other queries"),
        (&other, &["-ranks", "2"], 1, "holds metadata of other queries"),
    ];
    for (queries, options, code, reason) in newcomers {
        fs::copy(sites.path().join("sent"), sites.path().join("r.fbm")).unwrap();
        fs::write(sites.path().join("q.fa"), queries).unwrap();
        let receiver = sites.receive_db();
        let run =
            sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], options).output().unwrap();
        assert_eq!(run.status.code(), Some(code), "{}", stderr_text(&run));
        assert!(
            stderr_text(&run).contains(reason) && !stderr_text(&run).contains("remove"),
            "{}",
            stderr_text(&run)
        );
        let (code, messages) = receiver.end();
        assert_eq!(code, Some(0), "{messages}");
        assert!(messages.contains("of which the report is made"), "{messages}");
        assert!(messages.contains("A sender was refused: "), "{messages}");
        assert!(!messages.contains("waiting for another one"), "{messages}");
        assert!(sites.report().as_ref() == Some(&wanted), "{messages}");
        assert!(!sites.path().join("r.fbm").exists());
    }
}

/// When all metadata are there, the same search, two others at once, or nobody may connect.
#[test]
fn all_of_a_search_becomes_its_report_with_its_sender_and_without() {
    let sites = Sites::new(10);
    let wanted = sites.direct(&[]);
    let kept = ["-db", "db", "-metadata", "kept"];
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &kept);
    sites.must_search(&receiver);
    receiver.must_end();
    assert!(sites.report().as_ref() == Some(&wanted));
    let whole = fs::read(sites.path().join("kept")).unwrap();

    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &kept);
    let others = [["-evalue", "1e-5"], ["-evalue", "1e-6"]].map(|other| {
        sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &other).spawn().unwrap()
    });
    for mut other in others {
        assert_eq!(other.wait().unwrap().code(), Some(6));
    }
    let same = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(same.status.success(), "{}", stderr_text(&same));
    receiver.must_end();
    assert!(sites.report().as_ref() == Some(&wanted));

    let (code, messages) = sites.receive([IO_SITE, SEARCH_SITE], &kept).end();
    assert!(code == Some(0) && messages.contains("No sender connected"), "{messages}");
    assert!(sites.report() == Some(wanted));
    assert!(fs::read(sites.path().join("kept")).unwrap() == whole);
}

/// The report has names of taxa, which are not in the database.
#[test]
fn a_search_with_other_names_of_taxa_is_another_search() {
    let sites = Sites::new(3);
    let (index, mut data) = taxdb();
    fs::write(sites.path().join("taxdb.bti"), index).unwrap();
    fs::write(sites.path().join("taxdb.btd"), &data).unwrap();
    let report = ["-metadata", "report", "-outfmt", "6 std ssciname"];
    let search = ["blastp", "-query", "q.fa", "-db", "db", "-block_residues", "500"];
    must(sites.path(), &[&search[..], &report, &["-metadata_out", "r.fbm"]].concat());
    let name = data.iter().position(u8::is_ascii_lowercase).expect("a name");
    data[name] = b'Z';
    fs::write(sites.path().join("taxdb.btd"), data).unwrap();
    let receiver = sites.receive([IO_SITE, SEARCH_SITE], &[]);
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &report).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert!(
        stderr_text(&run).contains("holds metadata of another search"),
        "{}",
        stderr_text(&run)
    );
    receiver.must_end();
}
