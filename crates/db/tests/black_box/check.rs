//! The integrity check finds every fault that changes the contents of a database, in any of its
//! files.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::mem::swap;
use std::path::{Path, PathBuf};

use crate::common::{FOUR, entries, protein, write};
use fastrand::Rng;
use fleetblast_db::integrity::{IntegrityReport, check_integrity};
use fleetblast_db::load::{LoadMethod, LoadPurpose, LoaderRequest, choose_loader};
use fleetblast_db::lookup::lmdb::LmdbFile;
use fleetblast_db::{Database, DbError, Defline, SearchPath, SequenceKind};
use fleetblast_oracle::{command, oracle, sample};
use fleetblast_seq::id::{ObjectId, SeqId, TextKind};
use tempfile::TempDir;

fn open(dir: &Path, names: &str, kind: SequenceKind) -> Result<Database, DbError> {
    Database::open(names, kind, &SearchPath::new(dir, "".as_ref(), None))
}

fn check_database(dir: &Path, names: &str, kind: SequenceKind) -> Result<IntegrityReport, DbError> {
    let database = open(dir, names, kind)?;
    let wish = LoaderRequest { method: Some(LoadMethod::Read), memory_limit: None };
    let supply = choose_loader(&database, LoadPurpose::Check, wish)?.supply(&database, 3)?;
    check_integrity(&database, &supply, |work| {
        std::thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
    })
}

/// A file before one of its bits is flipped.
struct OriginalFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

/// Flips `flips` bits of every file of a database, one after the other, and checks the database
/// each time. A usual test run takes half of the flips. Flips that the check does not find must be
/// `harmless`. Returns for each extension the numbers of flips that were found and of those that
/// were not.
fn flip_everything(
    dir: &Path,
    names: &str,
    kind: SequenceKind,
    flips: u64,
    harmless: impl Fn(&OriginalFile, usize, u8) -> bool,
) -> BTreeMap<String, (u64, u64)> {
    let mut counts = BTreeMap::new();
    let mut random = Rng::with_seed(77);
    let mut files: Vec<PathBuf> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files {
        let extension = path.extension().unwrap_or_default().to_string_lossy().into_owned();
        if !extension.starts_with(kind.extension_letter()) {
            continue;
        }
        let original = OriginalFile { bytes: fs::read(&path).unwrap(), path };
        let count: &mut (u64, u64) = counts.entry(extension).or_default();
        let flips: Vec<_> = (0..flips)
            .map(|_| (random.usize(..original.bytes.len()), 1 << random.u64(..8)))
            .collect();
        for (at, bit) in sample(2, flips) {
            let changed = original.bytes[at] ^ bit;
            let mut bytes = original.bytes.clone();
            bytes[at] = changed;
            fs::write(&original.path, bytes).unwrap();
            match check_database(dir, names, kind) {
                Err(_) => count.0 += 1,
                Ok(_) => {
                    let was = original.bytes[at];
                    let shown = original.path.display();
                    let flip = format!("{shown} byte {at} from {was:#x} to {changed:#x}");
                    let around = original.bytes
                        [at.saturating_sub(24)..original.bytes.len().min(at + 24)]
                        .escape_ascii();
                    assert!(harmless(&original, at, changed), "{flip} was not found: {around}");
                    count.1 += 1;
                }
            }
        }
        fs::write(&original.path, &original.bytes).unwrap();
    }
    counts
}

/// Returns all definition lines, without the details that no check can verify.
fn structure(
    dir: &Path,
    kind: SequenceKind,
    with_ids: bool,
    with_taxids: bool,
) -> Vec<Vec<Defline>> {
    let database = open(dir, "d", kind).unwrap();
    let mut all: Vec<Vec<Defline>> =
        (0..database.oid_count()).map(|oid| database.deflines(oid).unwrap()).collect();
    for line in all.iter_mut().flatten() {
        line.title = vec![b'x'; line.title.len()];
        if with_ids {
            // The other files contain accessions, but not their databases, names and releases.
            for id in &mut line.ids {
                if let SeqId::Text { kind, name, release, accession, .. } = id {
                    *kind = TextKind::GenBank;
                    // A name without an accession is also a key.
                    if accession.is_empty() {
                        swap(name, accession);
                    }
                    name.fill(b'x');
                    release.fill(b'x');
                }
                // The index of version 4 is in lower case.
                if !with_taxids {
                    *id = SeqId::Local(ObjectId::Text(id.fasta().to_ascii_lowercase()));
                }
            }
        }
        if !with_taxids {
            line.taxid = 0;
        }
    }
    all
}

