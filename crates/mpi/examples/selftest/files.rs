//! Checks files that all ranks write, by comparison with their contents as `std::fs` reads them.

use std::fs;
use std::path::Path;

use fleetblast_mpi::{Access, Comm, MpiError, ParallelFile, World};

pub fn check(world: &World, directory: &Path) {
    let all = world.comm();
    scattered(all, &directory.join("alone.bin"), false);
    scattered(all, &directory.join("together.bin"), true);
    contiguous(all, &directory.join("contiguous.bin"));
    creating(all, &directory.join("together.bin"));
    refusals(all, directory);
}

/// Returns the byte of the test pattern at an offset.
fn byte(place: u64) -> u8 {
    ((place * 5) >> 4) as u8 ^ (place >> 11) as u8 ^ place as u8
}

fn bytes(start: u64, length: u64) -> Vec<u8> {
    (start..start + length).map(byte).collect()
}

/// Returns ranges of unequal lengths that cover a file: start, length, and the rank that writes the
/// range. With three ranks or more, the second rank has none.
fn stretches(ranks: usize) -> Vec<(u64, u64, usize)> {
    let mut start = 0;
    let stretch = |n: u64| {
        let length = if n == 250 { 70_000 } else { n * n * 37 % 1211 + 1 };
        let mut rank = (n * n + n / 3) as usize % ranks;
        if ranks > 2 && rank == 1 {
            rank = 0;
        }
        start += length;
        (start - length, length, rank)
    };
    (0..400).map(stretch).collect()
}

fn length(ranks: usize) -> u64 {
    stretches(ranks).last().map_or(0, |&(start, length, _)| start + length)
}

fn matches_plan(path: &Path, length: u64) {
    let found = fs::read(path).unwrap();
    assert_eq!(found.len() as u64, length, "{}", path.display());
    let wrong = (0..length).zip(&found).find(|&(place, &found)| found != byte(place));
    assert_eq!(wrong, None, "{}", path.display());
}

fn scattered(all: &Comm, path: &Path, together: bool) {
    let own: Vec<_> = stretches(all.size())
        .into_iter()
        .rev()
        .filter(|&(_, _, rank)| rank == all.rank())
        .map(|(start, length, _)| (start, bytes(start, length)))
        .collect();
    let pieces: Vec<(u64, &[u8])> = own.iter().map(|(at, piece)| (*at, piece.as_slice())).collect();
    let file = ParallelFile::open(all, path, Access::Create).unwrap();
    // Two calls set the view twice.
    let (first, second) = pieces.split_at(pieces.len() / 2);
    for pieces in [first, second] {
        match together {
            true => file.write_scattered_all(pieces).unwrap(),
            false => file.write_scattered(pieces).unwrap(),
        }
    }
    file.sync().unwrap();
    let end = length(all.size());
    // After writes through views, positions count in the whole file again.
    if all.rank() == 0 {
        file.write_at(end, &bytes(end, 3)).unwrap();
    }
    file.close().unwrap();
    all.barrier().unwrap();
    matches_plan(path, end + 3);
}

fn contiguous(all: &Comm, path: &Path) {
    const EACH: u64 = 123_457;
    let start = all.rank() as u64 * EACH;
    let file = ParallelFile::open(all, path, Access::Create).unwrap();
    file.reserve(start..start + EACH).unwrap();
    all.barrier().unwrap();
    assert_eq!(fs::metadata(path).unwrap().len(), 0, "reserving does not lengthen");
    all.barrier().unwrap();
    file.write_at(start, &bytes(start, EACH)).unwrap();
    file.write_at(0, &[]).unwrap();
    file.sync().unwrap();
    file.close().unwrap();
    matches_plan(path, EACH * all.size() as u64);
}

fn creating(all: &Comm, path: &Path) {
    let before = fs::metadata(path).unwrap().len();
    all.barrier().unwrap();
    let file = ParallelFile::open(all, path, Access::Write).unwrap();
    file.write_at(1 + all.rank() as u64, &[byte(1 + all.rank() as u64)]).unwrap();
    file.close().unwrap();
    matches_plan(path, before);
    all.barrier().unwrap();
    let file = ParallelFile::open(all, path, Access::Create).unwrap();
    all.barrier().unwrap();
    assert_eq!(fs::metadata(path).unwrap().len(), 0);
    file.close().unwrap();
}

fn refusals(all: &Comm, directory: &Path) {
    let missing = directory.join("no such directory/file");
    for access in [Access::Create, Access::Write] {
        let error = ParallelFile::open(all, &missing, access).err().unwrap().to_string();
        assert!(error.contains("no such directory/file: MPI_File_open"), "{error}");
    }
    let file = ParallelFile::open(all, &directory.join("new.bin"), Access::Create).unwrap();
    let overlapping: [(u64, &[u8]); 2] = [(4, b"abcd"), (0, b"abcde")];
    let error = file.write_scattered(&overlapping).unwrap_err();
    assert!(matches!(error, MpiError::Overlap { offset: 4, .. }), "{error}");
    let last = all.rank() + 1 == all.size();
    let error = file.write_scattered_all(if last { &overlapping } else { &[] }).unwrap_err();
    assert!(error.to_string().contains("overlap at byte 4"), "{error}");
    let far: [(u64, &[u8]); 1] = [(u64::MAX - 1, b"abc")];
    for error in [
        file.write_at(u64::MAX - 1, b"abc").unwrap_err(),
        file.write_scattered(&far).unwrap_err(),
        file.write_scattered_all(&far).unwrap_err(),
    ] {
        assert!(error.to_string().contains("is beyond 2^63"), "{error}");
    }
    // Only one rank has invalid pieces: the others must not wait for it.
    let error = file.write_scattered_all(if last { &far } else { &[] }).unwrap_err();
    assert!(error.to_string().contains("is beyond 2^63"), "{error}");
    let error = file.reserve(0..1 << 60).unwrap_err();
    assert!(matches!(error, MpiError::NoSpace { wanted, .. } if wanted == 1 << 60), "{error}");
    file.close().unwrap();
}

/// Checks that every way of writing ends with an error and does not hang, on a file system that is
/// too small.
pub fn check_full(world: &World, directory: &Path) {
    let all = world.comm();
    let mine = (16 << 20) / all.size();
    let zeros = vec![0u8; mine];
    for (name, together) in [("alone", false), ("together", true), ("contiguous", false)] {
        let path = directory.join(name);
        let file = ParallelFile::open(all, &path, Access::Create).unwrap();
        // Each rank writes every n-th kilobyte, so that the pieces of the ranks are interleaved.
        let place = |n: usize| ((n * all.size() + all.rank()) << 10) as u64;
        let pieces: Vec<_> =
            zeros.chunks(1 << 10).enumerate().map(|(n, piece)| (place(n), piece)).collect();
        let result = match name {
            "contiguous" => all.agree(file.write_at((all.rank() * mine) as u64, &zeros)),
            _ if together => file.write_scattered_all(&pieces),
            _ => all.agree(file.write_scattered(&pieces)),
        };
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("rank ") && error.contains(name), "{error}");
        assert!(error.contains("no room for "), "{error}");
        if all.rank() == 0 {
            println!("{error}");
        }
        let error = all.agree(file.reserve(0..16 << 20)).unwrap_err().to_string();
        assert!(error.contains("no room for 16777216 bytes"), "{error}");
        file.close().unwrap();
        all.barrier().unwrap();
        if all.rank() == 0 {
            fs::remove_file(&path).unwrap();
        }
        all.barrier().unwrap();
    }
}
