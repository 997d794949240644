//! Who says what when: a manager among makers and a search that are played here.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use fleetblast_metadata::records::RecordKind;

use super::manager::manage;
use crate::audience::Nobody;
use crate::crossing::Crossing;
use crate::crossing::post::{Address, Job, Message, Parcel, Piece, Post};
use crate::error::{Error, exit};
use crate::plan::Destination;

/// Longest time to wait for a message: a test that hangs says nothing.
const LIMIT: Duration = Duration::from_secs(60);

/// A manager with so many makers, and both ends of what it says.
struct Played {
    to: Sender<Parcel>,
    from: Receiver<Parcel>,
    ended: JoinHandle<Result<(), Error>>,
    directory: tempfile::TempDir,
}

impl Played {
    fn new(makers: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let ((to, inbox), (out, from)) = (channel(), channel());
        let post = Post::new(Address::Manager, inbox, Box::new(move |it| drop(out.send(it))));
        let report = Destination::File(directory.path().join("report"));
        let ended = thread::spawn(move || manage(&post, (makers, 2), &report, &Nobody));
        Played { to, from, ended, directory }
    }

    fn say(&self, from: Address, message: Message) {
        self.to.send(Parcel::new(Address::Manager, from, message)).unwrap();
    }

    fn record(&self, kind: RecordKind, body: &[u8]) {
        self.say(Address::Search, Message::Record(kind, body.to_vec()));
    }

    fn made(&self, maker: u32, number: u64, bytes: &[u8]) {
        let piece = Piece { number, queries: 0..0, bytes: bytes.to_vec(), said: Vec::new() };
        self.say(Address::Maker(maker), Message::Made(piece));
    }

    /// The next thing it says, but for what came.
    fn hear(&self) -> (Address, Message) {
        loop {
            let parcel = self.from.recv_timeout(LIMIT).expect("it says nothing");
            if !matches!(parcel.message, Message::Came(..)) {
                return (parcel.to, parcel.message);
            }
        }
    }

    /// Whether it says nothing for a while.
    fn is_silent(&self) -> bool {
        while let Ok(parcel) = self.from.recv_timeout(Duration::from_millis(50)) {
            if !matches!(parcel.message, Message::Came(..)) {
                return false;
            }
        }
        true
    }