/// Returns length and number of ambiguous runs of each nucleotide sequence; nothing for proteins.
/// (The check cannot detect another start, length or code of a run, if the run allows the bases
/// that are stored for it.)
fn shape(dir: &Path, kind: SequenceKind) -> Vec<(u32, usize)> {
    let database = open(dir, "d", kind).unwrap();
    let bases = (0..database.oid_count()).filter_map(|oid| database.bases_of(oid).ok());
    bases.map(|bases| (bases.length(), bases.ambiguities().count())).collect()
}

/// Returns whether byte `at` is a letter of title or date in an index. In a version-5 volume the
/// volume number, which has no effect, also counts.
fn is_text_of_index(original: &OriginalFile, at: usize, texts: &[&str]) -> bool {
    let find = |text: &&str| original.bytes.windows(text.len()).position(|w| w == text.as_bytes());
    let five = original.bytes[3] == 5;
    // The first byte after the date is padding and may become a letter of the date.
    texts
        .iter()
        .any(|text| find(text).is_some_and(|start| (start..=start + text.len()).contains(&at)))
        || (five && (8..12).contains(&at))
}

#[test]
fn a_sound_database_is_sound() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, 300));
    write(dir.path(), "b", &FOUR, &entries(2, 0));
    write(dir.path(), "c", &FOUR, &entries(3, 200));
    let report = check_database(dir.path(), "a c b", SequenceKind::Protein).unwrap();
    assert_eq!((report.sequence_count, report.defline_count), (500, 500));
    let database = open(dir.path(), "a b c", SequenceKind::Protein).unwrap();
    assert_eq!(report.residue_count, database.residue_count());
    let sizes: u64 =
        fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
    // For the volume without sequences, the only byte of the sequence file is not needed.
    assert_eq!(report.checked_bytes, sizes - 1);
}

#[test]
fn every_flip_in_a_volume_is_found_or_cannot_be() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "d", &FOUR, &entries(1, 40));
    let kind = SequenceKind::Protein;
    let sound = structure(dir.path(), kind, false, false);
    let counts = flip_everything(dir.path(), "d", kind, 800, |original, at, changed| {
        match original.path.extension().unwrap().to_str().unwrap() {
            "pin" => is_text_of_index(original, at, &[FOUR.title, FOUR.date]),
            // The flip made another residue.
            "psq" => original.bytes[at] != 0 && changed < 28,
            _ => structure(dir.path(), kind, false, false) == sound,
        }
    });
    // Half of the index are offsets; most bytes of sequences and headers are letters.
    for (extension, (found, missed)) in &counts {
        println!("{extension}: {found} found, {missed} cannot be");
        assert!(*found > 80, "{extension}: {found}");
    }
    assert_eq!(counts.len(), 3);
}

#[test]
fn the_first_fault_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, 40));
    write(dir.path(), "b", &FOUR, &entries(2, 40));
    let database = open(dir.path(), "a b", SequenceKind::Protein).unwrap();
    let position =
        |oid: u32| 1 + (0..oid).map(|i| database.length_of(i) as usize + 1).sum::<usize>();
    let path = dir.path().join("a.psq");
    let mut bytes = fs::read(&path).unwrap();
    (bytes[position(30)], bytes[position(7)]) = (200, 99);
    fs::write(&path, bytes).unwrap();
    let other = dir.path().join("b.psq");
    fs::write(&other, vec![50; fs::read(&other).unwrap().len()]).unwrap();
    let error = check_database(dir.path(), "a b", SequenceKind::Protein).unwrap_err();
    let DbError::InvalidResidue { path: named, offset, oid, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((named, *offset, *oid), (&path, position(7) as u64, 7), "{error}");
}

