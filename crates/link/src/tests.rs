//! Tests with both sides in one process, and tests of known peers that violate the protocol.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::channel::Channel;
use crate::dial::Target;
use crate::message::{HeldPart, MOST_BODY, Message, StreamId, VERSION};
use crate::receive::Listener;
use crate::send::{ConnectedSender, SendOutcome};
use crate::session::RECONNECT_TIME;
use crate::sink::{ReceiveEvent, Sink};
use crate::{Fingerprint, Key, LinkError, tls};

mod floods;
mod newcomers;
mod stalls;
mod strangers;

/// Time after which a silent peer is cut off.
const PATIENCE: Duration = Duration::from_secs(3);

/// The stream of all known peers, unless a test names another one.
const STREAM: StreamId = StreamId { run: [7; 16], header: 42 };

struct Keys {
    dir: tempfile::TempDir,
}

impl Keys {
    fn new() -> Keys {
        let dir = tempfile::tempdir().unwrap();
        for name in ["search_site", "io_site"] {
            Key::create(&dir.path().join(name)).unwrap();
        }
        Keys { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn key(&self, name: &str) -> Key {
        Key::read(&self.path(name)).unwrap()
    }

    fn print(&self, name: &str) -> Vec<Fingerprint> {
        vec![self.key(name).fingerprint()]
    }
}

/// A sink that keeps all bytes in memory. Each thousand bytes are one whole record.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    synced: usize,
    /// Offset at which the next bytes are stored.
    next: usize,
    finished: bool,
    most: Option<usize>,
    over: Arc<AtomicBool>,
}

impl Sink for Memory {
    fn sync_held(&mut self) -> Result<HeldPart, String> {
        self.synced = self.bytes.len();
        let bytes = self.synced as u64;
        Ok(HeldPart {
            bytes,
            whole_bytes: bytes / 1000 * 1000,
            workers: 3,
            state: b"state".to_vec(),
        })
    }

    fn start(&mut self, offset: u64) -> Result<(), String> {
        self.next = offset as usize;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.bytes.truncate(self.next);
        self.bytes.extend_from_slice(bytes);
        self.next = self.bytes.len();
        match self.most {
            Some(most) if self.bytes.len() > most => Err("no room on the disk".to_owned()),
            _ => Ok(()),
        }
    }

    fn sync(&mut self) -> Result<u64, String> {
        self.synced = self.bytes.len();
        Ok(self.synced as u64)
    }

    fn finish(&mut self, total: u64) -> Result<(), String> {
        assert_eq!(total, self.bytes.len() as u64);
        self.finished = true;
        Ok(())
    }

    fn verdict(&mut self) -> Option<Result<(), String>> {
        (self.finished || self.over.load(Ordering::Relaxed)).then_some(Ok(()))
    }
}

/// Ends the listener when dropped. After a failed assertion, the listener would otherwise wait for
/// ever.
struct Over(Arc<AtomicBool>);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Listens while `act` uses the address. Returns the sink, the result and the events of the
/// receiver.
fn receive(
    keys: &Keys,
    mut sink: Memory,
    act: impl FnOnce(SocketAddr) + Send,
) -> (Memory, Result<(), LinkError>, Vec<ReceiveEvent>) {
    let listener =
        Listener::bind("127.0.0.1:0", &keys.key("io_site"), &keys.print("search_site"), PATIENCE)
            .unwrap();
    let address = listener.address().unwrap();
    let events = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&events);
    let observer: crate::sink::ReceiveObserver =
        Arc::new(move |event| own.lock().unwrap().push(event));
    let over = Over(Arc::clone(&sink.over));
    let result = thread::scope(|scope| {
        scope.spawn(move || {
            let _over = over;
            act(address);
        });
        listener.serve(&mut sink, None, &observer)
    });
    let events = events.lock().unwrap().clone();
    (sink, result, events)
}

