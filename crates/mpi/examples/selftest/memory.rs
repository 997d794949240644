//! Checks memory that the ranks of a host share.

use fleetblast_mpi::{Comm, MpiError, PageStatistics, SharedFill, World};

const LENGTH: usize = (9 << 20) + 123;

pub fn check(world: &World) {
    let host = world.comm().split_by_host().unwrap();
    let begins = |rank: usize| LENGTH / host.size() * rank;
    let end = if host.rank() + 1 == host.size() { LENGTH } else { begins(host.rank() + 1) };
    let own = begins(host.rank())..end;
    let mut fill = SharedFill::new(&host, LENGTH, own.clone()).unwrap();
    assert!(fill.own_mut().len() == own.len() && fill.own_mut().iter().all(|&byte| byte == 0));
    for (place, byte) in own.zip(fill.own_mut()) {
        *byte = expected(place);
    }
    let shared = fill.finish().unwrap();
    assert_eq!(shared.len(), LENGTH);
    // Other threads can read the memory, too.
    let copy = shared.clone();
    let right = std::thread::spawn(move || {
        copy.iter().enumerate().all(|(place, &byte)| byte == expected(place))
    });
    assert!(right.join().unwrap());
    one_copy(&host, PageStatistics::measure(&shared).unwrap());
    refusals(&host);
    drop(host);
    assert_eq!(shared[LENGTH - 1], expected(LENGTH - 1));
}

fn expected(place: usize) -> u8 {
    ((place * 7) >> 3) as u8 ^ place as u8
}

fn one_copy(host: &Comm, found: PageStatistics) {
    assert!(found.resident >= LENGTH as u64, "{found:?}");
    let inodes = host.gather_all(&found.inode.to_le_bytes()).unwrap();
    if host.size() > 1 {
        assert!(found.inode != 0 && inodes.iter().all(|inode| *inode == inodes[0]), "{inodes:?}");
    }
    if host.rank() == 0 {
        println!("{} of {LENGTH} bytes on huge pages", found.huge);
    }
}

fn refusals(host: &Comm) {
    let too_much = 1usize << 50;
    let error = SharedFill::new(host, too_much, 0..0).err().unwrap();
    let seen = error.to_string().contains("1125899906842624 bytes of memory");
    assert!(seen && error.to_string().contains("mapping memory"), "{error}");
    if host.size() > 1 {
        let error = SharedFill::new(host, 100, 0..host.rank() + 1).err().unwrap();
        assert!(matches!(error, MpiError::Shares { .. }), "{error}");
        let error = SharedFill::new(host, 100 + host.rank(), 0..0).err().unwrap();
        assert!(matches!(error, MpiError::Shares { .. }), "{error}");
    }
    // An empty segment is valid.
    let nothing = SharedFill::new(host, 0, 0..0).unwrap().finish().unwrap();
    assert!(nothing.is_empty());
}
