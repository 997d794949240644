//! The chain of metadata records: the checksum of each record continues that of the previous
//! record.
//!
//! Ranks write records at their final offsets while earlier records are still missing. So each rank
//! writes a record as the first of a chain of its own. When all records are in the file, they are
//! joined to one chain.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use fleetblast_metadata::records::{HEAD_BYTES, RecordChain, RecordKind, START_BYTES};
use fleetblast_spool::open_regular;

use crate::error::Error;

/// Encodes a record that begins a chain of checksums.
///
/// # Errors
/// The body is too large.
pub fn first_record(kind: RecordKind, body: &[u8]) -> Result<Vec<u8>, Error> {
    RecordChain::default().record(kind, body).map_err(Error::output)
}

/// Joins the records of a file to one chain. Reads and writes only the heads of the records.
///
/// # Errors
/// The file cannot be read or written, or it contains anything but records.
pub fn join_records(path: &Path) -> io::Result<()> {
    let file = open_regular(File::options().read(true).write(true), path)?;
    let end = file.metadata()?.len();
    let (mut chain, mut at) = (RecordChain::default(), START_BYTES as u64);
    while at < end {
        let mut head = [0; HEAD_BYTES];
        file.read_exact_at(&mut head, at)?;
        let length = chain.join(&mut head).ok_or_else(|| not_a_record(at))?;
        file.write_all_at(&head, at)?;
        at += length;
    }
    if at == end { Ok(()) } else { Err(not_a_record(end)) }
}

fn not_a_record(at: u64) -> io::Error {
    io::Error::other(format!("the metadata that ranks wrote have no record at byte {at}"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use fleetblast_metadata::records::RecordKind::{Block, End, Header};

    use super::*;

    #[test]
    fn joined_records_form_one_chain() {
        let records = [(Header, &b"header"[..]), (Block, b"one"), (Block, b""), (End, b"end")];
        let (mut alone, mut batch_grouping, mut chain) =
            (RecordChain::start(), RecordChain::start(), RecordChain::default());
        for (kind, body) in records {
            alone.extend(RecordChain::default().record(kind, body).unwrap());
            batch_grouping.extend(chain.record(kind, body).unwrap());
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("metadata");
        fs::write(&path, &alone).unwrap();
        join_records(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), batch_grouping);
        // A run that was killed after joining leaves such a file. Its records continue other
        // records, so they are not the first of a chain.
        assert!(join_records(&path).is_err());
        for bytes in [&alone[..alone.len() - 1], &[&alone[..], b"more"].concat()] {
            fs::write(&path, bytes).unwrap();
            assert!(join_records(&path).is_err());
        }
    }
}
