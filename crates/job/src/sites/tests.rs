//! Tests of the manager and of the search's endpoint. The tests send the messages of all other
//! roles.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fleetblast_metadata::records::RecordKind;

use super::manager::run_manager;
use crate::audience::SilentAudience;
use crate::error::{Error, exit};
use crate::io_channel::IoChannel;
use crate::io_channel::mailbox::{Address, BlockReport, Mailbox, Message, Parcel, ReportRequest};
use crate::plan::Destination;

/// Longest time to wait for a message.
const LIMIT: Duration = Duration::from_secs(60);

/// A manager and the channels to and from it.
struct ManagerUnderTest {
    to: Sender<Parcel>,
    from: Receiver<Parcel>,
    ended: JoinHandle<Result<(), Error>>,
    directory: tempfile::TempDir,
}

impl ManagerUnderTest {
    fn new(makers: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ((to, inbox), (out, from)) = (channel(), channel());
        let mailbox = Mailbox::new(Address::Manager, inbox, Box::new(move |it| drop(out.send(it))));
        let report = Destination::File(directory.path().join("report"));
        let ended =
            thread::spawn(move || run_manager(&mailbox, (makers, 2), &report, &SilentAudience));
        ManagerUnderTest { to, from, ended, directory }
    }

    fn send(&self, from: Address, message: Message) {
        self.to.send(Parcel::new(Address::Manager, from, message)).unwrap();
    }

    fn record(&self, kind: RecordKind, body: &[u8]) {
        self.send(Address::Search, Message::Record(kind, body.to_vec()));
    }

    fn send_report(&self, maker: u32, number: u64, bytes: &[u8]) {
        let report =
            BlockReport { number, queries: 0..0, bytes: bytes.to_vec(), lines: Vec::new() };
        self.send(Address::Maker(maker), Message::ReportMade(report));
    }

    /// Returns the next message of the manager, except [`Message::Received`].
    fn next_message(&self) -> (Address, Message) {
        loop {
            let parcel = self.from.recv_timeout(LIMIT).expect("it sends nothing");
            if !matches!(parcel.message, Message::Received(..)) {
                return (parcel.to, parcel.message);
            }
        }
    }

    /// Returns whether the manager sends no message but [`Message::Received`] for 50 ms.
    fn is_silent(&self) -> bool {
        while let Ok(parcel) = self.from.recv_timeout(Duration::from_millis(50)) {
            if !matches!(parcel.message, Message::Received(..)) {
                return false;
            }
        }
        true
    }

    /// Returns the maker that gets the next request, and the number of the request.
    fn next_request(&self) -> (Address, u64) {
        match self.next_message() {
            (maker, Message::MakeReport(ReportRequest { number, .. })) => (maker, number),
            other => panic!("{other:?} is no request"),
        }
    }

    fn report(&self) -> Option<Vec<u8>> {
        fs::read(self.directory.path().join("report")).ok()
    }

    fn is_empty(directory: &Path) -> bool {
        fs::read_dir(directory).unwrap().next().is_none()
    }
}

const FIRST: Address = Address::Maker(0);
const SECOND: Address = Address::Maker(1);

#[test]
fn reports_are_written_in_order_while_more_blocks_arrive() {
    let manager = ManagerUnderTest::new(2);
    manager.record(RecordKind::Header, b"header");
    assert_eq!(manager.next_message(), (FIRST, Message::Header(b"header".to_vec())));
    assert_eq!(manager.next_message(), (SECOND, Message::Header(b"header".to_vec())));
    assert_eq!(manager.next_message(), (Address::Search, Message::Written(6)));
    manager.record(RecordKind::Block, b"0");
    manager.record(RecordKind::Block, b"one");
    manager.send(SECOND, Message::Ready);
    assert_eq!(manager.next_request(), (SECOND, 0));
    manager.send_report(1, 0, b"zero ");
    assert_eq!(manager.next_message(), (Address::Search, Message::Written(1)));
    assert_eq!(manager.next_request(), (SECOND, 1));
    manager.record(RecordKind::Block, b"2");
    manager.send(FIRST, Message::Ready);
    assert_eq!(manager.next_request(), (FIRST, 2));
    manager.record(RecordKind::End, b"end");
    // The report of block 2 waits for that of block 1. The end record waits for both.
    manager.send_report(0, 2, b"two ");
    manager.send_report(1, 1, b"one ");
    assert_eq!(manager.next_message(), (Address::Search, Message::Written(3)));
    assert_eq!(manager.next_message(), (Address::Search, Message::Written(1)));
    assert!(manager.report().is_none(), "it has its name before it is whole");
    let (maker, number) = manager.next_request();
    assert_eq!(number, 3);
    let Address::Maker(maker) = maker else { panic!("{maker:?} makes nothing") };
    manager.send_report(maker, 3, b"end");
    assert_eq!(manager.next_message(), (Address::Search, Message::Written(3)));
    assert_eq!(manager.next_message(), (Address::Search, Message::Done));
    assert_eq!(
        [manager.next_message(), manager.next_message()],
        [FIRST, SECOND].map(|it| (it, Message::End))
    );
    assert_eq!(manager.report().unwrap(), b"zero one two end");
    assert_eq!(manager.ended.join().unwrap(), Ok(()));
}

