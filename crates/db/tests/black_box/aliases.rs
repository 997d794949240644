//! Aliases, search paths and totals have the same effect as in the oracle. Every expected value was
//! checked with `blastp -query q.fa -db NAME`: hits, prologue and epilogue, or the error message.
//!
//! Every expected value was checked with `blastp -query q.fa -db NAME`: hits, prologue and
//! epilogue, or the message.

// The tests mean lists of one range, not lists of numbers.
#![allow(clippy::single_range_in_vec_init)]

use std::ffi::OsStr;
use std::path::Path;

use crate::common::{FIVE, FOUR, Label, entries, write};
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind};
use tempfile::TempDir;

/// A working directory with volumes `a` (3 sequences) and `b` (2 sequences).
struct World(TempDir);

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "a", &Label { title: "A", ..FOUR }, &entries(1, 3));
        write(
            dir.path(),
            "b",
            &Label { title: "B", date: "Dec 1, 2026  1:00 AM", ..FOUR },
            &entries(2, 2),
        );
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn alias(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path().join(format!("{name}.pal")), text).unwrap();
        self
    }

    fn search(&self, blastdb: &str) -> SearchPath {
        SearchPath::new(self.path(), OsStr::new(blastdb), None)
    }

    fn open(&self, names: &str) -> Result<Database, DbError> {
        Database::open(names, SequenceKind::Protein, &self.search(""))
    }

    /// Returns the error message of opening `names`, with the directory replaced by `DIR`.
    fn message(&self, names: &str) -> String {
        let real = self.path().canonicalize().unwrap();
        self.open(names).unwrap_err().stderr_line().replace(real.to_str().unwrap(), "DIR")
    }
}

fn titles(database: &Database) -> String {
    String::from_utf8_lossy(database.title()).into_owned()
}

/// Returns the number of residues in the first `count` of `entries(seed, ..)`.
fn letters(seed: u64, count: usize) -> u64 {
    entries(seed, count).iter().map(|(_, letters)| letters.len() as u64).sum()
}

#[test]
fn volumes_are_numbered_by_name_and_titles_follow_the_command_line() {
    let world = World::new();
    let database = world.open("b a").unwrap();
    assert_eq!(titles(&database), "B; A");
    assert_eq!(database.residues_of(0), crate::common::codes(&entries(1, 1)[0].1));
    assert_eq!(database.date(), "Dec 1, 2026  1:00 AM");
    assert_eq!(database.database_infos()[1].date, FOUR.date);
    assert_eq!((database.oid_count(), database.included_oids()), (5, &[0..5][..]));
}

#[test]
fn a_database_named_twice_counts_twice_in_the_head_and_once_in_the_search() {
    let world = World::new();
    let database = world.open("a a").unwrap();
    assert_eq!((database.sequence_count(), database.residue_count()), (6, 2 * letters(1, 3)));
    assert_eq!(
        (database.stats_sequence_count(), database.stats_residue_count()),
        (3, letters(1, 3))
    );
    assert_eq!((database.oid_count(), database.database_infos().len()), (3, 2));
    assert_eq!(titles(&database), "A; A");
}

#[test]
fn stated_totals_replace_counted_ones() {
    let world = World::new();
    world.alias("n1", "TITLE n1 title\nDBLIST a\nNSEQ 77\nLENGTH 7777\n");
    world.alias("n2", "DBLIST a b\nSTATS_NSEQ 1000\nSTATS_TOTLEN 100000\n");
    world.alias("n18", "DBLIST a n1 n2\n");
    let n1 = world.open("n1").unwrap();
    assert_eq!((n1.sequence_count(), n1.residue_count()), (77, 7777));
    assert_eq!((n1.stats_sequence_count(), n1.stats_residue_count()), (77, 7777));
    let n2 = world.open("n2").unwrap();
    assert_eq!((n2.sequence_count(), n2.residue_count()), (5, letters(1, 3) + letters(2, 2)));
    assert_eq!((n2.stats_sequence_count(), n2.stats_residue_count()), (1000, 100000));
    world.alias("huge", &format!("DBLIST a\nLENGTH {}\n", i64::MAX));
    assert!(matches!(world.open("huge huge"), Err(DbError::TooLarge { what: "residues", .. })));
    // Nested aliases come before volumes. A volume counts at each place in the list.
    let n18 = world.open("n18").unwrap();
    assert_eq!(titles(&n18), "n1 title; A; B; A");
    assert_eq!(n18.residue_count(), 7777 + letters(1, 3) + letters(2, 2) + letters(1, 3));
    assert_eq!((n18.sequence_count(), n18.oid_count()), (77 + 5 + 3, 5));
    let mixed = world.open("n1 a").unwrap();
    assert_eq!((mixed.stats_sequence_count(), mixed.database_infos().len()), (80, 2));
}

