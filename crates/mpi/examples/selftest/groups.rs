//! Checks groups of ranks and their collective operations.

use fleetblast_mpi::{Comm, MpiError, World};

pub fn check(world: &World, piece: usize) {
    let all = world.comm();
    all.barrier().unwrap();
    broadcasts(all, piece);
    gathering(all, piece);
    agreement(all);
    arriving(all);
    hosts(world);
    // Even and odd ranks form separate groups, in the opposite order.
    let parity = all.rank() as u32 % 2;
    let key = (all.size() - all.rank()) as u32;
    let group = all.split(Some(parity), key).unwrap().expect("a group");
    let members = group.gather_all(&[all.rank() as u8]).unwrap();
    let same = |&rank: &usize| rank as u32 % 2 == parity;
    let expected: Vec<_> =
        (0..all.size()).filter(same).rev().map(|rank| vec![rank as u8]).collect();
    assert_eq!(members, expected);
    broadcasts(&group, piece);
    // The last rank gets no group.
    let last = all.rank() + 1 == all.size();
    let group = all.split((!last).then_some(0), 0).unwrap();
    assert_eq!(group.map(|group| group.size()), (!last).then_some(all.size() - 1));
    all.barrier().unwrap();
}

/// Checks that a barrier is incomplete until the last rank arrives. The last rank arrives only
/// after all other ranks have checked this.
fn arriving(all: &Comm) {
    let looked = all.split(Some(0), all.rank() as u32).unwrap().expect("a group");
    let last = all.rank() + 1 == all.size();
    if last {
        looked.barrier().unwrap();
    }
    let mut arrival = all.arrive().unwrap();
    if !last {
        assert!(!arrival.is_complete().unwrap());
        looked.barrier().unwrap();
    }
    while !arrival.is_complete().unwrap() {
        std::thread::yield_now();
    }
}

/// Checks that exactly the ranks whose hosts have the same name share memory.
fn hosts(world: &World) {
    let names = world.comm().gather_all(world.host().as_bytes()).unwrap();
    let same = |name: &&Vec<u8>| name.as_slice() == world.host().as_bytes();
    let host = world.comm().split_by_host().unwrap();
    assert_eq!(host.size(), names.iter().filter(same).count());
    assert_eq!(host.rank(), names[..world.rank()].iter().filter(same).count());
}

fn broadcasts(group: &Comm, piece: usize) {
    let longest = piece.min(1 << 20) * 3 + 1;
    for root in 0..group.size() {
        for length in [0, 1, 1000, longest] {
            let byte = |n: usize| (n * 3 + root + length) as u8;
            let mut bytes = vec![0u8; length];
            if group.rank() == root {
                bytes = (0..length).map(byte).collect();
            }
            group.broadcast(root, &mut bytes).unwrap();
            assert!(bytes.iter().enumerate().all(|(n, &found)| found == byte(n)));
        }
    }
}

/// Gathers short contributions and long ones, some of them longer than a piece.
fn gathering(group: &Comm, piece: usize) {
    for unit in [1000, piece.min(1 << 20) + 1] {
        let byte = |rank: usize| move |n: usize| (n * 7 + rank) as u8;
        let text = |rank: usize| -> Vec<u8> {
            (0..(rank + 1) * unit * 5 % (unit * 3)).map(byte(rank)).collect()
        };
        let all = group.gather_all(&text(group.rank())).unwrap();
        assert_eq!(all.len(), group.size());
        for (rank, found) in all.iter().enumerate() {
            assert!(*found == text(rank), "of rank {rank}, {unit}");
        }
    }
    let nothing = group.gather_all(&[]).unwrap();
    assert!(nothing.len() == group.size() && nothing.iter().all(Vec::is_empty));
}

fn agreement(group: &Comm) {
    assert_eq!(group.agree(Ok(group.rank())).unwrap(), group.rank());
    let broken = group.size() / 2;
    let own =
        |text: &str| MpiError::Call { rank: group.rank(), call: "nothing", text: text.to_owned() };
    let result = match group.rank() {
        rank if rank >= broken => Err(own("on purpose")),
        _ => Ok(()),
    };
    let error = group.agree(result).unwrap_err();
    assert_eq!(error.to_string(), format!("rank {broken}: nothing: on purpose"));
    let elsewhere = matches!(error, MpiError::OtherRank { rank, .. } if rank == broken);
    assert_eq!(elsewhere, group.rank() != broken);
}