/// The reports of later blocks wait in memory, and must not fill it.
#[test]
fn makers_do_not_get_far_ahead_of_the_written_report() {
    let manager = ManagerUnderTest::new(2);
    (0..9u8).for_each(|number| manager.record(RecordKind::Block, &[number]));
    manager.send(FIRST, Message::Ready);
    assert_eq!(manager.next_request(), (FIRST, 0));
    manager.send(SECOND, Message::Ready);
    for number in 1..4 {
        assert_eq!(manager.next_request(), (SECOND, number));
        manager.send_report(1, number, b"");
    }
    assert!(manager.is_silent());
    manager.send_report(0, 0, b"");
    (0..4).for_each(|_| assert_eq!(manager.next_message(), (Address::Search, Message::Written(1))));
    let mut numbers = [manager.next_request().1, manager.next_request().1];
    numbers.sort_unstable();
    assert_eq!(numbers, [4, 5]);
    manager.send(Address::Search, Message::SearchFailed);
    assert!(manager.ended.join().unwrap().is_err());
}

#[test]
fn there_is_no_end_before_all_databases_are_verified() {
    let manager = ManagerUnderTest::new(2);
    manager.record(RecordKind::End, b"end");
    manager.send(FIRST, Message::Ready);
    assert!(manager.is_silent());
    let wrong = "BLAST Database error: another (rank 3 on host n1)";
    manager.send(SECOND, Message::Failed(exit::DATABASE, wrong.to_owned()));
    let failed = Message::Failed(exit::DATABASE, wrong.to_owned());
    assert_eq!(manager.next_message(), (Address::Search, failed));
    assert_eq!(
        [manager.next_message(), manager.next_message()],
        [FIRST, SECOND].map(|it| (it, Message::End))
    );
    assert_eq!(manager.ended.join().unwrap(), Err(Error::new(exit::DATABASE, wrong)));
    assert!(ManagerUnderTest::is_empty(manager.directory.path()));
}

#[test]
fn a_search_that_ends_early_ends_the_other_site_and_leaves_nothing() {
    let channel = IoChannel::new();
    let (search, io) = (channel.search_endpoint().unwrap(), channel.io_endpoint().unwrap());
    assert!(
        channel.search_endpoint().is_err() && channel.io_endpoint().is_err(),
        "each is taken once"
    );
    let manager = ManagerUnderTest::new(1);
    manager.record(RecordKind::Block, b"0");
    manager.send(FIRST, Message::Ready);
    assert_eq!(manager.next_request(), (FIRST, 0));
    manager.send_report(0, 0, b"zero");
    drop(search);
    let last = io.from_search.recv_timeout(LIMIT).unwrap();
    assert_eq!((last.to, &last.message), (Address::Manager, &Message::SearchFailed));
    manager.to.send(last).unwrap();
    let error = manager.ended.join().unwrap().unwrap_err();
    assert!(error.is_silent(), "the search reports its error itself: {error}");
    assert!(ManagerUnderTest::is_empty(manager.directory.path()));
}

#[test]
fn the_search_receives_the_error_that_ended_the_other_site() {
    let channel = IoChannel::new();
    let (mut search, io) = (channel.search_endpoint().unwrap(), channel.io_endpoint().unwrap());
    let send = |message| {
        let parcel = Parcel::new(Address::Search, Address::Manager, message);
        io.to_search.send(parcel).unwrap();
    };
    search.send_record(RecordKind::Header, b"header").unwrap();
    send(Message::Written(6));
    search.check().unwrap();
    send(Message::Failed(exit::OUTPUT, "full".to_owned()));
    assert_eq!(search.check(), Err(Error::new(exit::OUTPUT, "full")));
    drop(search);
    let sent: Vec<Message> = io.from_search.try_iter().map(|parcel| parcel.message).collect();
    assert_eq!(sent, [Message::Record(RecordKind::Header, b"header".to_vec())]);
}

#[test]
fn a_search_waits_for_a_site_that_is_far_behind() {
    let channel = IoChannel::new();
    let (mut search, io) = (channel.search_endpoint().unwrap(), channel.io_endpoint().unwrap());
    let body = vec![0; 33 << 20];
    let sender = thread::spawn(move || {
        (0..3).for_each(|_| search.send_record(RecordKind::Block, &body).unwrap());
    });
    (0..2).for_each(|_| drop(io.from_search.recv_timeout(LIMIT).unwrap()));
    assert!(io.from_search.recv_timeout(Duration::from_millis(50)).is_err(), "it does not wait");
    let message = Message::Written(33 << 20);
    io.to_search.send(Parcel::new(Address::Search, Address::Manager, message)).unwrap();
    io.from_search.recv_timeout(LIMIT).unwrap();
    sender.join().unwrap();
}

/// The header takes 40 ms to the other site and back, and a megabyte takes 140 ms.
#[test]
fn the_search_measures_the_channel() {
    let channel = IoChannel::new();
    let (mut search, io) = (channel.search_endpoint().unwrap(), channel.io_endpoint().unwrap());
    let received = |bytes: usize, after: u64| {
        let message = Message::Received(bytes as u64, 6);
        let parcel = Parcel::new(Address::Search, Address::Manager, message);
        let at = parcel.at + Duration::from_millis(after);
        io.to_search.send(Parcel { at, ..parcel }).unwrap();
    };
    assert!(search.speed().is_none(), "nothing has arrived yet");
    search.send_record(RecordKind::Header, &[0; 100]).unwrap();
    received(100, 40);
    search.check().unwrap();
    let speed = search.speed().unwrap();
    assert_eq!((speed.rate, speed.workers), (None, 6));
    assert!((40..60).contains(&speed.round_trip.as_millis()), "{speed:?}");
    search.send_record(RecordKind::Block, &vec![0; 1_000_000]).unwrap();
    received(1_000_000, 140);
    search.check().unwrap();
    let rate = search.speed().unwrap().rate.expect("a rate");
    assert!((7e6..12e6).contains(&rate), "{rate}");
}
