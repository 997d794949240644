//! Peers with wrong keys or wrong messages, and data altered in transit.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::sites::*;
use crate::proxy::{ConnectionFault, Proxy};

#[test]
fn who_is_unknown_is_refused_on_both_sides_and_disturbs_nobody() {
    let sites = Sites::new(5);
    let receiver = sites.receive_db();
    // The receiver has proved its key, and does not know the key of this search.
    let run = sites.search(&receiver.address, [OTHER, IO_SITE], &[]).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    assert_eq!(stderr_text(&run).lines().count(), 1, "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("the peer does not know this key"), "{}", stderr_text(&run));
    // A peer with another key may answer: the program prints that, and tries again until the
    // timeout.
    let options = ["-link_timeout", "6"];
    let run = sites.search(&receiver.address, [SEARCH_SITE, OTHER], &options).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    let (address, io_key) = (&receiver.address, &sites.keys[IO_SITE]);
    let wanted = format!("{address}: the peer presented another key than -peer names: {io_key}");
    let messages = stderr_text(&run);
    assert!(
        messages.contains(&format!("No connection ({wanted}); still trying for ")),
        "{messages}"
    );
    assert!(messages.contains(&format!("no connection for 6 s: {wanted}")), "{messages}");
    assert_eq!(fs::metadata(sites.path().join("r.fbm")).unwrap().len(), 0);
    assert!(sites.report().is_none());
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    let (code, messages) = receiver.end();
    let other = format!("presented another key than -peer names: {}", sites.keys[OTHER]);
    assert!(code == Some(0) && messages.contains(&other), "{messages}");
    assert!(messages.matches("is not let in").count() > 2, "{messages}");
    assert!(sites.report() == Some(sites.direct(&[])));
}

/// Forged alerts come before a search has begun, and while it goes on.
#[test]
fn no_forged_alert_ends_a_search() {
    let sites = Sites::new(20);
    let alerts = [42, 46, 48, 49].map(ConnectionFault::Alert);
    let faults = [
        &alerts[..],
        &[ConnectionFault::Cut(2500)],
        &alerts,
        &[ConnectionFault::Cut(3500)],
        &alerts,
    ]
    .concat();
    let proxy = Proxy::new(faults, false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success() && !proxy.has_fates(), "{}", stderr_text(&run));
    assert!(stderr_text(&run).contains("the peer had not proved its key"), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(sites.direct(&[])));
}

/// There are more connections than may be open at a time, and each is reopened when it is cut.
#[test]
fn a_crowd_of_idle_connections_does_not_keep_a_search_out() {
    let sites = Sites::new(5);
    let receiver = sites.receive_db();
    let (address, over) = (receiver.address.parse().unwrap(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut crowd: Vec<TcpStream> = Vec::new();
            while !over.load(Ordering::Relaxed) {
                crowd.retain_mut(|tcp| {
                    let read = tcp.read(&mut [0; 64]);
                    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
                });
                let timeout = Duration::from_millis(200);
                while crowd.len() < 400
                    && let Ok(tcp) = TcpStream::connect_timeout(&address, timeout)
                {
                    tcp.set_nonblocking(true).unwrap();
                    crowd.push(tcp);
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        thread::sleep(Duration::from_secs(1));
        let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output();
        over.store(true, Ordering::Relaxed);
        let run = run.unwrap();
        assert!(run.status.success(), "{}", stderr_text(&run));
    });
    let (code, messages) = receiver.end();
    assert!(code == Some(0) && messages.lines().count() < 60, "{messages}");
    assert!(sites.report() == Some(sites.direct(&[])));
}

#[test]
fn what_is_altered_on_the_way_is_never_taken() {
    let sites = Sites::new(10);
    let wanted = sites.direct(&[]);
    // On some connections a bit is flipped, in the handshake or after it: the data are sent again.
    let flips = [10, 200, 900, 1300, 1700, 2500].map(ConnectionFault::Flip);
    let proxy = Proxy::new(flips, false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(wanted));
    // On every connection a bit is flipped: the search gives up.
    let proxy = Proxy::new([ConnectionFault::Flip(1100)], true);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let options = ["-link_timeout", "2"];
    let run = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &options).output().unwrap();
    assert_eq!(run.status.code(), Some(6), "{}", stderr_text(&run));
    // Some connections last until the flipped byte.
    let ends = ["no connection for 2 s", "the other site confirmed nothing for 2 s"];
    assert!(ends.iter().any(|end| stderr_text(&run).contains(end)), "{}", stderr_text(&run));
    receiver.kill();
    assert!(sites.report().is_none() && proxy.has_fates());
}

#[test]
fn what_was_recorded_is_of_no_use() {
    let sites = Sites::new(5);
    let proxy = Proxy::new([], false);
    let receiver = sites.receive_db();
    proxy.lead_to(&receiver.address);
    let run = sites.search(&proxy.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report().is_some());

    let receiver = sites.receive_db();
    let mut thief = TcpStream::connect(&receiver.address).unwrap();
    thief.write_all(&proxy.stderr_text()).unwrap();
    let mut answer = Vec::new();
    let _ = thief.read_to_end(&mut answer);
    assert!(answer.len() < 5000, "the handshake is all there is");
    assert_eq!(fs::metadata(sites.path().join("r.fbm")).unwrap().len(), 0);
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    let (code, messages) = receiver.end();
    assert_eq!((code, messages.matches("is not let in").count()), (Some(0), 1), "{messages}");
}

/// The peers send nothing, nonsense, half a message, or an endless message. There are more of them
/// than may wait at a time.
#[test]
fn strangers_are_cut_off_in_time() {
    let sites = Sites::new(5);
    let words = ["-db", "db"];
    let link = ["receive", "-listen", "127.0.0.1:0", "-out", "r", "-link_timeout", "9"];
    let keys = ["-key", "io_site", "-peer", &sites.keys[SEARCH_SITE]];
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
    let run = sites.search(&receiver.address, [SEARCH_SITE, IO_SITE], &[]).output().unwrap();
    assert!(run.status.success(), "{}", stderr_text(&run));
    receiver.must_end();
    assert!(sites.report() == Some(sites.direct(&[])));
}
