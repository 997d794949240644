//! Whether two databases hold the same, whatever they are called and however they are cut into volumes.

use fleetblast_metadata::header::Content;

use crate::error::Error;
use crate::fingerprint::{Contents, SequenceFile, fingerprint_sequences};
use crate::subjects::Target;

/// What the target holds, all of which is read, on the threads of the current pool.
///
/// # Errors
/// Files that cannot be read.
pub fn of(target: &Target) -> Result<Content, Error> {
    let sums = if target.is_on_disk() { on_disk(target)? } else { target.memory_fingerprint()? };
    Ok(by(target, sums))
}

/// The same, of which ranks have read the files.
///
/// # Errors
/// What is not in files and cannot be read.
pub fn of_ranks(target: &Target, contents: &Contents) -> Result<Content, Error> {
    match target.is_on_disk() {
        true => Ok(by(target, SequenceFile::ALL.map(|side| contents.sum(side)))),
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
    let items = SequenceFile::ALL.map(|side| (side, side, 0..database.oid_count()));
    let read = fingerprint_sequences(database, &items)?;
    Ok(SequenceFile::ALL.map(|wanted| {
        let own = read.iter().filter(|(side, ..)| *side == wanted);
        own.fold(0, |sum: u128, (.., more)| sum.wrapping_add(*more))
    }))
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