/// BLAST+ shows `#` for other bytes and prints an error, so the check refuses them.
#[test]
fn titles_are_printable_ascii() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, 40));
    let path = dir.path().join("a.phr");
    let sound = fs::read(&path).unwrap();
    // The title begins after the tag of the string and its length.
    let title = sound.iter().position(|&tag| tag == 0x1a).unwrap() + 2;
    assert!(sound[title].is_ascii_graphic());
    for byte in [0x80, 0xc3, 0xff, 0x7f, 0x1f, 0] {
        let mut bytes = sound.clone();
        bytes[title] = byte;
        fs::write(&path, bytes).unwrap();
        let error = check_database(dir.path(), "a", SequenceKind::Protein).unwrap_err();
        assert!(error.to_string().contains("a.phr"), "{byte}: {error}");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}

/// A search shows such bytes in identifiers as `#`, too.
#[test]
fn identifiers_show_odd_bytes_as_blast_does() {
    let dir = tempfile::tempdir().unwrap();
    if oracle().is_none() {
        return;
    }
    make(&dir, ">sp|P12345|NAME title\nMKV\n", &["-dbtype", "prot", "-parse_seqids"]);
    let path = dir.path().join("d.phr");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|window| window == b"P12345").unwrap();
    bytes[at + 2] = 0xff;
    fs::write(&path, bytes).unwrap();
    let expected = command("blastdbcmd")
        .args(["-db", "d", "-entry", "all", "-outfmt", "%i"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let database = open(dir.path(), "d", SequenceKind::Protein).unwrap();
    let id = database.deflines(0).unwrap()[0].ids[0].fasta();
    assert_eq!(String::from_utf8_lossy(&expected.stdout).trim(), String::from_utf8_lossy(&id));
    assert_eq!(id, b"sp|P1#345|NAME");
}

#[test]
fn lengths_and_counts_must_agree() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a", &FOUR, &entries(1, 40));
    let append = |name: &str, more: &[u8]| {
        let path = dir.path().join(name);
        let old = fs::read(&path).unwrap();
        fs::write(&path, [&old, more].concat()).unwrap();
        let error = check_database(dir.path(), "a", SequenceKind::Protein).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(&old.len().to_string()), "{error}");
        fs::write(&path, old).unwrap();
    };
    ["a.pin", "a.psq", "a.phr"].iter().for_each(|name| append(name, &[0]));
    fs::write(dir.path().join("x.pal"), "TITLE x\nDBLIST a\nNSEQ 41\n").unwrap();
    let error = check_database(dir.path(), "x", SequenceKind::Protein).unwrap_err().to_string();
    assert!(error.contains("states 41 sequences, its volumes have 40"), "{error}");
    fs::write(dir.path().join("x.pal"), "TITLE x\nDBLIST a\nNSEQ 40\n").unwrap();
    check_database(dir.path(), "x", SequenceKind::Protein).unwrap();
}

/// Returns synthetic sequences with identifiers of many kinds and some merged definition lines.
fn fasta(seed: u64, count: usize, nucleotide: bool) -> String {
    let mut random = Rng::with_seed(seed);
    let mut text = String::new();
    for i in 0..count {
        let id = match i % 6 {
            0 => format!("sp|P{:05}.2|NAME{i}_X", 10_000 + i),
            1 => format!("gi|{}|gb|AAA{:05}.1|", 900 + i, 10_000 + i),
            2 => format!("gnl|mydb|tag{i}"),
            3 => format!("lcl|Local{i}"),
            4 => format!("pdb|{}{}BC|A", i % 9 + 1, char::from(b'A' + (i / 6 % 26) as u8)),
            _ => format!("ref|NP_{:06}.3|", 100 + i),
        };
        let merged = if i % 10 == 3 { format!("\u{1}lcl|also{i} merged") } else { String::new() };
        let length = random.usize(10..90);
        let sequence: String = if nucleotide {
            (0..length)
                .map(|j| {
                    char::from(if j % 17 < 3 { b"NRY"[j % 3] } else { b"ACGT"[random.usize(..4)] })
                })
                .collect()
        } else {
            String::from_utf8(protein(&mut random, length)).unwrap()
        };
        writeln!(text, ">{id} title {i}{merged}\n{sequence}").unwrap();
    }
    text
}

