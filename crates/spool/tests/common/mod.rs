//! A job for tests, with results that depend only on the number of their block.

use std::path::Path;

use fastrand::Rng;
use fleetblast_spool::{
    Checkpoint, DatabaseProperties, Error, JobProperties, QueryHasher, ResultKey, ResultKind,
    ShareRange, StartMode, StoredShare, VolumeProperties, Writer,
};

pub fn key(block: u64) -> ResultKey {
    ResultKey { block, kind: ResultKind::RESULT }
}

pub fn properties() -> JobProperties {
    let mut query = QueryHasher::default();
    query.update(b">q\nMKV\n");
    let volume = VolumeProperties {
        name: "p".to_owned(),
        date: "Jan 1, 2021".to_owned(),
        sequences: 7,
        index: "1".to_owned(),
        residues: "2".to_owned(),
        headers: "3".to_owned(),
    };
    JobProperties {
        program: "blastp".to_owned(),
        version: "0.1.0".to_owned(),
        build: "abc".to_owned(),
        query: query.finish(),
        database: DatabaseProperties {
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

/// Returns the result of a block: from 0 to `most` bytes, incompressible for odd blocks.
pub fn contents(block: u64, most: usize) -> Vec<u8> {
    let mut random = Rng::with_seed(block);
    let length = random.usize(..=most);
    if block % 2 == 1 {
        return (0..length).map(|_| random.u8(..)).collect();
    }
    let line = || format!("q{block}\ts{}\t{}\n", random.u8(..100), random.u8(..10));
    std::iter::repeat_with(line).flat_map(String::into_bytes).take(length).collect()
}

/// Appends the whole result of a block.
pub fn append(writer: &mut Writer, block: u64, whole: &[u8]) -> Result<Vec<StoredShare>, Error> {
    writer.append(key(block), ShareRange::whole(whole.len() as u64), whole)
}

/// Starts or resumes the job in a directory.
pub fn start(root: &Path) -> Checkpoint {
    Checkpoint::open(root, &properties(), StartMode::NewOrResume).expect("a job")
}
