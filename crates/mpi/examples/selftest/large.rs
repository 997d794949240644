//! Checks transfers of more bytes than an `int` can count: a message, a broadcast, a gather, a
//! file.

use std::fs;
use std::path::Path;
use std::time::Duration;

use fleetblast_mpi::{Access, Messenger, ParallelFile, World};

const LENGTH: usize = (2 << 30) + (200 << 20) + 7;
const MEBIBYTE: usize = 1 << 20;
const PATIENCE: Duration = Duration::from_secs(100);

pub fn check(world: &World, directory: &Path) {
    let (first, last) = (world.rank() == 0, world.rank() + 1 == world.size());
    let mut messenger = Messenger::new(world.comm()).unwrap();
    if first {
        messenger.send(world.size() - 1, 1, pattern()).unwrap();
        messenger.send(world.size() - 1, 2, b"after".to_vec()).unwrap();
    }
    if last {
        let message = messenger.wait(PATIENCE).unwrap().expect("a message");
        assert!(message.tag == 1 && is_pattern(&message.bytes));
        drop(message);
        assert_eq!(messenger.wait(PATIENCE).unwrap().expect("another").bytes, b"after");
    }
    assert!(messenger.flush(PATIENCE).unwrap());
    world.comm().barrier().unwrap();

    let mut bytes = if first { pattern() } else { vec![0; LENGTH] };
    world.comm().broadcast(0, &mut bytes).unwrap();
    assert!(is_pattern(&bytes));

    let own: &[u8] = if last { &bytes } else { b"little" };
    let mut gathered = world.comm().gather_all(own).unwrap();
    assert!(gathered.pop().is_some_and(|found| is_pattern(&found)));
    assert_eq!(gathered, vec![b"little"; world.size() - 1]);

    let path = directory.join("large.bin");
    let file = ParallelFile::open(world.comm(), &path, Access::Create).unwrap();
    if last {
        file.write_at(0, &bytes).unwrap();
    }
    file.sync().unwrap();
    file.close().unwrap();
    assert!(!first || is_pattern(&fs::read(&path).unwrap()));
}

/// Returns the contents of a mebibyte of the pattern, by its number. The pattern is made and
/// compared in such units, since this program is compiled with little optimisation.
fn mebibyte(number: usize) -> Vec<u8> {
    let bytes: [u8; 256] = std::array::from_fn(|place| number as u8 ^ place as u8);
    bytes.repeat(MEBIBYTE / bytes.len())
}

fn pattern() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(LENGTH.next_multiple_of(MEBIBYTE));
    (0..LENGTH.div_ceil(MEBIBYTE)).for_each(|number| bytes.extend_from_slice(&mebibyte(number)));
    bytes.truncate(LENGTH);
    bytes
}

fn is_pattern(bytes: &[u8]) -> bool {
    let mut parts = bytes.chunks(MEBIBYTE).enumerate();
    bytes.len() == LENGTH && parts.all(|(number, part)| *part == mebibyte(number)[..part.len()])
}
