//! Checks messages: their contents, their order, many senders, and waiting.

use std::time::{Duration, Instant};

use fleetblast_mpi::{Messenger, World};

/// Longest wait; only a failure takes longer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Sizes of messages in bytes. Long ones come first: short ones must not overtake them.
const SIZES: [usize; 6] = [5_000_000, 0, 70_000, 1, 5_000_001, 12];

pub fn check(world: &World, piece: usize) {
    let mut messenger = Messenger::new(world.comm()).unwrap();
    all_to_all(world, &mut messenger);
    many_to_one(world, &mut messenger);
    flush_to_each_other(world, &mut messenger);
    messengers_are_apart(world, &mut messenger);
    receipts(world, &mut messenger, piece);
    wait_asleep(&mut messenger);
    let error = messenger.send(world.size(), 0, vec![1]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("rank {}: MPI_Isend: ", world.rank())), "{error}");
    world.comm().barrier().unwrap();
    // Nobody receives these messages. The messenger must discard them before MPI is finalized.
    for bytes in [1, 3_000_000] {
        messenger.send((world.rank() + 1) % world.size(), 1, vec![7; bytes]).unwrap();
    }
    messenger.close().unwrap();
}

fn contents(from: usize, to: usize, tag: usize) -> Vec<u8> {
    let seed = from * 31 + to * 17 + tag * 7;
    (0..SIZES[tag]).map(|n| (n.wrapping_mul(0x9e37) >> 7) as u8 ^ (n + seed) as u8).collect()
}

/// Sends messages from every rank to every rank, also to itself.
fn all_to_all(world: &World, messenger: &mut Messenger) {
    let own = world.rank();
    for tag in 0..SIZES.len() {
        for to in 0..world.size() {
            messenger.send(to, tag as u8, contents(own, to, tag)).unwrap();
        }
    }
    let mut next = vec![0; world.size()];
    for _ in 0..world.size() * SIZES.len() {
        let message = messenger.wait(PATIENCE).unwrap().expect("a message");
        let expected = next[message.from];
        assert_eq!(usize::from(message.tag), expected, "order of rank {}", message.from);
        assert!(message.bytes == contents(message.from, own, expected), "{expected}");
        next[message.from] += 1;
    }
    assert!(messenger.flush(PATIENCE).unwrap() && messenger.outgoing_bytes() == 0);
    world.comm().barrier().unwrap();
    assert_eq!(messenger.poll().unwrap(), None);
    world.comm().barrier().unwrap();
}

/// Sends thousands of messages to one rank, which answers when it has all of them.
fn many_to_one(world: &World, messenger: &mut Messenger) {
    const EACH: u32 = 3000;
    for number in 0..EACH {
        messenger.send(0, 200, number.to_le_bytes().to_vec()).unwrap();
    }
    if world.rank() == 0 {
        let mut next = vec![0u32; world.size()];
        for _ in 0..EACH as usize * world.size() {
            let message = messenger.wait(PATIENCE).unwrap().expect("a message");
            assert_eq!(
                (message.tag, message.bytes),
                (200, next[message.from].to_le_bytes().to_vec())
            );
            next[message.from] += 1;
        }
        for to in 0..world.size() {
            messenger.send(to, 255, b"all".to_vec()).unwrap();
        }
    }
    let answer = messenger.wait(PATIENCE).unwrap().expect("an answer");
    assert_eq!((answer.from, answer.tag, answer.bytes.as_slice()), (0, 255, b"all".as_slice()));
    world.comm().barrier().unwrap();
}

/// Sends large messages in a circle. No rank receives a message before it has sent its own.
fn flush_to_each_other(world: &World, messenger: &mut Messenger) {
    let next = (world.rank() + 1) % world.size();
    messenger.send(next, 0, contents(world.rank(), next, 0)).unwrap();
    messenger.send(next, 4, contents(world.rank(), next, 4)).unwrap();
    assert!(messenger.flush(PATIENCE).unwrap());
    for tag in [0, 4] {
        let message = messenger.wait(PATIENCE).unwrap().expect("a message");
        assert!(message.bytes == contents(message.from, world.rank(), tag));
    }
    world.comm().barrier().unwrap();
}

/// Checks that messages of one messenger do not arrive in another.
fn messengers_are_apart(world: &World, first: &mut Messenger) {
    let mut second = Messenger::new(world.comm()).unwrap();
    let last = world.size() - 1;
    second.send(last, 1, b"second".to_vec()).unwrap();
    first.send(last, 1, b"first".to_vec()).unwrap();
    if world.rank() == last {
        for _ in 0..world.size() {
            assert_eq!(first.wait(PATIENCE).unwrap().unwrap().bytes, b"first");
        }
        for _ in 0..world.size() {
            assert_eq!(second.wait(PATIENCE).unwrap().unwrap().bytes, b"second");
        }
    }
    assert!(second.flush(PATIENCE).unwrap());
    world.comm().barrier().unwrap();
}

/// Checks that a message counts as left once its memory is free. A long message leaves when the
/// receiver begins to receive it.
fn receipts(world: &World, messenger: &mut Messenger, piece: usize) {
    let next = (world.rank() + 1) % world.size();
    messenger.send_with_receipt(next, 0, contents(world.rank(), next, 0), 70).unwrap();
    messenger.send(next, 3, contents(world.rank(), next, 3)).unwrap();
    messenger.send_with_receipt(next, 5, contents(world.rank(), next, 5), 75).unwrap();
    let begun = Instant::now();
    let (mut seen, long) = (Vec::new(), world.size() > 1 && piece > SIZES[0]);
    // No rank receives messages meanwhile.
    while begun.elapsed() < Duration::from_millis(100) {
        messenger.progress().unwrap();
        seen.extend(messenger.next_receipt());
        assert!(
            messenger.outgoing_bytes() == 0 || seen.len() < 2,
            "{seen:?} of what is on its way"
        );
        assert!(!(long && seen.contains(&70)), "nobody has taken the long message");
    }
    world.comm().barrier().unwrap();
    for tag in [0, 3, 5] {
        let message = messenger.wait(PATIENCE).unwrap().expect("a message");
        assert!(message.bytes == contents(message.from, world.rank(), tag));
    }
    assert!(messenger.flush(PATIENCE).unwrap());
    seen.extend(std::iter::from_fn(|| messenger.next_receipt()));
    seen.sort_unstable();
    assert_eq!(seen, [70, 75], "each is seen once");
    world.comm().barrier().unwrap();
}

/// Checks that a wait without messages takes the given time, and little processor time.
fn wait_asleep(messenger: &mut Messenger) {
    let (begun, used) = (Instant::now(), used_time());
    assert_eq!(messenger.wait(Duration::from_millis(400)).unwrap(), None);
    assert!(begun.elapsed() >= Duration::from_millis(400));
    let used = used_time() - used;
    assert!(used < Duration::from_millis(100), "{used:?} of a core");
}

/// Returns the processor time that this thread has used.
fn used_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}
