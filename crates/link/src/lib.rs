//! Sends a stream of bytes from one site to another over TLS 1.3, and resumes it where a connection
//! broke.
//!
//! Both sides identify each other by the [fingerprints](key::Fingerprint) of their keys. A peer
//! with an unknown key is refused before a byte of the stream is read or written. The receiver
//! [confirms](sink::Sink) the bytes on its disk. The [sender](send::Sender) keeps unconfirmed bytes
//! in bounded memory, and sends them again on the next connection. The bytes have no meaning here:
//! the receiver's sink verifies them, and provides the state from which a new sender process
//! resumes.
//!
//! A connection ends within bounded time and memory if it is silent, or sends half a message or too
//! much.

mod accept;
mod channel;
pub mod dial;
pub mod error;

pub mod key;
pub mod message;
mod progress;
pub mod receive;
pub mod send;
mod session;
pub mod sink;
pub mod speed;
#[cfg(test)]
mod tests;
mod tls;

pub use self::error::LinkError;
pub use self::key::{Fingerprint, Key};
