//! Links that are made but carry nothing: they end the sender in time.

use super::strangers::OverNow;
use super::*;

/// How long nothing may be confirmed; a silent peer is given up after less.
const GIVE_UP: Duration = Duration::from_secs(2);
const SILENT: Duration = Duration::from_millis(500);

/// Returns how a sender of these bytes ends, and after how long; `serve` handles each connection to
/// its peer.
fn end_of_sender(bytes: &[u8], serve: impl Fn(&mut Channel)) -> (LinkError, Duration) {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target {
        patience: SILENT,
        give_up: GIVE_UP,
        ..target(&keys, socket.local_addr().unwrap())
    };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let _over = OverNow(&over);
            let opening = Opening::connect(target, Arc::new(|_| {})).unwrap();
            let sender = opening.start(Box::new(|_| true)).unwrap();
            sender.write(bytes).unwrap();
            let start = Instant::now();
            while sender.check().is_ok() && start.elapsed() < 6 * GIVE_UP {
                thread::sleep(Duration::from_millis(20));
            }
            (sender.check().expect_err("it is never given up"), start.elapsed())
        });
        socket.set_nonblocking(true).unwrap();
        while !over.load(Ordering::Relaxed) {
            match socket.accept() {
                Ok((tcp, _)) => serve(&mut offered(&keys, tcp, 0)),
                Err(_) => thread::sleep(Duration::from_millis(5)),
            }
        }
        sending.join().unwrap()
    })
}

/// Takes what comes on a connection until the other side ends it.
fn swallow(channel: &mut Channel, mut answer: impl FnMut(&mut Channel)) {
    let start = Instant::now();
    while start.elapsed() < 6 * GIVE_UP
        && channel.exchange(Duration::from_millis(20)).is_ok()
        && channel.receive().is_ok()
    {
        answer(channel);
    }
}

#[test]
fn connections_on_which_nothing_gets_through_are_given_up() {
    // Each lasts longer than a silent peer is waited for.
    let (end, took) = end_of_sender(b"a", |channel| swallow(channel, |_| {}));
    assert!(matches!(end, LinkError::Stalled { connections: 1.., .. }), "{end:?}");
    assert!(took > GIVE_UP / 2 && took < 3 * GIVE_UP, "{took:?}");
    let words = end.to_string();
    assert!(words.contains("for 2 s over which the other site confirmed anything"), "{words}");
    // Each is closed as soon as the stream begins.
    let close = |channel: &mut Channel| await_message(channel, |it| *it == Message::Start(0));
    let (end, took) = end_of_sender(b"a", close);
    assert!(matches!(end, LinkError::Stalled { connections: 1.., .. }), "{end:?}");
    assert!(took > GIVE_UP / 2 && took < 3 * GIVE_UP, "{took:?}");
    // There is nothing to send yet, and no sign of life.
    let (end, took) = end_of_sender(b"", |channel| swallow(channel, |_| {}));
    assert!(matches!(end, LinkError::Stalled { connections: 1.., .. }), "{end:?}");
    assert!(took > GIVE_UP / 2 && took < 3 * GIVE_UP, "{took:?}");
}

#[test]
fn a_peer_that_lives_but_confirms_nothing_is_given_up() {
    let (end, took) = end_of_sender(b"a", |channel| {
        swallow(channel, |channel| channel.send(&Message::Confirmed(0)));
    });
    assert!(end.to_string().contains("the peer lives, but confirms nothing"), "{end}");
    assert!(took > GIVE_UP / 2 && took < 3 * GIVE_UP, "{took:?}");
}

/// Cut off again and again, but a little gets through each time.
#[test]
fn a_link_that_gets_on_slowly_is_not_given_up() {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target {
        patience: SILENT,
        give_up: GIVE_UP,
        ..target(&keys, socket.local_addr().unwrap())
    };
    let sending = send_in_thread(target, b"something");
    for confirmed in 0..9 {
        let mut channel = offer(&keys, &socket, confirmed);
        await_message(&mut channel, |message| matches!(message, Message::Data(_)));
        thread::sleep(SILENT);
    }
    let mut last = offer(&keys, &socket, 9);
    await_message(&mut last, |message| *message == Message::Finish(9));
    last.send(&Message::Done);
    last.leave();
    assert_eq!(sending.join().unwrap(), Ok(Arrival::Done));
}
