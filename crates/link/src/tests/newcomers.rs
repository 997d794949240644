//! Tests of known peers that connect while another known peer is connected.

use super::*;

/// Begins a stream on a connection, and waits until its first byte is confirmed.
fn begun(keys: &Keys, address: SocketAddr) -> Channel {
    let mut first = connect_known(keys, address);
    first.send(&Message::Start(0));
    first.send(&Message::Data(b"a".to_vec()));
    await_message(&mut first, |message| *message == Message::Confirmed(1));
    first
}

fn come(keys: &Keys, address: SocketAddr, stream: StreamId) -> Channel {
    said_hello(keys, TcpStream::connect(address).unwrap(), stream)
}

/// Returns the next message that is no sign of life; `None` if the connection ends.
fn answer(channel: &mut Channel) -> Option<Message> {
    loop {
        channel.exchange(Duration::from_millis(20)).ok()?;
        match channel.receive() {
            Ok(None | Some(Message::Confirmed(_) | Message::Received(_))) => {}
            Ok(message) => return message,
            Err(_) => return None,
        }
    }
}

/// Sends the rest of a stream whose first byte was sent, and waits for its end.
fn end(mut channel: Channel, rest: &[u8]) {
    channel.send(&Message::Data(rest.to_vec()));
    channel.send(&Message::Finish(1 + rest.len() as u64));
    assert_eq!(answer(&mut channel), Some(Message::Done));
    assert!(channel.close());
}

#[test]
fn another_search_is_refused_in_words_and_the_first_goes_on() {
    let keys = Keys::new();
    let (sink, result, events) = receive(&keys, Memory::default(), |address| {
        let first = begun(&keys, address);
        let error = ConnectedSender::connect(
            Target { header: 43, ..target(&keys, address) },
            Arc::new(|_| {}),
        );
        let Err(LinkError::Refused(why)) = error.map(|_| ()) else { panic!("it is let in") };
        assert!(why.contains("another search is received here"), "{why}");
        // Many such peers do not delay the first one, even if they do not read their answers.
        let others: Vec<Channel> = (0..40)
            .map(|number| come(&keys, address, StreamId { run: [number; 16], header: 44 }))
            .collect();
        let start = Instant::now();
        end(first, b"b");
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
        drop(others);
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"ab");
    assert!(!events.iter().any(|event| matches!(event, ReceiveEvent::Broken(_))), "{events:?}");
}

#[test]
fn another_run_of_the_same_search_waits_until_the_first_has_gone() {
    let keys = Keys::new();
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let first = begun(&keys, address);
        let events = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&events);
        let target = target(&keys, address);
        let waiting = thread::spawn(move || {
            let observer: crate::dial::SendObserver =
                Arc::new(move |event| own.lock().unwrap().push(event));
            ConnectedSender::connect(target, observer).unwrap()
        });
        let is_reported = || {
            let broken = |event: &_| match event {
                crate::dial::SendEvent::Broken { why, left: Some(_) } => {
                    why.contains("another run")
                }
                _ => false,
            };
            events.lock().unwrap().iter().any(broken)
        };
        let start = Instant::now();
        while !is_reported() {
            assert!(start.elapsed() < Duration::from_secs(20), "nothing is reported");
            thread::sleep(Duration::from_millis(20));
        }
        assert!(!waiting.is_finished());
        drop(first);
        let sender = waiting.join().unwrap().start(Box::new(|_| true)).unwrap();
        sender.write(b"new").unwrap();
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"new");
}

/// The old connection is dead, but only the sender knows that.
#[test]
fn the_same_run_takes_the_place_of_its_own_connection_at_once() {
    let keys = Keys::new();
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let mut old = begun(&keys, address);
        let start = Instant::now();
        let mut new = connect_known(&keys, address);
        let held = answer(&mut new);
        assert!(matches!(&held, Some(Message::Held(held)) if held.bytes == 1), "{held:?}");
        assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());
        until_cut(&mut old);
        new.send(&Message::Start(1));
        end(new, b"new");
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"anew");
}

#[test]
fn an_old_connection_with_a_late_hello_does_not_replace_a_new_one() {
    let keys = Keys::new();
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let late = TcpStream::connect(address).unwrap();
        let new = begun(&keys, address);
        until_cut(&mut said_hello(&keys, late, STREAM));
        end(new, b"new");
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"anew");
}

