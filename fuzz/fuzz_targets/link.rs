//! Decodes arbitrary bytes as messages of a link, in pieces of any size. Encodes the messages and
//! decodes them again.
#![no_main]

use fleetblast_link::message::{Inbox, MOST_BODY, Message};
use libfuzzer_sys::fuzz_target;

fn messages(pieces: impl Iterator<Item = Vec<u8>>) -> (Vec<Message>, bool) {
    let (mut inbox, mut all) = (Inbox::default(), Vec::new());
    for piece in pieces {
        inbox.add(&piece);
        loop {
            match inbox.next_message() {
                Ok(Some(message)) => all.push(message),
                Ok(None) => break,
                Err(_) => return (all, false),
            }
        }
    }
    (all, true)
}

fuzz_target!(|input: &[u8]| {
    let Some((&step, bytes)) = input.split_first() else { return };
    let whole = messages(std::iter::once(bytes.to_vec()));
    let step = usize::from(step).max(1);
    assert_eq!(messages(bytes.chunks(step).map(<[u8]>::to_vec)), whole);
    for message in &whole.0 {
        let again = message.encode();
        assert!(again.len() <= 5 + MOST_BODY);
        let mut inbox = Inbox::default();
        inbox.add(&again);
        let back = inbox.next_message().expect("it was written here");
        match (message, back) {
            // A text that was not UTF-8 becomes longer when it is decoded, and is then cut.
            (Message::Refused(_), Some(Message::Refused(_)))
            | (Message::Busy(_), Some(Message::Busy(_))) => {}
            (message, back) => assert_eq!(back.as_ref(), Some(message)),
        }
    }
});
