//! Peers that are not who they should be, and what is altered on its way.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::sites::*;
use crate::proxy::{Fate, Proxy};

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
