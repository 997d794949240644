//! One connection: messages in and out, without blocking, and the clock of a peer that is silent.

mod leave;

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use rustls::{AlertDescription, Connection, Error as TlsError};

pub use self::leave::Departures;
use crate::error::LinkError;
use crate::message::{Inbox, Message};
use crate::tls::UnknownKey;

/// Bytes that wait to be sent at most, but for one message.
const OUTBOX: usize = 1 << 18;
/// Plain bytes that are taken at a time.
const TAKEN: usize = 1 << 16;
/// The other side hears something this often at least.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);
/// Bytes that a peer may send before it has proved its key; a handshake takes about 2,000.
const MOST_UNPROVED: usize = 1 << 14;
/// A window for 1 Gbit/s at 100 ms, and as much again.
const WINDOW: usize = 25 << 20;

/// A connection.
pub struct Channel {
    tcp: TcpStream,
    tls: Connection,
    inbox: Inbox,
    outbox: Vec<u8>,
    /// When the last whole message came.
    heard: Instant,
    /// When the last message was sent.
    said: Instant,
    /// A peer that says nothing for so long is given up.
    patience: Duration,
    /// The peer sends no more.
    ended: bool,
    /// It has said so.
    closed: bool,
    /// Bytes that came before the peer had proved its key.
    unproved: usize,
    /// How long the first word took there and its answer back; for who asked.
    pub round_trip: Duration,
}

impl Channel {
    /// On a new connection.
    ///
    /// # Errors
    /// The system does not let it be used.
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
            heard: now,
            said: now,
            patience,
            ended: false,
            closed: false,
            unproved: 0,
            round_trip,
        })
    }

    /// Proves to each other who is there.
    ///
    /// # Errors
    /// A peer that is somebody else, says nothing, or breaks off.
    pub fn shake_hands(&mut self) -> Result<(), LinkError> {
        let end = Instant::now() + self.patience;
        while self.tls.is_handshaking() {
            if Instant::now() > end || self.ended {
                return Err(LinkError::Broken("the peer did not say who it is".to_owned()));
            }
            self.exchange(Duration::from_millis(100))?;
        }
        self.welcome();
        Ok(())
    }

    /// Begins with a peer that has proved its key: as much may be on its way as a long fast link
    /// takes.
    pub fn welcome(&mut self) {
        widen(&self.tcp);
        self.heard = Instant::now();
    }

    /// Whether the peer has proved its key, which is one of those that are known.
    pub fn is_proved(&self) -> bool {
        !self.tls.is_handshaking()
    }

    /// Whether the first message of the peer's handshake is complete.
    pub fn has_hello(&self) -> bool {
        self.tls.protocol_version().is_some()
    }

    /// Whether the peer sends no more.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// What to wait for: bytes of the peer, and room to send those that wait.
    pub fn poll_fd(&self) -> PollFd<'_> {
        let mut wanted = PollFlags::empty();
        if !self.ended && self.tls.wants_read() {
            wanted |= PollFlags::IN;
        }
        // What waits behind the handshake cannot be sent before that is through.
        if self.tls.wants_write() || !self.outbox.is_empty() && self.is_proved() {
            wanted |= PollFlags::OUT;
        }
        PollFd::new(&self.tcp, wanted)
    }

    /// Whether there is room to send more.
    pub fn has_room(&self) -> bool {
        self.outbox.len() < OUTBOX
    }

    /// Sends a message, as soon as may be.
    pub fn send(&mut self, message: &Message) {
        self.said = Instant::now();
        self.outbox.extend(message.encode());
    }

    /// Sends any bytes.
    #[cfg(test)]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.outbox.extend_from_slice(bytes);
    }

    /// Whether it is time to say something, whatever it is.
    pub fn is_quiet(&self) -> bool {
        self.said.elapsed() > SIGN_OF_LIFE && self.outbox.is_empty()
    }

    /// Sends what waits, takes what came, or waits for either up to so long.
    ///
    /// # Errors
    /// A broken connection.
    pub fn exchange(&mut self, wait: Duration) -> Result<(), LinkError> {
        self.await_socket(wait)?;
        self.write()?;
        self.read()?;
        match self.heard.elapsed() > self.patience {
            true => Err(LinkError::Broken("the peer is silent".to_owned())),
            false => Ok(()),
        }
    }

    /// The next message that came.
    ///
    /// # Errors
    /// A peer that does not keep to the protocol, or has gone.
    pub fn receive(&mut self) -> Result<Option<Message>, LinkError> {
        loop {
            if let Some(message) = self.inbox.next_message()? {
                self.heard = Instant::now();
                return Ok(Some(message));
            }
            let mut plain = [0; TAKEN];
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
                // The text of rustls has the address of a page that does not help users.
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
                // Takes as much as its own room allows.
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
                // Perhaps the peer said why.
                Err(error) => {
                    self.read()?;
                    return Err(LinkError::broken(&error));
                }
            }
        }
    }

    fn read(&mut self) -> Result<(), LinkError> {
        while self.tls.wants_read() && !self.ended {
            let is_proved = self.is_proved();
            match self.tls.read_tls(&mut self.tcp) {
                Ok(0) => self.ended = true,
                Ok(count) if !is_proved => self.unproved += count,
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(LinkError::broken(&error)),
            }
            if let Err(error) = self.tls.process_new_packets() {
                // The peer hears why.
                let _ = self.tls.write_tls(&mut self.tcp);
                return Err(classify(&error, is_proved));
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

/// Returns what a failure of TLS means. Anybody on the way can forge what comes before the peer has
/// proved its key, alerts and certificates alike, so that another connection may do better. Only
/// what comes after that is the peer's own word.
fn classify(error: &TlsError, is_proved: bool) -> LinkError {
    if let Some(UnknownKey(key)) = UnknownKey::of(error) {
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
                        its -peer is to tell the fingerprint of this -key";
            match is_proved {
                true => LinkError::Stranger(what.to_owned()),
                false => LinkError::Broken(format!("{error}; the peer had not proved its key")),
            }
        }
        TlsError::NoCertificatesPresented => {
            LinkError::Broken("the peer presented no key".to_owned())
        }
        TlsError::AlertReceived(_) => LinkError::Broken(error.to_string()),
        // Changed on its way, or no TLS at all.
        other => LinkError::Broken(format!("what came is not what the peer sent: {other}")),
    }
}

/// Has the system keep as much on its way as a long fast link takes. Where it does not allow that, it chooses by itself, which is more
/// than what it allows to be wished.
fn widen(tcp: &TcpStream) {
    match is_allowed("wmem_max") {
        true => drop(sockopt::set_socket_send_buffer_size(tcp, WINDOW)),
        false => drop(sockopt::set_socket_send_buffer_size_force(tcp, WINDOW)),
    }
}

/// The same of what is received, for all connections to a socket that listens.
pub fn widen_listener(listener: &TcpListener) {
    match is_allowed("rmem_max") {
        true => drop(sockopt::set_socket_recv_buffer_size(listener, WINDOW)),
        false => drop(sockopt::set_socket_recv_buffer_size_force(listener, WINDOW)),
    }
}

/// Whether the system allows a window to be wished for without privileges.
fn is_allowed(limit: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/sys/net/core/{limit}")).unwrap_or_default();
    text.trim().parse::<usize>().is_ok_and(|limit| limit >= WINDOW)
}
