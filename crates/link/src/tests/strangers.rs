//! Tests of peers without a known key. They must neither end a stream nor keep others out.

use std::io::{ErrorKind, Read, Write};

use super::*;

/// Sends a whole stream over a new connection, which must succeed within a short time.
fn send_all(keys: &Keys, address: SocketAddr, bytes: &[u8]) {
    let start = Instant::now();
    let opening = ConnectedSender::connect(target(keys, address), Arc::new(|_| {})).unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let sender = opening.start(Box::new(|_| true)).unwrap();
    sender.write(bytes).unwrap();
    assert_eq!(sender.finish(), Ok(SendOutcome::Done));
}

/// Returns the first message of a TLS handshake, as the client of a stranger sends it.
pub(super) fn client_hello(keys: &Keys) -> Vec<u8> {
    let config = tls::client_config(&keys.key("io_site"), &keys.print("search_site")).unwrap();
    let mut bytes = Vec::new();
    tls::client_connection(&config).unwrap().write_tls(&mut bytes).unwrap();
    bytes
}

/// Keeps `count` connections open until `over` is set. Each sends `first`. A connection that is cut
/// is replaced.
fn crowd(address: SocketAddr, count: usize, first: &[u8], over: &AtomicBool) {
    let mut all: Vec<TcpStream> = Vec::new();
    let is_open = |tcp: &mut TcpStream| match tcp.read(&mut [0; 4096]) {
        Ok(0) => false,
        Ok(_) => true,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    };
    while !over.load(Ordering::Relaxed) {
        all.retain_mut(is_open);
        while all.len() < count
            && let Ok(mut tcp) = TcpStream::connect_timeout(&address, Duration::from_millis(200))
        {
            tcp.set_nonblocking(true).unwrap();
            let _ = tcp.write_all(first);
            all.push(tcp);
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn crowds_of_strangers_do_not_keep_a_known_peer_out() {
    let keys = Keys::new();
    let hello = client_hello(&keys);
    let firsts = [&b""[..], &hello[..40], &hello, b"GET / HTTP/1.1\r\n\r\n"];
    for count in [10, 400] {
        for first in firsts {
            let (sink, result, _) = receive(&keys, Memory::default(), |address| {
                let over = AtomicBool::new(false);
                thread::scope(|scope| {
                    let _over = EndOnDrop(&over);
                    scope.spawn(|| crowd(address, count, first, &over));
                    thread::sleep(Duration::from_millis(300));
                    send_all(&keys, address, b"through");
                });
            });
            assert_eq!(result, Ok(()));
            assert_eq!(sink.bytes, b"through");
        }
    }
}

/// Ends the threads of a test when dropped, also after a failed assertion.
pub(super) struct EndOnDrop<'a>(pub(super) &'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Sends single bytes from time to time on a new connection. Returns how long the connection lasts.
fn drip(address: SocketAddr, bytes: &[u8]) -> Duration {
    let mut tcp = TcpStream::connect(address).unwrap();
    tcp.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let start = Instant::now();
    for byte in bytes {
        let is_cut = |error: std::io::Error| error.kind() != ErrorKind::WouldBlock;
        let ended = tcp.write_all(&[*byte]).is_err();
        if ended || tcp.read(&mut [0; 4096]).map_or_else(is_cut, |count| count == 0) {
            return start.elapsed();
        }
    }
    panic!("it is never cut off")
}

#[test]
fn handshakes_that_drip_or_stop_are_cut_off_in_time() {
    let keys = Keys::new();
    let hello = client_hello(&keys);
    let (sink, _, _) = receive(&keys, Memory::default(), |address| {
        // The first message has more than sixty bytes, so it takes longer than the peer has.
        let took = drip(address, &hello);
        assert!(took > PATIENCE / 2 && took < 2 * PATIENCE, "{took:?}");
        let mut half = TcpStream::connect(address).unwrap();
        half.write_all(&hello).unwrap();
        half.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let start = Instant::now();
        let end = half.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert!(!matches!(end, Err(ErrorKind::WouldBlock)), "it is never cut off");
        assert!(start.elapsed() < 2 * PATIENCE, "{:?}", start.elapsed());
        // A long first message in TLS records of one byte each would take long to join.
        let mut long = TcpStream::connect(address).unwrap();
        let head = [&[1, 0, 0xff, 0xf0][..], &[3; 60_000]].concat();
        let records: Vec<u8> = head.iter().flat_map(|&byte| [22, 3, 1, 0, 1, byte]).collect();
        let start = Instant::now();
        let _ = long.write_all(&records);
        long.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let end = long.read_to_end(&mut Vec::new()).map_err(|error| error.kind());
        assert!(!matches!(end, Err(ErrorKind::WouldBlock)), "it is never cut off");
        assert!(start.elapsed() < PATIENCE / 2, "{:?}", start.elapsed());
    });
    assert!(sink.bytes.is_empty());
}

/// The answer of a stranger to a connection of the sender.
#[derive(Clone, Debug)]
enum Answer {
    Bytes(Vec<u8>),
    Reset,
    /// A handshake with an unknown key.
    OtherKey,
}

fn answer(keys: &Keys, mut tcp: TcpStream, answer: &Answer) {
    match answer {
        Answer::Bytes(bytes) => {
            let _ = tcp.read(&mut [0; 4096]);
            let _ = tcp.write_all(bytes);
        }
        Answer::Reset => {
            let linger = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&tcp, linger).unwrap();
        }
        Answer::OtherKey => {
            let config =
                tls::server_config(&keys.key("search_site"), &keys.print("search_site")).unwrap();
            let channel = Channel::new(tcp, tls::server_connection(&config).unwrap(), PATIENCE);
            let _ = channel.unwrap().perform_handshake();
        }
    }
}

/// Answers the connections of a sender with `answers`, one after the other; the last answer is
/// repeated. Returns the error of the sender, and the errors that it reported before.
fn connect_to_strangers(
    keys: &Keys,
    answers: &[Answer],
    give_up: Duration,
) -> (LinkError, Vec<String>) {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let target = target(keys, socket.local_addr().unwrap());
    let reported = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&reported);
    let observer: crate::dial::SendObserver = Arc::new(move |event| match event {
        crate::dial::SendEvent::Broken { why, left: Some(_) } => own.lock().unwrap().push(why),
        event => panic!("{event:?}"),
    });
    let start = Instant::now();
    let connecting = thread::spawn(move || {
        ConnectedSender::connect(Target { give_up, ..target }, observer).map(|_| ()).unwrap_err()
    });
    let mut number = 0;
    while !connecting.is_finished() {
        if let Ok((tcp, _)) = socket.accept() {
            tcp.set_nonblocking(false).unwrap();
            answer(keys, tcp, &answers[number.min(answers.len() - 1)]);
            number += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    assert!(start.elapsed() >= give_up, "{answers:?} ended it after {:?}", start.elapsed());
    assert!(number > 1, "it tried once");
    (connecting.join().unwrap(), Arc::into_inner(reported).unwrap().into_inner().unwrap())
}

#[test]
fn nothing_that_a_stranger_answers_ends_a_sender_before_its_time() {
    let keys = Keys::new();
    let noise = [b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![22; 100_000], vec![0; 7]];
    let all = [Answer::Reset, Answer::OtherKey, Answer::Bytes(Vec::new())];
    let alerts = [42, 46, 48, 49].map(|alert| vec![21, 3, 3, 0, 2, 2, alert]);
    let all = all.into_iter().chain(noise.into_iter().chain(alerts).map(Answer::Bytes));
    let mut errors = Vec::new();
    thread::scope(|scope| {
        let keys = &keys;
        let connect = |answer| {
            let run = move || connect_to_strangers(keys, &[answer], Duration::from_secs(1));
            scope.spawn(run)
        };
        let running: Vec<_> = all.map(connect).collect();
        errors.extend(running.into_iter().map(|it| it.join().unwrap()));
    });
    for (error, reported) in &errors {
        assert!(matches!(error, LinkError::GivenUp { .. }), "{error:?}");
        assert!(!reported.is_empty(), "{error:?}");
    }
    let (error, reported) = &errors[1];
    let wanted =
        format!("presented another key than -peer names: {}", keys.print("search_site")[0]);
    assert!(error.to_string().contains(&wanted), "{error}");
    assert!(reported.iter().any(|why| why.contains(&wanted)), "{reported:?}");
}

#[test]
fn no_forged_alert_counts_as_an_alert_of_the_peer() {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let config = tls::client_config(&keys.key("search_site"), &keys.print("io_site")).unwrap();
    for alert in 0..512u16 {
        let tcp = TcpStream::connect(address).unwrap();
        let mut channel =
            Channel::new(tcp, tls::client_connection(&config).unwrap(), PATIENCE).unwrap();
        let (mut stranger, _) = socket.accept().unwrap();
        let level = 1 + (alert >> 8) as u8;
        stranger.write_all(&[21, 3, 3, 0, 2, level, alert as u8]).unwrap();
        drop(stranger);
        let error = channel.perform_handshake().unwrap_err();
        assert!(matches!(error, LinkError::Broken(_)), "alert {alert}: {error:?}");
    }
}

/// The option `-peer` of the receiver is wrong, but its user may correct it.
#[test]
fn a_peer_that_stops_knowing_the_key_does_not_end_a_stream() {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target(&keys, socket.local_addr().unwrap());
    let sending = send_in_thread(target, b"all");
    let mut first = offer(&keys, &socket, 0);
    await_message(&mut first, |message| *message == Message::Start(0));
    drop(first);
    let (tcp, _) = socket.accept().unwrap();
    let config = tls::server_config(&keys.key("io_site"), &keys.print("io_site")).unwrap();
    let mut wrong = Channel::new(tcp, tls::server_connection(&config).unwrap(), PATIENCE).unwrap();
    assert!(wrong.perform_handshake().is_err());
    drop(wrong);
    let mut last = offer(&keys, &socket, 0);
    await_message(&mut last, |message| *message == Message::Finish(3));
    last.send(&Message::Confirmed(3));
    last.send(&Message::Done);
    last.close();
    assert_eq!(sending.join().unwrap(), Ok(SendOutcome::Done));
}

/// At the first connection, the options of the sender may be wrong, so it ends.
#[test]
fn a_peer_with_a_known_key_may_reject_the_key_of_the_sender() {
    let keys = Keys::new();
    let (_, _, events) = receive(&keys, Memory::default(), |address| {
        let target = Target { key: keys.key("io_site"), ..target(&keys, address) };
        let error = ConnectedSender::connect(target, Arc::new(|_| {})).map(|_| ()).unwrap_err();
        assert!(
            matches!(&error, LinkError::KeyRejected(why) if why.contains("does not know this key"))
        );
    });
    let wanted = format!("presented another key than -peer names: {}", keys.print("io_site")[0]);
    let rejected = |event: &ReceiveEvent| match event {
        ReceiveEvent::Rejected(_, why) => why.contains(&wanted),
        _ => false,
    };
    assert!(events.iter().any(rejected), "{events:?}");
}
