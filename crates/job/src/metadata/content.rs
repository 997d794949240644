//! Whether two databases hold the same, whatever they are called and however they are cut into volumes.

use fleetblast_db::fingerprint::Fingerprinter;
use fleetblast_metadata::header::Content;
use rayon::prelude::*;

use crate::digest::Digest;
use crate::error::Error;
use crate::ranks::{Contents, Side};
use crate::subjects::Target;

/// Letters read at a time by a thread.
const STRETCH: u64 = 16 << 20;

/// What the target holds, all of which is read, on the threads of the current pool.
///
/// # Errors
/// Files that cannot be read.
pub fn of(target: &Target) -> Result<Content, Error> {
    let sums = if target.is_on_disk() { on_disk(target)? } else { in_memory(target)? };
    Ok(by(target, sums))
}

/// The same, of which ranks have read the files.
///
/// # Errors
/// What is not in files and cannot be read.
pub fn of_ranks(target: &Target, contents: &Contents) -> Result<Content, Error> {
    match target.is_on_disk() {
        true => Ok(by(target, Side::ALL.map(|side| contents.sum(side)))),
        false => of(target),
    }
}

/// By the fingerprints of its residues and headers.
fn by(target: &Target, [residues, headers]: [u128; 2]) -> Content {
    Content {
        sequences: target.searched.sequences(),
        letters: target.searched.residues(),
        residues,
        headers,
        rest: target.rest_fingerprint(),
    }
}

fn on_disk(target: &Target) -> Result<[u128; 2], Error> {
    let database = &target.searched;
    let stretches = usize::try_from(database.residues() / STRETCH).unwrap_or(usize::MAX);
    let parts = (stretches + 1).max(4 * rayon::current_num_threads());
    let parts = database.partitions_within(0..database.oid_count(), parts);
    let fingerprinter = Fingerprinter::new(database);
    let mut sums = [0u128; 2];
    for (sum, side) in sums.iter_mut().zip(Side::ALL) {
        let read = |oids| Ok(fingerprinter.of(oids, side.file())?);
        let read: Result<Vec<_>, Error> = parts.clone().into_par_iter().map(read).collect();
        let volumes = read?.into_iter().flatten();
        *sum = volumes.fold(0, |sum: u128, (_, more)| sum.wrapping_add(more));
    }
    Ok(sums)
}

fn in_memory(target: &Target) -> Result<[u128; 2], Error> {
    let (mut residues, mut headers) = (Digest::default(), Digest::default());
    for database in [&target.searched, target.whole()] {
        for oid in 0..database.oid_count() {
            residues.add(&database.residues_of(oid));
            headers.add(&database.deflines(oid)?);
        }
    }
    Ok([residues.finish(), headers.finish()])
}

/// What keeps one database from being the other; nothing if they are the same.
pub fn difference(searched: &Content, here: &Content) -> Option<String> {
    let count = |content: &Content| {
        format!("{} sequences of {} letters", content.sequences, content.letters)
    };
    if (searched.sequences, searched.letters) != (here.sequences, here.letters) {
        return Some(format!("it holds {} instead of {}", count(here), count(searched)));
    }
    if searched.residues != here.residues {
        return Some("its sequences are others, or in another order".to_owned());
    }
    if searched.headers != here.headers {
        return Some("what is said of its sequences differs".to_owned());
    }
    let what = "its masks, or what its aliases and lists show, differ";
    (searched.rest != here.rest).then(|| what.to_owned())
}
