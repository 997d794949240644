//! Parses arbitrary text as an alias file, and opens a database through it.
#![no_main]

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use fleetblast_db::alias::AliasFile;
use fleetblast_db::{Database, SearchPath, SequenceKind};
use libfuzzer_sys::fuzz_target;

/// Returns a directory with an empty volume `v`, made once in each process.
fn directory() -> &'static Path {
    static DIRECTORY: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIRECTORY
        .get_or_init(|| {
            let made = tempfile::tempdir().expect("a temporary directory");
            let fields: [u32; 4] = [4, 1, 0, 0].map(u32::to_be);
            let mut index: Vec<u8> = fields.iter().flat_map(|word| word.to_ne_bytes()).collect();
            // The volume has no sequences, no residues, and one offset of each kind.
            index.resize(index.len() + 4 + 8 + 4 + 8, 0);
            std::fs::write(made.path().join("v.pin"), index).expect("a volume");
            made
        })
        .path()
}

fuzz_target!(|text: &[u8]| {
    let alias = AliasFile::parse(text);
    for key in ["NSEQ", "LENGTH", "FIRST_OID"] {
        if let Ok(Some(number)) = alias.parse_number(key, 1000, Path::new("f.pal")) {
            assert!(number <= 1000);
        }
    }
    assert!(alias.member_names().iter().all(|name| !name.is_empty()));
    let search = SearchPath::new(directory(), OsStr::new(""), None);
    std::fs::write(directory().join("f.pal"), text).expect("an alias");
    if let Ok(database) = Database::open("f v", SequenceKind::Protein, &search) {
        assert!(database.included_oids().is_empty());
    }
});