fn target(keys: &Keys, address: SocketAddr) -> Target {
    Target {
        address: address.to_string(),
        key: keys.key("search_site"),
        peers: keys.print("io_site"),
        header: STREAM.header,
        patience: PATIENCE,
        give_up: Duration::from_secs(30),
    }
}

/// Connects as a known peer and sends its first two messages.
fn connect_known(keys: &Keys, address: SocketAddr) -> Channel {
    said_hello(keys, TcpStream::connect(address).unwrap(), STREAM)
}

/// Sends the first two messages of a known peer over a connection: its hello, and this stream.
fn said_hello(keys: &Keys, tcp: TcpStream, stream: StreamId) -> Channel {
    let config = tls::client_config(&keys.key("search_site"), &keys.print("io_site")).unwrap();
    let patience = Duration::from_secs(20);
    let mut channel =
        Channel::new(tcp, tls::client_connection(&config).unwrap(), patience).unwrap();
    channel.perform_handshake().unwrap();
    channel.send(&Message::Hello(VERSION));
    channel.send(&Message::Stream(stream));
    channel
}

/// Waits until the other side ends the connection. Returns how long that took.
fn until_cut(channel: &mut Channel) -> Duration {
    let start = Instant::now();
    loop {
        let result = channel.exchange(Duration::from_millis(20)).and_then(|()| channel.receive());
        match result {
            Err(_) => return start.elapsed(),
            Ok(_) => assert!(start.elapsed() < Duration::from_secs(15), "it is never cut off"),
        }
    }
}

#[test]
fn a_stream_arrives_and_both_sides_know() {
    let keys = Keys::new();
    let bytes: Vec<u8> = (0..3_000_000u32).map(|number| (number % 251) as u8).collect();
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        assert_eq!(
            opening.held_part(),
            &HeldPart { bytes: 0, whole_bytes: 0, workers: 3, state: b"state".to_vec() }
        );
        let sender = opening.start(Box::new(|_| true)).unwrap();
        bytes.chunks(70_001).for_each(|piece| sender.write(piece).unwrap());
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
    });
    assert_eq!(result, Ok(()));
    assert!(sink.bytes == bytes);
}

#[test]
fn a_sender_that_begins_anew_goes_on_from_what_is_whole() {
    let keys = Keys::new();
    let sink = Memory { bytes: vec![1; 2345], ..Memory::default() };
    let (sink, result, _) = receive(&keys, sink, |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        assert_eq!((opening.held_part().bytes, opening.held_part().whole_bytes), (2345, 2000));
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(&[2; 500]).unwrap();
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
    });
    assert_eq!(result, Ok(()));
    assert!(sink.bytes == [vec![1; 2000], vec![2; 500]].concat());
}

/// The sender produces its stream again, and finds only at the end that the receiver has all of it.
#[test]
fn a_new_sender_gets_no_verdict_before_its_end_although_everything_is_there() {
    let keys = Keys::new();
    let sink = Memory { bytes: vec![1; 3000], finished: true, ..Memory::default() };
    let (sink, result, events) = receive(&keys, sink, |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        thread::sleep(RECONNECT_TIME + RECONNECT_TIME / 4);
        assert_eq!(sender.check(), Ok(()));
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, [1; 3000]);
    assert!(!events.iter().any(|event| matches!(event, ReceiveEvent::Broken(_))), "{events:?}");
}

#[test]
fn a_failure_on_either_side_is_reported_on_the_other() {
    let keys = Keys::new();
    let sink = Memory { most: Some(100_000), ..Memory::default() };
    let (_, result, _) = receive(&keys, sink, |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(&[3; 200_000]).unwrap();
        let refused = LinkError::Refused("no room on the disk".to_owned());
        assert_eq!(sender.finish(), Err(refused));
    });
    assert_eq!(result, Err(LinkError::Ended("no room on the disk".to_owned())));

    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(b"half").unwrap();
        drop(sender);
    });
    assert!(!sink.finished && matches!(result, Err(LinkError::Refused(_))), "{result:?}");
}

