//! A faulty network: connections pass through a thread of the test, which cuts or damages them.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A fault of a connection.
#[derive(Clone, Copy, Debug)]
pub enum ConnectionFault {
    /// The connection is cut after this number of bytes from the client.
    Cut(usize),
    /// A bit is flipped in the byte at this offset from the client.
    Flip(usize),
    /// The client gets a forged TLS alert with this code, and the connection is not passed on.
    Alert(u8),
}

/// A proxy: it accepts connections at its own address, and passes them on to another one.
pub struct Proxy {
    pub address: String,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The address to which connections are passed on; empty at first.
    target: Mutex<String>,
    /// Faults of the next connections, in their order. If `forever`, the last one applies to all
    /// later connections.
    faults: Mutex<VecDeque<ConnectionFault>>,
    forever: bool,
    connections: AtomicUsize,
    /// Bytes passed on from the clients of all connections.
    said: Mutex<Vec<u8>>,
}

impl Proxy {
    pub fn new(faults: impl IntoIterator<Item = ConnectionFault>, forever: bool) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let faults = Mutex::new(faults.into_iter().collect());
        let shared = Arc::new(Shared { faults, forever, ..Shared::default() });
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let own = Arc::clone(&own);
                thread::spawn(move || own.pass(client));
            }
        });
        Proxy { address, shared }
    }

    /// Passes further connections on to this address.
    pub fn lead_to(&self, address: &str) {
        *self.shared.target.lock().unwrap() = address.to_owned();
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Returns whether there are faults left for further connections.
    pub fn has_fates(&self) -> bool {
        !self.shared.faults.lock().unwrap().is_empty()
    }

    pub fn stderr_text(&self) -> Vec<u8> {
        self.shared.said.lock().unwrap().clone()
    }
}

impl Shared {
    fn pass(&self, mut client: TcpStream) -> Option<()> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let mut faults = self.faults.lock().unwrap();
        let fault = match self.forever && faults.len() == 1 {
            true => faults.front().copied(),
            false => faults.pop_front(),
        };
        drop(faults);
        if let Some(ConnectionFault::Alert(alert)) = fault {
            let _ = client.read(&mut [0; 4096]);
            return client.write_all(&[21, 3, 3, 0, 2, 2, alert]).ok();
        }
        let target = self.target.lock().unwrap().clone();
        let mut server = TcpStream::connect(target).ok()?;
        let (mut answers, mut to) = (server.try_clone().ok()?, client.try_clone().ok()?);
        thread::spawn(move || {
            let _ = std::io::copy(&mut answers, &mut to);
            let _ = to.shutdown(Shutdown::Write);
        });
        let (mut passed, mut bytes) = (0, [0; 1 << 14]);
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            let mut piece = bytes[..count].to_vec();
            let within = |at: usize| (passed..passed + count).contains(&at).then(|| at - passed);
            let mut is_cut = false;
            match fault {
                Some(ConnectionFault::Cut(at)) if passed + count > at => {
                    piece.truncate(within(at).unwrap_or(0));
                    is_cut = true;
                }
                Some(ConnectionFault::Flip(at)) => {
                    within(at).into_iter().for_each(|at| piece[at] ^= 1);
                }
                _ => {}
            }
            passed += count;
            self.said.lock().unwrap().extend_from_slice(&piece);
            server.write_all(&piece).ok()?;
            if is_cut {
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
                return None;
            }
        }
        server.shutdown(Shutdown::Write).ok()
    }
}
