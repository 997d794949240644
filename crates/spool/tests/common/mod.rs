//! A job for tests, with results that follow from the number of their block.

use std::path::Path;

use fleetblast_spool::{
    Checkpoint, DatabaseIdentity, Error, Identity, Key, Kind, Place, QueryHasher, Share, Start,
    VolumeIdentity, Writer,
};

pub fn key(block: u64) -> Key {
    Key { block, kind: Kind::RESULT }
}

pub fn identity() -> Identity {
    let mut query = QueryHasher::default();
    query.update(b">q\nMKV\n");
    let volume = VolumeIdentity {
        name: "p".to_owned(),
        date: "Jan 1, 2021".to_owned(),
        sequences: 7,
        index: "1".to_owned(),
        residues: "2".to_owned(),
        headers: "3".to_owned(),
    };
    Identity {
        program: "blastp".to_owned(),
        version: "0.1.0".to_owned(),
        build: "abc".to_owned(),
        query: query.finish(),
        database: DatabaseIdentity {
            name: "p".to_owned(),
            sequences: 7,
            residues: 700,
            volumes: vec![volume],
            selection: "4".to_owned(),
        },
        options: [("-evalue".to_owned(), "10".to_owned())].into(),
        blocks: "10000 residues".to_owned(),
    }
}

/// The pseudo-random numbers of a block: 32-bit xorshift, seeded by the block.
fn numbers(block: u64) -> impl Iterator<Item = u32> {
    let mut state = (block as u32).wrapping_mul(0x9e37_79b9) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    })
}

/// The result of a block: from 0 to `most` bytes, incompressible for odd blocks.
pub fn contents(block: u64, most: usize) -> Vec<u8> {
    let mut numbers = numbers(block);
    let length = numbers.next().map_or(0, |number| number as usize % (most + 1));
    if block % 2 == 1 {
        return numbers.map(|number| (number >> 24) as u8).take(length).collect();
    }
    let line = numbers.map(|number| format!("q{block}\ts{}\t{}\n", number % 100, number % 10));
    line.flat_map(String::into_bytes).take(length).collect()
}

/// Appends all of a block's result.
pub fn append(writer: &mut Writer, block: u64, whole: &[u8]) -> Result<Vec<Place>, Error> {
    writer.append(key(block), Share::whole(whole.len() as u64), whole)
}

/// Starts or resumes the job in a directory.
pub fn start(root: &Path) -> Checkpoint {
    Checkpoint::open(root, &identity(), Start::NewOrResume).expect("a job")
}