#[test]
fn a_known_peer_that_is_silent_or_sends_half_a_message_is_cut_off() {
    let keys = Keys::new();
    let (sink, _, events) = receive(&keys, Memory::default(), |address| {
        let mut silent = connect_known(&keys, address);
        let took = until_cut(&mut silent);
        assert!(took > PATIENCE / 2 && took < 4 * PATIENCE, "{took:?}");
        let mut halved = connect_known(&keys, address);
        halved.send(&Message::Start(0));
        halved.send_bytes(&Message::Data(vec![5; 1000]).encode()[..700]);
        let took = until_cut(&mut halved);
        assert!(took > PATIENCE / 2 && took < 4 * PATIENCE, "{took:?}");
    });
    assert!(sink.bytes.is_empty());
    let broken = |event: &&ReceiveEvent| matches!(event, ReceiveEvent::Broken(_));
    assert_eq!(events.iter().filter(broken).count(), 2, "{events:?}");
}

/// A long search sends nothing for a while, and a long expansion answers nothing.
#[test]
fn a_stream_on_which_nothing_comes_for_long_is_not_cut_off() {
    let keys = Keys::new();
    let (sink, result, events) = receive(&keys, Memory::default(), |address| {
        let events = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&events);
        let observer: crate::dial::SendObserver =
            Arc::new(move |event| own.lock().unwrap().push(event));
        let opening = ConnectedSender::connect(target(&keys, address), observer).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(b"first, ").unwrap();
        thread::sleep(3 * PATIENCE);
        assert_eq!(sender.check(), Ok(()));
        sender.write(b"last").unwrap();
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
        let events = events.lock().unwrap();
        let is_progress = |event: &_| matches!(event, crate::dial::SendEvent::Progress { .. });
        assert!(events.iter().all(is_progress), "{events:?}");
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"first, last");
    assert!(!events.iter().any(|event| matches!(event, ReceiveEvent::Broken(_))), "{events:?}");
}

/// A sender that has nothing to send for long must notice in time that the receiver is gone.
#[test]
fn a_receiver_that_falls_silent_is_given_up_in_time() {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target(&keys, socket.local_addr().unwrap());
    let target = Target { give_up: Duration::from_secs(2), ..target };
    let ended = Arc::new(AtomicBool::new(false));
    let (own, end_reported) = (Arc::clone(&ended), ended);
    let sending = thread::spawn(move || {
        let observer: crate::dial::SendObserver = Arc::new(move |event| {
            own.fetch_or(event == crate::dial::SendEvent::Ended, Ordering::Relaxed);
        });
        let sender =
            ConnectedSender::connect(target, observer).unwrap().start(Box::new(|_| true)).unwrap();
        let start = Instant::now();
        while sender.check().is_ok() || !end_reported.load(Ordering::Relaxed) {
            assert!(start.elapsed() < Duration::from_secs(60), "it is never given up");
            thread::sleep(Duration::from_millis(20));
        }
        (sender.check(), start.elapsed())
    });
    let mut silent = offer(&keys, &socket, 0);
    await_message(&mut silent, |message| *message == Message::Start(0));
    let (end, took) = sending.join().unwrap();
    assert!(matches!(end, Err(LinkError::GivenUp { .. })), "{end:?}");
    assert!(took > PATIENCE / 2 && took < 5 * PATIENCE, "{took:?}");
}