#[test]
fn an_empty_title_prints_the_name() {
    let world = World::new();
    world.alias("n15", "TITLE\nDBLIST \"a\" \"b\"");
    assert_eq!(titles(&world.open("n15").unwrap()), "n15");
    assert_eq!(titles(&world.open("\"n15\" b").unwrap()), "\"n15\"; B");
}

#[test]
fn oid_ranges_count_in_the_whole_database() {
    let world = World::new();
    let included = |names: &str, range: &str| {
        world.alias("r", &format!("DBLIST a\n{range}\n"));
        world.alias("w", &format!("DBLIST a b\n{range}\n"));
        world.alias("above", "DBLIST r\n");
        world.alias("r1", "DBLIST b\nFIRST_OID 1\nLAST_OID 1\n");
        world.alias("r2", "DBLIST b\nFIRST_OID 5\nLAST_OID 5\n");
        world.open(names).unwrap().included_oids().to_vec()
    };
    assert_eq!(included("r", "FIRST_OID 2"), [1..3]);
    assert_eq!(included("r", "LAST_OID 1"), [0..1]);
    assert_eq!(included("r", "FIRST_OID 0"), [0..3]);
    assert_eq!(included("above", "FIRST_OID 2\nLAST_OID 2"), [1..2]);
    assert_eq!(included("w", "FIRST_OID 2\nLAST_OID 4"), [1..4]);
    assert!(included("r", "FIRST_OID 3\nLAST_OID 2").is_empty());
    assert!(included("r", "LAST_OID 0").is_empty());
    assert!(included("r", "FIRST_OID 9").is_empty());
    // One alias with a range restricts the volumes named besides; two aliases do not.
    assert_eq!(included("a r2", ""), [4..5]);
    assert_eq!(included("a r1", ""), [0..1]);
    assert_eq!(included("a r1 r2", ""), [0..3, 4..5]);
    assert_eq!(included("r2 r1", ""), [0..1]);
    // Totals remain those of the volumes.
    world.alias("r", "DBLIST a\nFIRST_OID 2\n");
    let database = world.open("r").unwrap();
    assert_eq!((database.sequence_count(), database.stats_sequence_count()), (3, 3));
    assert_eq!(database.included_oids_in(0..2), [1..2]);
    assert_eq!(database.partitions(8), [1..2, 2..3]);
}

#[test]
fn messages_are_those_of_the_oracle() {
    let world = World::new();
    world.alias("c1", "TITLE c1\nDBLIST c2\n").alias("c2", "TITLE c2\nDBLIST c1\n");
    world.alias("self", "DBLIST ./self\n").alias("self2", "DBLIST self2\n");
    world.alias("mm", "DBLIST nosuch\n").alias("mm2", "DBLIST mm\n");
    world.alias("nd", "TITLE m\n").alias("nd2", "DBLIST nd\n");
    world.alias("n17", "DBLIST \"a b");
    let error = |text: &str| format!("BLAST Database error: {text}");
    let not_found = |name: &str| {
        error(&format!(
            "No alias or index file found for protein database [{name}] in search path [DIR::]"
        ))
    };
    let cycle = error("Illegal configuration: DB alias files are mutually recursive.");
    let missing = |member: &str, alias: &str| {
        error(&format!(
            "Could not find volume or alias file ({member}) referenced in alias file (DIR/{alias})."
        ))
    };
    let none = error("No database names were passed to CSeqDB::CSeqDB().");
    for (names, expected) in [
        ("", error("Database name is required.")),
        ("  ", none.clone()),
        ("\"", none),
        ("nodb", not_found("nodb")),
        ("a nodb nodb2", not_found("nodb")),
        ("\"no db\"", not_found("no db")),
        ("./nodb", not_found("./nodb")),
        ("a.pin", not_found("a.pin")),
        ("c1", cycle.clone()),
        ("self", cycle),
        ("self2", error("Error: File (DIR/self2.pin) not found.")),
        ("mm", missing("nosuch", "mm")),
        ("mm2", missing("nosuch", "mm")),
        ("n17", missing("a b", "n17")),
        ("nd", error("No database names were found in alias file [DIR/nd].")),
        ("nd2", error("No database names were found in alias file [DIR/nd].")),
    ] {
        assert_eq!(world.message(names), expected);
    }
}

