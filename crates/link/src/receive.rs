//! The receiving side of a stream: accepts known peers, and passes their bytes to a sink.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use rustix::net::listen;
use rustls::ServerConfig;

use crate::accept::Acceptor;
use crate::channel::widen_listener;
use crate::error::LinkError;
use crate::key::{Fingerprint, Key};
use crate::session::StreamReceiver;
use crate::sink::{ReceiveObserver, Sink};
use crate::tls;

/// Most connections that the system queues before they are accepted.
const QUEUE: i32 = 1024;

/// Listens for connections, and serves those of known peers.
pub struct Listener {
    socket: TcpListener,
    config: Arc<ServerConfig>,
    patience: Duration,
}

impl Listener {
    /// Listens at an address, `ADDR:PORT`. `peers` are the fingerprints of the known peers. A peer
    /// that sends no message for `patience` is cut off.
    ///
    /// # Errors
    /// The address or the key cannot be used.
    pub fn bind(
        address: &str,
        key: &Key,
        peers: &[Fingerprint],
        patience: Duration,
    ) -> Result<Self, LinkError> {
        let wrong = |error: std::io::Error| {
            LinkError::Address(format!("cannot listen at {address}: {error}"))
        };
        let socket = TcpListener::bind(address).map_err(wrong)?;
        socket.set_nonblocking(true).map_err(wrong)?;
        widen_listener(&socket);
        // A longer queue than usual leaves room for known peers when many strangers connect. If the
        // system refuses it, the usual queue stays.
        let _ = listen(&socket, QUEUE);
        Ok(Listener { socket, config: tls::server_config(key, peers)?, patience })
    }

    /// Returns the address and port of the listening socket.
    ///
    /// # Errors
    /// The system does not return the address.
    pub fn address(&self) -> Result<SocketAddr, LinkError> {
        self.socket.local_addr().map_err(|error| LinkError::broken(&error))
    }

    /// Receives one stream, over as many connections as needed, until the sink has its verdict.
    /// Reports events to `observer`.
    ///
    /// # Errors
    /// The sink has an error, the sender ended the stream, or no sender was connected for
    /// `give_up`.
    pub fn serve(
        &self,
        sink: &mut dyn Sink,
        give_up: Option<Duration>,
        observer: &ReceiveObserver,
    ) -> Result<(), LinkError> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (sender, peers) = sync_channel(1);
            let Listener { socket, config, patience } = self;
            let (over, patience) = (&over, *patience);
            let accept =
                move || Acceptor::new(socket, config, patience, observer, sender).run(over);
            let accepting = thread::Builder::new().name("accepting".to_owned());
            if let Err(error) = accepting.spawn_scoped(scope, accept) {
                return Err(LinkError::NoThread(error.to_string()));
            }
            let result = StreamReceiver::new(sink, peers, (patience, give_up), observer).run();
            over.store(true, Ordering::Relaxed);
            result
        })
    }
}