fn make(dir: &TempDir, text: &str, arguments: &[&str]) {
    let input = tempfile::NamedTempFile::new().unwrap();
    fs::write(input.path(), text).unwrap();
    let output = command("makeblastdb")
        .args(["-in", input.path().to_str().unwrap(), "-title", "made", "-out", "d"])
        .args(arguments)
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns all keys and values in the tables of an LMDB file; `None` if it cannot be read.
fn dump(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let env = LmdbFile::open(bytes).ok()?;
    let mut all = Vec::new();
    for name in ["acc2oid", "volinfo", "volname", "taxid2offset"] {
        let Some(table) = env.table(name).ok()? else { continue };
        for entry in env.entries(&table).ok()? {
            let (key, value) = entry.ok()?;
            all.push((key.to_vec(), value.to_vec()));
        }
    }
    Some(all)
}

#[test]
fn what_the_oracle_makes_is_sound() {
    if oracle().is_none() {
        return;
    }
    for (kind, nucleotide) in [(SequenceKind::Protein, false), (SequenceKind::Nucleotide, true)] {
        for version in ["4", "5"] {
            for more in [
                &[][..],
                &["-parse_seqids"],
                &["-parse_seqids", "-hash_index"],
                &["-hash_index"],
                &["-max_file_sz", "3KB", "-hash_index"],
                &["-max_file_sz", "3KB", "-parse_seqids"],
            ] {
                let dir = tempfile::tempdir().unwrap();
                let text = fasta(5, 200, nucleotide);
                let fixed =
                    ["-dbtype", kind.dbtype(), "-blastdb_version", version, "-taxid", "9606"];
                make(&dir, &text, &[&fixed[..], more].concat());
                let report = check_database(dir.path(), "d", kind)
                    .unwrap_or_else(|error| panic!("version {version} {more:?}: {error}"));
                assert_eq!(report.sequence_count, text.matches('>').count() as u64);
                let unchecked = &report.unchecked_contents;
                let hashed = more.contains(&"-hash_index");
                assert_eq!(
                    !unchecked.is_empty(),
                    hashed,
                    "version {version} {more:?}: {unchecked:?}"
                );
                println!("version {version} {more:?}: {:?}", report.compared_files);
            }
        }
    }
}

#[test]
fn every_flip_in_files_beside_is_found_or_means_nothing() {
    if oracle().is_none() {
        return;
    }
    let kinds = [SequenceKind::Protein, SequenceKind::Nucleotide];
    for (kind, version) in kinds.into_iter().flat_map(|kind| [(kind, "4"), (kind, "5")]) {
        let nucleotide = kind == SequenceKind::Nucleotide;
        let dir = tempfile::tempdir().unwrap();
        let fixed = ["-parse_seqids", "-taxid", "9606", "-blastdb_version", version];
        make(&dir, &fasta(6, 100, nucleotide), &[&["-dbtype", kind.dbtype()], &fixed[..]].concat());
        let five = version == "5";
        let (sound, shape) = (structure(dir.path(), kind, true, five), shape(dir.path(), kind));
        let date = open(dir.path(), "d", kind).unwrap().date().to_owned();
        let counts = flip_everything(dir.path(), "d", kind, 150, |original, at, changed| {
            let extension = original.path.extension().unwrap().to_str().unwrap();
            match &extension[1..] {
                "in" => is_text_of_index(original, at, &["made", &date]),
                // The flip made another base, or ambiguities that allow the stored base.
                "sq" if nucleotide => self::shape(dir.path(), kind) == shape,
                "sq" => original.bytes[at] != 0 && changed < 28,
                // In version 4 only the headers contain taxids.
                "hr" => structure(dir.path(), kind, true, five) == sound,
                "db" | "tf" => dump(&original.bytes) == dump(&fs::read(&original.path).unwrap()),
                _ => false,
            }
        });
        for (extension, (found, missed)) in &counts {
            println!("{extension}: {found} found, {missed} mean nothing or cannot be found");
        }
        let exact: &[&str] = match version {
            "4" => &["og", "nd", "ni", "sd", "si"],
            _ => &["os", "ot", "to", "og", "nd", "ni"],
        };
        for extension in exact {
            let (found, missed) = counts[&kind.extension(extension)];
            assert!(found > 0 && missed == 0, "{extension}: {missed}");
        }
    }
}
