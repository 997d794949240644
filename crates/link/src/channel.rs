//! One connection: messages in and out, without blocking, and the clock of a peer that is silent.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use rustls::{AlertDescription, Connection, Error as TlsError};

use crate::error::LinkError;
use crate::message::{Inbox, Message};

/// Bytes that wait to be sent at most, but for one message.
const OUTBOX: usize = 1 << 18;
/// Plain bytes that are taken at a time.
const TAKEN: usize = 1 << 16;
/// The other side hears something this often at least.
const SIGN_OF_LIFE: Duration = Duration::from_millis(500);
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
        widen(&tcp);
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
        self.heard = Instant::now();
        Ok(())
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
                Ok(0) => return Err(LinkError::Broken("the peer has gone".to_owned())),
                Ok(count) => self.inbox.add(&plain[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock && !self.ended => {
                    return Ok(None);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(LinkError::Broken("the connection was cut".to_owned()));
                }
                Err(error) => return Err(LinkError::broken(&error)),
            }
        }
    }

    /// Sends what waits, and takes leave, within a short time. Best effort: who does not hear it learns that the connection is broken.
    pub fn leave(mut self) {
        let end = Instant::now() + Duration::from_secs(2);
        while !self.outbox.is_empty() && Instant::now() < end {
            if self.exchange(Duration::from_millis(50)).is_err() {
                return;
            }
        }
        self.tls.send_close_notify();
        while self.tls.wants_write() && Instant::now() < end {
            if self.exchange(Duration::from_millis(50)).is_err() {
                return;
            }
        }
        // What is still on its way to a closed socket would have the system throw away what was sent.
        let _ = self.tcp.shutdown(Shutdown::Write);
        while !self.ended && Instant::now() < end {
            let heard = self.exchange(Duration::from_millis(50)).and_then(|()| self.receive());
            if heard.is_err() {
                return;
            }
        }
    }

    fn await_socket(&self, wait: Duration) -> Result<(), LinkError> {
        let mut wanted = PollFlags::empty();
        if !self.ended && self.tls.wants_read() {
            wanted |= PollFlags::IN;
        }
        if self.tls.wants_write() || !self.outbox.is_empty() {
            wanted |= PollFlags::OUT;
        }
        let wait = Timespec { tv_sec: wait.as_secs() as i64, tv_nsec: wait.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.tcp, wanted)], Some(&wait)) {
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
            match self.tls.read_tls(&mut self.tcp) {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) if is_later(&error) => return Ok(()),
                Err(error) => return Err(LinkError::broken(&error)),
            }
            if let Err(error) = self.tls.process_new_packets() {
                // The peer hears why.
                let _ = self.tls.write_tls(&mut self.tcp);
                return Err(judge(error));
            }
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// What a failure of TLS means.
fn judge(error: TlsError) -> LinkError {
    match error {
        TlsError::InvalidCertificate(_) => {
            LinkError::Stranger("the peer has another key than -peer tells".to_owned())
        }
        TlsError::AlertReceived(
            AlertDescription::AccessDenied
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA,
        ) => LinkError::Stranger(
            "the peer does not know this key: its -peer is to tell the fingerprint of this -key"
                .to_owned(),
        ),
        TlsError::NoCertificatesPresented => {
            LinkError::Stranger("the peer shows no key".to_owned())
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