#[test]
fn a_known_peer_that_violates_the_protocol_is_cut_off_at_once() {
    let keys = Keys::new();
    let too_long = [&[4][..], &(MOST_BODY as u32 + 1).to_le_bytes(), &[0; 100]].concat();
    let lines: [Vec<u8>; 7] = [
        too_long,
        vec![77, 0, 0, 0, 0],
        Message::Data(vec![1]).encode(),
        Message::Start(1).encode(),
        Message::Finish(0).encode(),
        [Message::Start(0).encode(), Message::Finish(5).encode()].concat(),
        [Message::Start(0).encode(), Message::Confirmed(5).encode()].concat(),
    ];
    let (sink, result, _) = receive(&keys, Memory::default(), |address| {
        for line in &lines {
            let mut peer = connect_known(&keys, address);
            peer.send_bytes(line);
            let took = until_cut(&mut peer);
            assert!(took < PATIENCE, "{line:?}: {took:?}");
        }
        // The last peer keeps to the protocol.
        let opening = ConnectedSender::connect(target(&keys, address), Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(b"whole").unwrap();
        assert_eq!(sender.finish(), Ok(SendOutcome::Done));
    });
    assert_eq!(result, Ok(()));
    assert_eq!(sink.bytes, b"whole");
}

/// Accepts connections until a handshake succeeds, and sends the peer that `bytes` bytes are held.
fn offer(keys: &Keys, socket: &TcpListener, bytes: u64) -> Channel {
    loop {
        // On a busy machine a handshake may take too long. Then the sender connects again.
        if let Ok(channel) = offer_once(keys, socket.accept().unwrap().0, bytes) {
            return channel;
        }
    }
}

/// Performs the handshake on an accepted connection, and sends the peer that `bytes` bytes are
/// held.
fn offer_once(keys: &Keys, tcp: TcpStream, bytes: u64) -> Result<Channel, LinkError> {
    let config = tls::server_config(&keys.key("io_site"), &keys.print("search_site")).unwrap();
    let mut channel =
        Channel::new(tcp, tls::server_connection(&config).unwrap(), PATIENCE).unwrap();
    channel.perform_handshake()?;
    channel.send(&Message::Held(HeldPart {
        bytes,
        whole_bytes: bytes,
        workers: 1,
        state: Vec::new(),
    }));
    Ok(channel)
}

fn await_message(channel: &mut Channel, wanted: impl Fn(&Message) -> bool) {
    loop {
        channel.exchange(Duration::from_millis(20)).unwrap();
        if channel.receive().unwrap().is_some_and(|message| wanted(&message)) {
            return;
        }
    }
}

/// Sends a whole stream in a thread of its own. The thread returns the outcome.
fn send_in_thread(
    target: Target,
    bytes: &'static [u8],
) -> thread::JoinHandle<Result<SendOutcome, LinkError>> {
    thread::spawn(move || {
        let opening = ConnectedSender::connect(target, Arc::new(|_| {})).unwrap();
        let sender = opening.start(Box::new(|_| true)).unwrap();
        sender.write(bytes).unwrap();
        sender.finish()
    })
}

/// The first of two receivers has the whole stream, and ends before it sends `Done`. The second
/// receiver has nothing.
#[test]
fn a_stream_that_was_confirmed_has_arrived_whatever_the_next_receiver_holds() {
    let keys = Keys::new();
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = target(&keys, socket.local_addr().unwrap());
    let sending = send_in_thread(target, b"everything");
    let mut first = offer(&keys, &socket, 0);
    await_message(&mut first, |message| *message == Message::Finish(10));
    first.send(&Message::Confirmed(10));
    first.close();
    let mut second = offer(&keys, &socket, 0);
    await_message(&mut second, |message| matches!(message, Message::Foreign(_)));
    assert_eq!(sending.join().unwrap(), Ok(SendOutcome::Unknown));
}

#[test]
fn a_sender_without_a_receiver_gives_up_in_time() {
    let keys = Keys::new();
    let target = target(&keys, SocketAddr::from(([127, 0, 0, 1], 1)));
    let target = Target { give_up: Duration::from_secs(2), ..target };
    let start = Instant::now();
    let end = ConnectedSender::connect(target, Arc::new(|_| {})).err().unwrap();
    assert!(matches!(end, LinkError::GivenUp { .. }), "{end:?}");
    assert!(start.elapsed() < Duration::from_secs(10));
}
