//! A TLS connection that sends and receives messages without blocking, and detects a silent peer.

mod close;

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use rustls::{AlertDescription, Connection, Error as TlsError};

pub use self::close::ClosingChannels;
use crate::error::LinkError;
use crate::message::{Inbox, Message};
use crate::tls::UnknownKey;

/// Bytes of messages that may wait to be sent before [`Channel::has_room`] returns false.
const OUTBOX: usize = 1 << 18;
/// Decrypted bytes that are read at a time.
const READ_BYTES: usize = 1 << 16;
/// Longest time in which a side sends no message. Its messages show the peer that it is alive.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);
/// Bytes that a peer may send before it has proved its key; a handshake takes about 2,000.
const MOST_UNPROVED: usize = 1 << 14;
/// Size of the socket's buffers in bytes: twice the bytes in flight on a link of 1 Gbit/s and 100
/// ms.
const WINDOW: usize = 25 << 20;

/// A TLS connection to a peer.
pub struct Channel {
    tcp: TcpStream,
    tls: Connection,
    inbox: Inbox,
    outbox: Vec<u8>,
    /// Time when the last complete message arrived.
    last_received: Instant,
    /// Time when the last message was queued for sending.
    last_sent: Instant,
    /// Longest time without a message from the peer. After it the connection is broken.
    patience: Duration,
    /// Whether the peer's end of the TCP connection is closed.
    ended: bool,
    /// Whether the peer closed its end of the TLS connection properly.
    closed: bool,
    /// Number of bytes that arrived before the peer had proved its key.
    unproved: usize,
    /// Time between the first message of this side and its answer. It is zero at the side that
    /// accepted the connection.
    pub round_trip: Duration,
}

impl Channel {
    /// Creates a channel on a new TCP connection. The TLS handshake has not begun.
    ///
    /// # Errors
    /// An option of the socket cannot be set.
    pub fn new(tcp: TcpStream, tls: Connection, patience: Duration) -> Result<Self, LinkError> {
        let ready = || {
            tcp.set_nonblocking(true)?;
            tcp.set_nodelay(true)
        };
        ready().map_err(|error| LinkError::broken(&error))?;
        let now = Instant::now();
        let (inbox, outbox) = (Inbox::default(), Vec::new());
        let round_trip = Duration::ZERO;
        Ok(Channel {
            tcp,
            tls,
            inbox,
            outbox,
            last_received: now,
            last_sent: now,
            patience,
            ended: false,
            closed: false,
            unproved: 0,
            round_trip,
        })
    }

    /// Performs the TLS handshake, in which both sides prove their keys. Waits for the peer.
    ///
    /// # Errors
    /// The peer has an unknown key or is silent, or the connection is broken.
    pub fn perform_handshake(&mut self) -> Result<(), LinkError> {
        let end = Instant::now() + self.patience;
        while self.tls.is_handshaking() {
            if Instant::now() > end || self.ended {
                return Err(LinkError::Broken("the peer did not say who it is".to_owned()));
            }
            self.exchange(Duration::from_millis(100))?;
        }
        self.start_session();
        Ok(())
    }

    /// Enlarges the send buffer of the socket, and restarts the time without a message. Called when
    /// the peer has proved its key.
    pub fn start_session(&mut self) {
        widen(&self.tcp);
        self.last_received = Instant::now();
    }

    /// Whether the peer has proved a known key.
    pub fn has_proved_key(&self) -> bool {
        !self.tls.is_handshaking()
    }

    /// Whether the first message of the peer's TLS handshake is complete.
    pub fn has_hello(&self) -> bool {
        self.tls.protocol_version().is_some()
    }