/// A peer that does not begin delays others only for a short time, and does not end their search.
#[test]
fn a_known_peer_that_does_not_begin_is_cut_off() {
    let keys = Keys::new();
    let (_, _, events) = receive(&keys, Memory::default(), |address| {
        let mut idle = connect_known(&keys, address);
        assert!(matches!(answer(&mut idle), Some(Message::Held(_))));
        let other = StreamId { run: [1; 16], header: 1 };
        assert!(matches!(answer(&mut come(&keys, address, other)), Some(Message::Busy(_))));
        let start = Instant::now();
        loop {
            idle.send(&Message::Idle);
            if idle.exchange(Duration::from_millis(50)).and_then(|()| idle.receive()).is_err() {
                break;
            }
            assert!(start.elapsed() < 4 * PATIENCE, "it is never cut off");
        }
        assert!(start.elapsed() > PATIENCE / 2);
    });
    assert!(
        events.contains(&ReceiveEvent::Broken("the peer does not begin".to_owned())),
        "{events:?}"
    );
}

/// Until a run has sent bytes, it may be sending another stream than the run before.
#[test]
fn a_run_that_has_sent_nothing_does_not_end_a_broken_stream() {
    let keys = Keys::new();
    let (sink, result, events) = receive(&keys, Memory::default(), |address| {
        let mut first = connect_known(&keys, address);
        first.send(&Message::Start(0));
        first.send(&Message::Data(vec![1; 1500]));
        await_message(&mut first, |message| *message == Message::Confirmed(1500));
        drop(first);
        // This run ends with an error before its stream is verified.
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        assert_eq!((opening.held_part().bytes, opening.held_part().whole_bytes), (1500, 1000));
        drop(opening.start(Box::new(|_| true)).unwrap());
        // This run finds that the receiver holds another stream.
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        opening.refuse("another one");
        // This run begins, and then the first run comes back.
        let mut other = come(&keys, address, StreamId { run: [1; 16], ..STREAM });
        assert!(matches!(answer(&mut other), Some(Message::Held(_))));
        other.send(&Message::Start(1000));
        other.exchange(Duration::ZERO).unwrap();
        let mut first = connect_known(&keys, address);
        first.exchange(Duration::ZERO).unwrap();
        assert!(matches!(answer(&mut other), Some(Message::Busy(_))));
        let held = answer(&mut first);
        assert!(matches!(&held, Some(Message::Held(held)) if held.bytes == 1500), "{held:?}");
        first.send(&Message::Start(1500));
        first.send(&Message::Finish(1500));
        assert_eq!(answer(&mut first), Some(Message::Done));
        first.close();
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, [1; 1500]);
    let broken = |wanted: &str| {
        let is_it = |event: &_| matches!(event, ReceiveEvent::Broken(why) if why.contains(wanted));
        assert!(events.iter().any(is_it), "{wanted}: {events:?}");
    };
    let wanted =
        ["the peer closed the connection", "before it had compared its queries", "another one"];
    wanted.into_iter().for_each(broken);
}

#[test]
fn an_error_after_verification_ends_both_sides() {
    let keys = Keys::new();
    let sink = Memory { bytes: vec![1; 1000], ..Memory::default() };
    let (_, result, _) = receive(&keys, sink, |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.verify();
    });
    assert!(matches!(result, Err(LinkError::Refused(_))), "{result:?}");
}

#[test]
fn a_sender_that_missed_the_last_message_receives_it_when_it_reconnects() {
    let keys = Keys::new();
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let mut first = begun(&keys, address);
        first.send(&Message::Finish(1));
        await_message(&mut first, |message| *message == Message::Confirmed(1));
        // The connection ends without a message, as if it were cut.
        drop(first);
        let mut again = connect_known(&keys, address);
        let held = answer(&mut again);
        assert!(matches!(&held, Some(Message::Held(held)) if held.bytes == 1), "{held:?}");
        again.send(&Message::Start(1));
        again.send(&Message::Finish(1));
        assert_eq!(answer(&mut again), Some(Message::Done));
        let start = Instant::now();
        assert!(again.close());
        assert!(start.elapsed() < RECONNECT_TIME, "the other side waits for more");
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"a");
}