    /// The next job, and whose it is.
    fn job(&self) -> (Address, u64) {
        match self.hear() {
            (maker, Message::Make(Job { number, .. })) => (maker, number),
            other => panic!("{other:?} is no job"),
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
fn pieces_are_written_in_their_order_while_more_comes() {
    let played = Played::new(2);
    played.record(RecordKind::Header, b"header");
    assert_eq!(played.hear(), (FIRST, Message::Begin(b"header".to_vec())));
    assert_eq!(played.hear(), (SECOND, Message::Begin(b"header".to_vec())));
    assert_eq!(played.hear(), (Address::Search, Message::Written(6)));
    played.record(RecordKind::Block, b"0");
    played.record(RecordKind::Block, b"one");
    played.say(SECOND, Message::Ready);
    assert_eq!(played.job(), (SECOND, 0));
    played.made(1, 0, b"zero ");
    assert_eq!(played.hear(), (Address::Search, Message::Written(1)));
    assert_eq!(played.job(), (SECOND, 1));
    played.record(RecordKind::Block, b"2");
    played.say(FIRST, Message::Ready);
    assert_eq!(played.job(), (FIRST, 2));
    played.record(RecordKind::End, b"end");
    // It waits for the one before; the end for both.
    played.made(0, 2, b"two ");
    played.made(1, 1, b"one ");
    assert_eq!(played.hear(), (Address::Search, Message::Written(3)));
    assert_eq!(played.hear(), (Address::Search, Message::Written(1)));
    assert!(played.report().is_none(), "it has its name before it is whole");
    let (maker, number) = played.job();
    assert_eq!(number, 3);
    let Address::Maker(maker) = maker else { panic!("{maker:?} makes nothing") };
    played.made(maker, 3, b"end");
    assert_eq!(played.hear(), (Address::Search, Message::Written(3)));
    assert_eq!(played.hear(), (Address::Search, Message::Done));
    assert_eq!([played.hear(), played.hear()], [FIRST, SECOND].map(|it| (it, Message::Leave)));
    assert_eq!(played.report().unwrap(), b"zero one two end");
    assert_eq!(played.ended.join().unwrap(), Ok(()));
}

/// What is made of later blocks waits in memory, and is not to fill it.
#[test]
fn nobody_gets_far_ahead_of_what_is_written() {
    let played = Played::new(2);
    (0..9u8).for_each(|number| played.record(RecordKind::Block, &[number]));
    played.say(FIRST, Message::Ready);
    assert_eq!(played.job(), (FIRST, 0));
    played.say(SECOND, Message::Ready);
    for number in 1..4 {
        assert_eq!(played.job(), (SECOND, number));
        played.made(1, number, b"");
    }
    assert!(played.is_silent());
    played.made(0, 0, b"");
    (0..4).for_each(|_| assert_eq!(played.hear(), (Address::Search, Message::Written(1))));
    let mut numbers = [played.job().1, played.job().1];
    numbers.sort_unstable();
    assert_eq!(numbers, [4, 5]);
    played.say(Address::Search, Message::Broken);
    assert!(played.ended.join().unwrap().is_err());
}

#[test]
fn there_is_no_end_before_all_databases_are_known_to_be_right() {
    let played = Played::new(2);
    played.record(RecordKind::End, b"end");
    played.say(FIRST, Message::Ready);
    assert!(played.is_silent());
    let wrong = "BLAST Database error: another (rank 3 on host n1)";
    played.say(SECOND, Message::Failed(exit::DATABASE, wrong.to_owned()));
    let told = Message::Failed(exit::DATABASE, wrong.to_owned());
    assert_eq!(played.hear(), (Address::Search, told));
    assert_eq!([played.hear(), played.hear()], [FIRST, SECOND].map(|it| (it, Message::Leave)));
    assert_eq!(played.ended.join().unwrap(), Err(Error::new(exit::DATABASE, wrong)));
    assert!(Played::is_empty(played.directory.path()));
}

#[test]
fn a_search_that_ends_early_ends_the_other_site_and_leaves_nothing() {
    let crossing = Crossing::new();
    let (near, far) = (crossing.near().unwrap(), crossing.far().unwrap());
    assert!(crossing.near().is_err() && crossing.far().is_err(), "each end is taken once");
    let played = Played::new(1);
    played.record(RecordKind::Block, b"0");
    played.say(FIRST, Message::Ready);
    assert_eq!(played.job(), (FIRST, 0));
    played.made(0, 0, b"zero");
    drop(near);
    let last = far.sent.recv_timeout(LIMIT).unwrap();
    assert_eq!((last.to, &last.message), (Address::Manager, &Message::Broken));
    played.to.send(last).unwrap();
    let error = played.ended.join().unwrap().unwrap_err();
    assert!(error.message.is_empty(), "the search tells what ended it: {error}");
    assert!(Played::is_empty(played.directory.path()));
}

#[test]
fn the_search_hears_what_ended_the_other_site() {
    let crossing = Crossing::new();
    let (mut near, far) = (crossing.near().unwrap(), crossing.far().unwrap());
    let say = |message| {
        let parcel = Parcel::new(Address::Search, Address::Manager, message);
        far.to.send(parcel).unwrap();
    };
    near.record(RecordKind::Header, b"header").unwrap();
    say(Message::Written(6));
    near.check().unwrap();
    say(Message::Failed(exit::OUTPUT, "full".to_owned()));
    assert_eq!(near.check(), Err(Error::new(exit::OUTPUT, "full")));
    drop(near);
    let sent: Vec<Message> = far.sent.try_iter().map(|parcel| parcel.message).collect();
    assert_eq!(sent, [Message::Record(RecordKind::Header, b"header".to_vec())]);
}

#[test]
fn a_search_waits_for_a_site_that_is_far_behind() {
    let crossing = Crossing::new();
    let (mut near, far) = (crossing.near().unwrap(), crossing.far().unwrap());
    let piece = vec![0; 33 << 20];
    let sender = thread::spawn(move || {
        (0..3).for_each(|_| near.record(RecordKind::Block, &piece).unwrap());
    });
    (0..2).for_each(|_| drop(far.sent.recv_timeout(LIMIT).unwrap()));
    assert!(far.sent.recv_timeout(Duration::from_millis(50)).is_err(), "it does not wait");
    let message = Message::Written(33 << 20);
    far.to.send(Parcel::new(Address::Search, Address::Manager, message)).unwrap();
    far.sent.recv_timeout(LIMIT).unwrap();
    sender.join().unwrap();
}

/// Records of a megabyte that come a tenth of a second later, after a word there and back.
#[test]
fn the_search_sees_what_the_way_gives() {
    let crossing = Crossing::new();
    let (mut near, far) = (crossing.near().unwrap(), crossing.far().unwrap());
    let came = |bytes: usize, after: u64| {
        let message = Message::Came(bytes as u64, 6);
        let parcel = Parcel::new(Address::Search, Address::Manager, message);
        let at = parcel.at + Duration::from_millis(after);
        far.to.send(Parcel { at, ..parcel }).unwrap();
    };
    assert!(near.pace().is_none(), "nothing came yet");
    near.record(RecordKind::Header, &[0; 100]).unwrap();
    came(100, 40);
    near.check().unwrap();
    let pace = near.pace().unwrap();
    assert_eq!((pace.rate, pace.workers), (None, 6));
    assert!((40..60).contains(&pace.round_trip.as_millis()), "{pace:?}");
    near.record(RecordKind::Block, &vec![0; 1_000_000]).unwrap();
    came(1_000_000, 140);
    near.check().unwrap();
    let rate = near.pace().unwrap().rate.expect("a rate");
    assert!((7e6..12e6).contains(&rate), "{rate}");
}