    /// Whether the peer's end of the connection is closed.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Returns the events to poll for: bytes from the peer, and room for bytes that wait to be
    /// sent.
    pub fn poll_fd(&self) -> PollFd<'_> {
        let mut wanted = PollFlags::empty();
        if !self.ended && self.tls.wants_read() {
            wanted |= PollFlags::IN;
        }
        // Messages cannot be sent before the handshake is complete.
        if self.tls.wants_write() || !self.outbox.is_empty() && self.has_proved_key() {
            wanted |= PollFlags::OUT;
        }
        PollFd::new(&self.tcp, wanted)
    }

    /// Whether few enough bytes wait to be sent, so that the caller may queue more messages.
    pub fn has_room(&self) -> bool {
        self.outbox.len() < OUTBOX
    }

    /// Queues a message to be sent.
    pub fn send(&mut self, message: &Message) {
        self.last_sent = Instant::now();
        self.outbox.extend(message.encode());
    }

    /// Queues bytes that need not be a valid message.
    #[cfg(test)]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    /// Whether the caller must send a sign of life, because it has sent no message recently.
    pub fn is_sign_of_life_due(&self) -> bool {
        self.last_sent.elapsed() > SIGN_OF_LIFE && self.outbox.is_empty()
    }

    /// Waits for the socket at most `wait`, then sends and receives as much as possible.
    ///
    /// # Errors
    /// The connection is broken, or the peer has been silent for too long.
    pub fn exchange(&mut self, wait: Duration) -> Result<(), LinkError> {
        self.await_socket(wait)?;
        self.write()?;
        self.read()?;
        match self.last_received.elapsed() > self.patience {
            true => Err(LinkError::Broken("the peer is silent".to_owned())),
            false => Ok(()),
        }
    }

    /// Returns the next message that has arrived, or `None` if there is no complete one.
    ///
    /// # Errors
    /// The peer violates the protocol, or its connection has ended.
    pub fn receive(&mut self) -> Result<Option<Message>, LinkError> {
        loop {
            if let Some(message) = self.inbox.next_message()? {
                self.last_received = Instant::now();
                return Ok(Some(message));
            }
            let mut plain = [0; READ_BYTES];
            match self.tls.reader().read(&mut plain) {
                Ok(0) => {
                    self.closed = true;
                    return Err(LinkError::Broken("the peer has gone".to_owned()));
                }
                Ok(count) => self.inbox.add(&plain[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock && !self.ended => {
                    return Ok(None);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(LinkError::Broken("the connection was cut".to_owned()));
                }
                // The text of rustls contains the address of a page that does not help users.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Err(LinkError::Broken("the peer closed the connection".to_owned()));
                }
                Err(error) => return Err(LinkError::broken(&error)),
            }
        }
    }

    fn await_socket(&self, wait: Duration) -> Result<(), LinkError> {
        let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut [self.poll_fd()], Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(LinkError::broken(&error.into())),
        }
    }

    fn write(&mut self) -> Result<(), LinkError> {
        loop {
            if !self.outbox.is_empty() && !self.tls.is_handshaking() {
                // TLS accepts as many bytes as its own buffer has room for.
                let count = self.tls.writer().write(&self.outbox);
                let count = count.map_err(|error| LinkError::broken(&error))?;
                self.outbox.drain(..count);
            }
            if !self.tls.wants_write() {
                return Ok(());
            }
            match self.tls.write_tls(&mut self.tcp) {
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                // The peer may have sent a reason before it closed the connection, so this reads
                // first.
                Err(error) => {
                    self.read()?;
                    return Err(LinkError::broken(&error));
                }
            }
        }
    }

    fn read(&mut self) -> Result<(), LinkError> {
        while self.tls.wants_read() && !self.ended {
            let has_proved_key = self.has_proved_key();
            match self.tls.read_tls(&mut self.tcp) {
                Ok(0) => self.ended = true,
                Ok(count) if !has_proved_key => self.unproved += count,
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(LinkError::broken(&error)),
            }
            if let Err(error) = self.tls.process_new_packets() {
                // This sends the peer the TLS alert that names the error.
                let _ = self.tls.write_tls(&mut self.tcp);
                return Err(classify(&error, has_proved_key));
            }
            if self.unproved > MOST_UNPROVED {
                let what = "the peer sends too much before it has proved its key";
                return Err(LinkError::Broken(what.to_owned()));
            }
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Converts an error of TLS to an error of the link. Before the peer has proved its key, a third
/// party can forge alerts and certificates. So errors before that are transient: another connection
/// may succeed. Errors after that are sure to come from the peer.
fn classify(error: &TlsError, has_proved_key: bool) -> LinkError {
    if let Some(UnknownKey(key)) = UnknownKey::from_error(error) {
        return LinkError::Broken(format!(
            "the peer presented another key than -peer names: {key}"
        ));
    }
    match error {
        TlsError::AlertReceived(
            AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA,
        ) => {
            let what = "the peer does not know this key: \
                       its -peer is to name the fingerprint of this -key";
            match has_proved_key {
                true => LinkError::KeyRejected(what.to_owned()),
                false => LinkError::Broken(format!("{error}; the peer had not proved its key")),
            }
        }
        TlsError::NoCertificatesPresented => {
            LinkError::Broken("the peer presented no key".to_owned())
        }
        TlsError::AlertReceived(_) => LinkError::Broken(error.to_string()),
        // The bytes were changed on the way, or are no TLS at all.
        other => LinkError::Broken(format!("what came is not what the peer sent: {other}")),
    }
}

/// Enlarges the send buffer of a socket to [`WINDOW`]. If the limit of the system is lower, only a
/// privileged process can do this. In other processes the buffer keeps its automatic size. This may
/// exceed the limit, which applies only to sizes that a program sets.
fn widen(tcp: &TcpStream) {
    match is_allowed("wmem_max") {
        true => drop(sockopt::set_socket_send_buffer_size(tcp, WINDOW)),
        false => drop(sockopt::set_socket_send_buffer_size_force(tcp, WINDOW)),
    }
}

/// Enlarges the receive buffers of all connections that a listening socket accepts, with the same
/// size and restriction as the send buffers.
pub fn widen_listener(listener: &TcpListener) {
    match is_allowed("rmem_max") {
        true => drop(sockopt::set_socket_recv_buffer_size(listener, WINDOW)),
        false => drop(sockopt::set_socket_recv_buffer_size_force(listener, WINDOW)),
    }
}

/// Whether the system allows an unprivileged process to set buffers of [`WINDOW`] bytes. `limit` is
/// the name of the system's setting.
fn is_allowed(limit: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/sys/net/core/{limit}")).unwrap_or_default();
    text.trim().parse::<usize>().is_ok_and(|limit| limit >= WINDOW)
}
