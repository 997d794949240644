//! The side that receives: it listens, lets in whom it knows, and has a sink keep what comes.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use rustix::net::listen;
use rustls::ServerConfig;

use crate::channel::widen_listener;
use crate::error::LinkError;
use crate::greet::Greeter;
use crate::host::Host;
use crate::key::{Fingerprint, Key};
use crate::sink::{Sink, Watch};
use crate::tls;

/// Connections that the system keeps until they are accepted.
const QUEUE: i32 = 1024;

/// Listens for whom it knows.
pub struct Listener {
    socket: TcpListener,
    config: Arc<ServerConfig>,
    patience: Duration,
}

impl Listener {
    /// Listens at an address, `ADDR:PORT`.
    ///
    /// # Errors
    /// An address or a key that cannot be used.
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
        // A longer queue than usual, so that crowds leave room in it. Best effort.
        let _ = listen(&socket, QUEUE);
        Ok(Listener { socket, config: tls::server(key, peers)?, patience })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> Result<SocketAddr, LinkError> {
        self.socket.local_addr().map_err(|error| LinkError::broken(&error))
    }

    /// Receives one stream, over as many connections as it takes, until the sink has its verdict.
    ///
    /// # Errors
    /// The sink's, the sender's word that it will not be whole, or nobody there for as long as
    /// `give_up`.
    pub fn serve(
        &self,
        sink: &mut dyn Sink,
        give_up: Option<Duration>,
        watch: &Watch,
    ) -> Result<(), LinkError> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let (sender, guests) = sync_channel(1);
            let Listener { socket, config, patience } = self;
            let (over, patience) = (&over, *patience);
            let greet = move || Greeter::new(socket, config, patience, watch, sender).run(over);
            let greeting = thread::Builder::new().name("greeting".to_owned());
            if let Err(error) = greeting.spawn_scoped(scope, greet) {
                return Err(LinkError::NoThread(error.to_string()));
            }
            let result = Host::new(sink, guests, (patience, give_up), watch).run();
            over.store(true, Ordering::Relaxed);
            result
        })
    }
}
