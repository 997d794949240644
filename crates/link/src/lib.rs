//! Sends a stream of bytes from one site to another over TLS 1.3. If a connection breaks, the
//! stream is resumed on a new one.
//!
//! The two sides identify each other by the [fingerprints](key::Fingerprint) of their keys. A peer
//! with an unknown key is refused before a byte of the stream is read or written. The receiver's
//! [sink](sink::Sink) stores the bytes, and the receiver confirms the bytes on its disk. The
//! [sender](send::Sender) keeps unconfirmed bytes in bounded memory, and sends them again on the
//! next connection. This crate does not interpret the bytes. The sink verifies them, and provides
//! the state from which a new sender process resumes.
//!
//! A connection ends within bounded time and memory if its peer is silent, or sends an incomplete
//! message or too many bytes.

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
