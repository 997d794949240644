//! Messages of the protocol between a sender and a receiver. A message consists of a byte for its
//! kind, four bytes for the length of its body (little-endian), and the body.

use crate::error::LinkError;

/// Version of the protocol.
pub const VERSION: u32 = 4;
/// First bytes of the body of the sender's first message.
const MAGIC: [u8; 4] = *b"FBLK";
/// Most bytes of a body. Even a slow link carries them before the peer counts as silent.
pub const MOST_BODY: usize = 1 << 14;
/// Number of bytes before a body.
const HEAD: usize = 5;
/// Most bytes of a text in a message.
const MOST_TEXT: usize = 2000;

/// The part of a stream that the receiver has on its disk when a sender connects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeldPart {
    /// Number of bytes on the disk.
    pub bytes: u64,
    /// Number of bytes up to the end of the last whole record. A new sender process resumes from
    /// there.
    pub whole_bytes: u64,
    /// Number of threads at the receiver's site.
    pub workers: u32,
    /// State of the sink after the last whole record, from which a new sender process resumes.
    pub state: Vec<u8>,
}

/// Identifies the stream that a sender is about to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamId {
    /// Random number of the sender process; the same on all of its connections.
    pub run: [u8; 16],
    /// Fingerprint of the header with which the stream begins.
    pub header: u64,
}

/// A message of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// First message of the sender: the version of its protocol.
    Hello(u32),
    /// Second message of the sender: its stream.
    Stream(StreamId),
    /// Answer of the receiver: the part of the stream that it holds.
    Held(HeldPart),
    /// The sender continues from this offset. It is one of the two offsets that [`HeldPart`] names.
    Start(u64),
    /// The next bytes of the stream, from the sender.
    Data(Vec<u8>),
    /// Number of bytes on the receiver's disk. The receiver repeats it as a sign of life.
    Confirmed(u64),
    /// Number of bytes that have reached the receiver, on the disk or not. The receiver sends this
    /// message as soon as bytes arrive.
    Received(u64),
    /// Sign of life of a sender that has nothing to send.
    Idle,
    /// The stream is complete, and has this number of bytes.
    Finish(u64),
    /// The receiver has processed the complete stream.
    Done,
    /// This side ends the stream, for this reason.
    Refused(String),
    /// The receiver cannot receive the stream now, for this reason; the sender may try again.
    Busy(String),
    /// The sender ends, for this reason, before it knows that the receiver holds a part of its
    /// stream. The receiver may continue with another sender.
    Foreign(String),
}

impl Message {
    /// Encodes the message: its kind, the length of its body, and the body.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, body) = match self {
            Message::Hello(version) => (1, [&MAGIC[..], &version.to_le_bytes()].concat()),
            Message::Held(HeldPart { bytes, whole_bytes, workers, state }) => {
                let [bytes, whole] = [bytes, whole_bytes].map(|number| number.to_le_bytes());
                (2, [&bytes[..], &whole, &workers.to_le_bytes(), state].concat())
            }
            Message::Start(offset) => (3, offset.to_le_bytes().to_vec()),
            Message::Data(bytes) => (4, bytes.clone()),
            Message::Confirmed(offset) => (5, offset.to_le_bytes().to_vec()),
            Message::Idle => (6, Vec::new()),
            Message::Finish(total) => (7, total.to_le_bytes().to_vec()),
            Message::Done => (8, Vec::new()),
            Message::Received(offset) => (10, offset.to_le_bytes().to_vec()),
            Message::Stream(StreamId { run, header }) => {
                (11, [&run[..], &header.to_le_bytes()].concat())
            }
            Message::Refused(text) => (9, cut(text)),
            Message::Busy(text) => (12, cut(text)),
            Message::Foreign(text) => (13, cut(text)),
        };
        let length = (body.len() as u32).to_le_bytes();
        [&[kind], &length[..], &body].concat()
    }

    fn decode(kind: u8, body: &[u8]) -> Option<Message> {
        let number = |bytes: &[u8]| Some(u64::from_le_bytes(bytes.try_into().ok()?));
        Some(match kind {
            1 => {
                let version = body.strip_prefix(&MAGIC)?.try_into().ok()?;
                Message::Hello(u32::from_le_bytes(version))
            }
            2 => {
                let (numbers, state) = body.split_at_checked(20)?;
                let (bytes, whole_bytes) = (number(&numbers[..8])?, number(&numbers[8..16])?);
                let workers = u32::from_le_bytes(numbers[16..].try_into().ok()?);
                Message::Held(HeldPart { bytes, whole_bytes, workers, state: state.to_vec() })
            }
            3 => Message::Start(number(body)?),
            4 if !body.is_empty() => Message::Data(body.to_vec()),
            5 => Message::Confirmed(number(body)?),
            6 if body.is_empty() => Message::Idle,
            7 => Message::Finish(number(body)?),
            8 if body.is_empty() => Message::Done,
            9 => Message::Refused(printable(body)),
            10 => Message::Received(number(body)?),
            11 => {
                let (&run, header) = body.split_first_chunk()?;
                Message::Stream(StreamId { run, header: number(header)? })
            }
            12 => Message::Busy(printable(body)),
            13 => Message::Foreign(printable(body)),
            _ => return None,
        })
    }
}

