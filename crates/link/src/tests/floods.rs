//! Tests with strangers from many networks that make more connections in a round trip than there is
//! room for.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use super::strangers::client_hello;
use super::*;

/// Connects from an address in the network with this number.
fn connect_from(number: u32, address: SocketAddr) -> TcpStream {
    let [_, _, high, low] = number.to_be_bytes();
    let from = Ipv4Addr::new(127, 1 + high, low, 1);
    let fd = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&fd, &SocketAddrV4::new(from, 0)).unwrap();
    connect(&fd, &address).unwrap();
    let tcp = TcpStream::from(fd);
    tcp.set_nonblocking(true).unwrap();
    tcp
}

/// Connections of strangers to a receiver.
struct Flood<'a> {
    address: SocketAddr,
    /// Bytes that each stranger sends.
    first: &'a [u8],
    made: u32,
    open: Vec<TcpStream>,
}

impl Flood<'_> {
    /// Opens `count` more connections, 50 at a time. After each 50, waits until the receiver has
    /// closed all but 256 of those that are open.
    fn grow(&mut self, count: usize) {
        for number in 1..=count {
            let mut tcp = connect_from(self.made, self.address);
            let _ = tcp.write_all(self.first);
            self.open.push(tcp);
            self.made += 1;
            if number % 50 == 0 || number == count {
                self.await_cuts();
            }
        }
    }

    fn await_cuts(&mut self) {
        let begin = Instant::now();
        while self.open.len() > 256 {
            assert!(begin.elapsed() < Duration::from_secs(60), "they are not cut off");
            self.open.retain_mut(|tcp| match tcp.read(&mut [0; 4096]) {
                Ok(count) => count > 0,
                Err(error) => error.kind() == ErrorKind::WouldBlock,
            });
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Connects as a known peer. During its handshake, strangers make `count` new connections.
fn connect_slowly(keys: &Keys, flood: &mut Flood, count: usize) -> Result<Channel, LinkError> {
    let config = tls::client_config(&keys.key("search_site"), &keys.print("io_site")).unwrap();
    let mut connection = tls::client_connection(&config).unwrap();
    let mut tcp = TcpStream::connect(flood.address).unwrap();
    connection.write_tls(&mut tcp).unwrap();
    flood.grow(count);
    let mut channel = Channel::new(tcp, connection, PATIENCE)?;
    channel.perform_handshake()?;
    channel.send(&Message::Hello(VERSION));
    channel.send(&Message::Stream(STREAM));
    loop {
        channel.exchange(Duration::from_millis(20))?;
        if let Some(Message::Held(_)) = channel.receive()? {
            return Ok(channel);
        }
    }
}

#[test]
fn a_known_peer_gets_in_between_strangers_of_many_networks() {
    let keys = Keys::new();
    let hello = client_hello(&keys);
    // Strangers that send nothing, or half a message, keep no known peer out. Against strangers
    // with complete messages, each try succeeds with a probability of one half.
    for (first, count, tries) in [(&b""[..], 600, 1), (&hello[..40], 600, 1), (&hello, 150, 60)] {
        let (sink, result, _) = receive(&keys, Memory::default(), |address| {
            let mut flood = Flood { address, first, made: 0, open: Vec::new() };
            flood.grow(300);
            let mut connect = || connect_slowly(&keys, &mut flood, count).ok();
            let mut channel = (0..tries).find_map(|_| connect()).expect("it is kept out");
            channel.send(&Message::Start(0));
            channel.send(&Message::Data(b"through".to_vec()));
            channel.send(&Message::Finish(7));
            await_message(&mut channel, |message| *message == Message::Done);
            channel.close();
        });
        assert_eq!(result, Ok(()));
        assert_eq!(sink.bytes, b"through");
    }
}
