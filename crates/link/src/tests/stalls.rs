//! Tests of connections over which nothing is confirmed. They must end the sender in time.

use super::strangers::EndOnDrop;
use super::*;

/// Longest time without a confirmation, and longest time without a message. The latter also limits
/// a handshake.
const GIVE_UP: Duration = Duration::from_secs(4);
const SILENT: Duration = Duration::from_secs(2);

/// Runs a sender of these bytes, whose peer handles each connection by `serve`. Returns the error
/// of the sender, and the address of the peer. The error must not come too early.
fn end_of_sender(bytes: &[u8], serve: impl Fn(&mut Channel)) -> (LinkError, SocketAddr) {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let target = Target { patience: SILENT, give_up: GIVE_UP, ..target(&keys, address) };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let _over = EndOnDrop(&over);
            let opening = ConnectedSender::connect(target, Arc::new(|_| {})).unwrap();
            // The time limit of the sender counts from the start of the stream.
            let start = Instant::now();
            let sender = opening.start(Box::new(|_| true)).unwrap();
            sender.write(bytes).unwrap();
            let error = loop {
                match sender.check() {
                    Ok(()) => thread::sleep(Duration::from_millis(20)),
                    Err(error) => break error,
                }
                assert!(start.elapsed() < 20 * GIVE_UP, "it is never given up");
            };
            assert!(start.elapsed() >= GIVE_UP, "{error} after {:?}", start.elapsed());
            error
        });
        socket.set_nonblocking(true).unwrap();
        while !over.load(Ordering::Relaxed) {
            let Ok((tcp, _)) = socket.accept() else {
                thread::sleep(Duration::from_millis(5));
                continue;
            };
            // The sender connects again where a handshake takes too long.
            let _ = offer_once(&keys, tcp, 0).map(|mut channel| serve(&mut channel));
        }
        (sending.join().unwrap(), address)
    })
}

/// Reads a connection until the other side ends it, and calls `answer` after each read.
fn swallow(channel: &mut Channel, mut answer: impl FnMut(&mut Channel)) {
    while channel.exchange(Duration::from_millis(20)).is_ok() && channel.receive().is_ok() {
        answer(channel);
    }
}

#[test]
fn connections_on_which_nothing_gets_through_are_given_up() {
    let silent = |channel: &mut Channel| swallow(channel, |_| {});
    let closing = |channel: &mut Channel| {
        // The peer closes the connection when the stream begins, or when the sender ends it.
        while channel.exchange(Duration::from_millis(20)).is_ok()
            && channel.receive().is_ok_and(|it| it != Some(Message::Start(0)))
        {}
    };
    let ends = thread::scope(|scope| {
        let all = [
            scope.spawn(|| end_of_sender(b"a", silent)),
            scope.spawn(|| end_of_sender(b"a", closing)),
            // The sender has nothing to send yet, and the peer sends no sign of life.
            scope.spawn(|| end_of_sender(b"", silent)),
        ];
        all.map(|sender| sender.join().unwrap())
    });
    for (end, _) in ends {
        assert!(matches!(end, LinkError::Stalled { connections: 1.., .. }), "{end:?}");
        let words = end.to_string();
        assert!(
            words.starts_with("the other site confirmed nothing for 4 s, also over "),
            "{words}"
        );
    }
}

#[test]
fn a_peer_that_lives_but_confirms_nothing_is_given_up() {
    let (end, address) = end_of_sender(b"a", |channel| {
        swallow(channel, |channel| channel.send(&Message::Confirmed(0)));
    });
    assert_eq!(
        end.to_string(),
        format!(
            "the other site confirmed nothing for 4 s, over one connection: {address}: the peer \
             lives, but confirms nothing"
        )
    );
}

#[test]
fn words_count_connections() {
    let words = |connections| {
        let last = "why".to_owned();
        LinkError::Stalled { after: GIVE_UP, connections, last }.to_string()
    };
    let begin = "the other site confirmed nothing for 4 s";
    assert_eq!(words(1), format!("{begin}, also over a new connection: why"));
    assert_eq!(words(7), format!("{begin}, also over 7 new connections: why"));
}

/// The connection is cut again and again, but a few bytes get through each time.
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
    let start = Instant::now();
    for confirmed in 0..9 {
        let mut channel = offer(&keys, &socket, confirmed);
        await_message(&mut channel, |message| matches!(message, Message::Data(_)));
        thread::sleep(GIVE_UP / 8);
    }
    assert!(start.elapsed() > GIVE_UP);
    let mut last = offer(&keys, &socket, 9);
    await_message(&mut last, |message| *message == Message::Finish(9));
    last.send(&Message::Done);
    last.close();
    assert_eq!(sending.join().unwrap(), Ok(SendOutcome::Done));
}