/// Returns the first [`MOST_TEXT`] bytes of a text, or all if there are fewer.
fn cut(text: &str) -> Vec<u8> {
    text.as_bytes()[..text.len().min(MOST_TEXT)].to_vec()
}

/// Decodes a text of the peer. Replaces control characters, so that the text is safe on a terminal.
fn printable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(MOST_TEXT)]);
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Splits the bytes of a peer into messages. It holds at most one incomplete message and the bytes
/// that were added last.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Number of bytes at the start of `bytes` that are decoded already.
    consumed: usize,
}

impl Inbox {
    /// Adds bytes that arrived from the peer, and drops the bytes of returned messages.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.consumed);
        self.consumed = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Decodes and returns the next message, or `None` if it is not complete.
    ///
    /// # Errors
    /// The bytes are no valid message, or the message is too long.
    pub fn next_message(&mut self) -> Result<Option<Message>, LinkError> {
        let rest = &self.bytes[self.consumed..];
        let Some((head, rest)) = rest.split_first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        if length > MOST_BODY {
            return Err(LinkError::Protocol("sends a message that is too long"));
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = Message::decode(head[0], body);
        self.consumed += HEAD + length;
        message.map(Some).ok_or(LinkError::Protocol("sends a message that is none"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all() -> Vec<Message> {
        vec![
            Message::Hello(VERSION),
            Message::Stream(StreamId { run: *b"one of its runs.", header: u64::MAX - 7 }),
            Message::Held(HeldPart {
                bytes: 700,
                whole_bytes: 500,
                workers: 3,
                state: b"state".to_vec(),
            }),
            Message::Start(500),
            Message::Data(vec![7; MOST_BODY]),
            Message::Confirmed(u64::MAX),
            Message::Received(12),
            Message::Idle,
            Message::Finish(12),
            Message::Done,
            Message::Refused("for this and that".to_owned()),
            Message::Busy("with another one".to_owned()),
        ]
    }

    #[test]
    fn messages_come_back_however_they_are_cut() {
        let bytes: Vec<u8> = all().iter().flat_map(Message::encode).collect();
        for step in [1, 7, 5000, bytes.len()] {
            let (mut inbox, mut back) = (Inbox::default(), Vec::new());
            for piece in bytes.chunks(step) {
                inbox.add(piece);
                while let Some(message) = inbox.next_message().unwrap() {
                    back.push(message);
                }
            }
            assert_eq!(back, all());
        }
    }

    #[test]
    fn too_much_is_refused_before_it_is_there() {
        let mut inbox = Inbox::default();
        inbox.add(&[4, 1, 64, 0, 0]);
        assert!(inbox.next_message().is_err());
        let mut inbox = Inbox::default();
        inbox.add(&[4, 0, 64, 0, 0]);
        assert_eq!(inbox.next_message(), Ok(None));
        let text = "é".repeat(MOST_TEXT);
        assert!(Message::Refused(text).encode().len() <= HEAD + MOST_TEXT);
    }

    #[test]
    fn a_text_does_not_move_the_cursor() {
        let mut inbox = Inbox::default();
        inbox.add(&Message::Refused("a\x1b[2Jb\nc".to_owned()).encode());
        assert_eq!(inbox.next_message(), Ok(Some(Message::Refused("a [2Jb c".to_owned()))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut inbox = Inbox::default();
            inbox.add(&bytes);
            while let Ok(Some(message)) = inbox.next_message() {
                let again = message.encode();
                prop_assert!(again.len() <= HEAD + MOST_BODY);
            }
        }
    }
}
