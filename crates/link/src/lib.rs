//! A stream of bytes from one site to another over TLS 1.3, that goes on where it was broken.
//!
//! Both sides know each other by the [fingerprints](key::Fingerprint) of their keys: who is unknown is refused before a byte of the
//! stream is read or written. The receiver [confirms](sink::Sink) what is on its disk; the [sender](send::Sender) keeps what is
//! not, in bounded memory, and sends it again on the next connection if this one breaks. What the bytes are nobody here knows: the
//! receiver's sink judges them, and tells what the sender needs to go on from it after an end of the process.
//!
//! A connection that is silent, sends half a message or too much ends, within bounded time and memory.

mod channel;
pub mod dial;
pub mod error;
mod greet;
mod host;
pub mod key;
pub mod message;
pub mod pace;
mod progress;
pub mod receive;
pub mod send;
pub mod sink;
#[cfg(test)]
mod tests;
mod tls;

pub use self::error::LinkError;
pub use self::key::{Fingerprint, Key};