#[test]
fn missing_files_and_mixed_versions_are_refused() {
    let world = World::new();
    write(world.path(), "five", &FIVE, &entries(3, 2));
    world.open("five").unwrap();
    assert_eq!(
        world.message("a five"),
        "BLAST Database error: DB list contains both Version 4 and Version 5 dbs"
    );
    std::fs::remove_file(world.path().join(FIVE.lmdb)).unwrap();
    let error = world.open("five").unwrap_err();
    assert_eq!(error.stderr_line(), "Error: mdb_env_open: No such file or directory");
    assert_eq!(error.exit_code(), 255);
    std::fs::remove_file(world.path().join("b.phr")).unwrap();
    assert_eq!(world.message("b"), "BLAST Database error: Error: File (DIR/b.phr) not found.");
    std::fs::remove_file(world.path().join("a.psq")).unwrap();
    assert_eq!(world.message("a"), "BLAST Database error: Error: File (DIR/a.psq) not found.");
}

#[test]
fn a_volume_in_the_working_directory_wins_over_the_one_beside_the_alias() {
    let world = World::new();
    let other = tempfile::tempdir().unwrap();
    write(other.path(), "a", &Label { title: "other A", ..FOUR }, &entries(9, 6));
    write(other.path(), "only", &Label { title: "only", ..FOUR }, &entries(9, 4));
    let there = other.path().to_str().unwrap();
    std::fs::write(other.path().join("al.pal"), "DBLIST a\n").unwrap();
    std::fs::write(other.path().join("al3.pal"), format!("DBLIST {there}/a\n")).unwrap();
    let open =
        |name: &str| Database::open(name, SequenceKind::Protein, &world.search(there)).unwrap();
    assert_eq!(titles(&open(&format!("{there}/a"))), "other A");
    assert_eq!(titles(&open(&format!("{there}/al"))), "A");
    assert_eq!(titles(&open("al3")), "A");
    assert_eq!(titles(&open("a")), "A");
    assert_eq!(titles(&open("only")), "only");
    // The search path finds a member that is not in the alias's directory.
    world.alias("far", "DBLIST only\n");
    assert_eq!(titles(&open("far")), "only");
    assert!(world.message("far").contains("(only) referenced in alias file (DIR/far)"));
}

#[test]
fn a_link_to_a_directory_is_the_directory() {
    let world = World::new();
    std::os::unix::fs::symlink(".", world.path().join("link")).unwrap();
    let database = world.open("link/a a").unwrap();
    assert_eq!((database.oid_count(), database.sequence_count()), (3, 6));
}

#[test]
fn lists_and_bad_numbers_are_refused_with_their_line() {
    let world = World::new();
    world.alias("l", "DBLIST a\nTILIST ids.txt\n").alias("n", "DBLIST a\n\nNSEQ 1x\n");
    let text = world.message("l");
    assert!(text.contains("(DIR/l.pal) line 2 uses TILIST"), "{text}");
    world.alias("two", "DBLIST a\n\nSEQIDLIST one two\n");
    let error = world.open("two").unwrap_err();
    assert!(error.to_string().ends_with("has multiple SEQID lists (one two)."), "{error}");
    assert!(error.missing_detail().unwrap().contains("line 3"));
    let error = world.open("n").unwrap_err();
    assert_eq!(error.exit_code(), 255);
    assert!(error.to_string().contains("line 3: NSEQ needs a whole number"), "{error}");
    world.alias("neg", "DBLIST a\nNSEQ -3\n").alias("hides", "DBLIST neg\nNSEQ 4\n");
    assert!(world.open("neg").is_err());
    // The numbers of a member are not read if the alias states them.
    assert_eq!(world.open("hides").unwrap().sequence_count(), 4);
}

#[test]
fn deep_and_wide_alias_trees_end_in_an_error() {
    let world = World::new();
    for i in 0..80 {
        world.alias(&format!("d{i}"), &format!("DBLIST d{}\n", i + 1));
        world.alias(&format!("w{i}"), &format!("DBLIST w{0} w{0} w{0}\n", i + 1));
    }
    world.alias("d80", "DBLIST a\n").alias("w20", "DBLIST a\n");
    assert!(matches!(world.open("d0"), Err(DbError::AliasTooLarge { .. })));
    assert!(matches!(world.open("w10"), Err(DbError::AliasTooLarge { .. })));
    assert_eq!(world.open("d60").unwrap().oid_count(), 3);
}
