//! The test of an alias file (`CAliasTest`).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use fleetblast_db::{SearchPath, SequenceKind};
use fleetblast_job::error::Error;
use fleetblast_seq::convert::parse_integer;

use super::log::{Log, describe};
use super::options::Level;
use super::volume::OpenVolume;

/// Name of the test in the output.
const TEST: &str = "AliasFileTest";

/// The numbers of an alias file; -1 for each that is missing or invalid.
struct Numbers {
    sequences: i64,
    residues: i64,
    first_oid: i64,
    last_oid: i64,
    max_oid: i64,
}

/// The test of one alias file.
struct AliasCheck<'a> {
    path: &'a [u8],
    /// Path of the directory, with the slash at its end.
    directory: &'a [u8],
    log: &'a mut Log,
    faults: usize,
    has_oid_list: bool,
    has_gi_list: bool,
    numbers: Numbers,
}

/// Tests an alias file. Returns the number of faults.
pub(super) fn check_alias(path: &[u8], search: &SearchPath, log: &mut Log) -> Result<usize, Error> {
    let slash = path.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    let mut check = AliasCheck {
        path,
        directory: &path[..slash],
        log,
        faults: 0,
        has_oid_list: false,
        has_gi_list: false,
        numbers: Numbers { sequences: -1, residues: -1, first_oid: -1, last_oid: -1, max_oid: -1 },
    };
    check.check(search)?;
    Ok(check.faults)
}

impl AliasCheck<'_> {
    fn check(&mut self, search: &SearchPath) -> Result<(), Error> {
        let text = match fs::read(OsStr::from_bytes(self.path)) {
            Ok(text) if text.is_empty() => return self.fault("alias file has zero length"),
            Ok(text) => text,
            Err(_) => return self.fault("alias file does not exist"),
        };
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
            let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
            if let Some((key, values)) = words.split_first().filter(|_| !line.starts_with(b"#")) {
                self.check_entry(key, values)?;
            }
        }
        self.check_oids()?;
        self.check_lists()?;
        self.check_database(search)
    }

    fn check_entry(&mut self, key: &[u8], values: &[&[u8]]) -> Result<(), Error> {
        let Some(value) = values.first() else {
            return self.fault([b"no value(s) found for keyword ", key].concat());
        };
        let mut no_test = -1;
        let number = match key {
            b"DBLIST" | b"TITLE" | b"MASKLIST" => return Ok(()),
            b"OIDLIST" => {
                self.has_oid_list = true;
                return self.check_files(key, Some((".msk", "oidlist")), values);
            }
            b"GILIST" => {
                self.has_gi_list = true;
                return self.check_files(key, Some((".gil", "gilist")), values);
            }
            b"TAXIDLIST" if self.log.release().checks_later_alias_entries => {
                return self.check_files(key, None, values);
            }
            b"STATS_NSEQ" | b"STATS_TOTLEN" if self.log.release().checks_later_alias_entries => {
                return Ok(());
            }
            b"NSEQ" => &mut self.numbers.sequences,
            b"LENGTH" => &mut self.numbers.residues,
            b"FIRST_OID" => &mut self.numbers.first_oid,
            b"LAST_OID" => &mut self.numbers.last_oid,
            b"MAXOID" => &mut self.numbers.max_oid,
            b"MEMB_BIT" | b"MAXLEN" => &mut no_test,
            _ => return self.fault([b"unknown keyword encountered: ", key].concat()),
        };
        let parsed = parse_integer(value, 10).ok();
        // Only the number of residues has 64 bits.
        let parsed = parsed.filter(|&value| key == b"LENGTH" || i32::try_from(value).is_ok());
        *number = parsed.unwrap_or(-1);
        match parsed {
            Some(_) => Ok(()),
            None => self.fault([b"could not convert value to number for ", key].concat()),
        }
    }

    /// Tests that the files that an entry of the alias names exist and are not empty. Warns of
    /// files without `extension`, a pair of the extension and the name for the kind of list.
    fn check_files(
        &mut self,
        key: &[u8],
        extension: Option<(&str, &str)>,
        names: &[&[u8]],
    ) -> Result<(), Error> {
        for name in names {
            let path = [self.directory, name].concat();
            let file = Path::new(OsStr::from_bytes(&path));
            let found = file.extension().map(|found| [b".", found.as_bytes()].concat());
            let missing =
                extension.filter(|(extension, _)| found.as_deref() != Some(extension.as_bytes()));
            if let Some((extension, list)) = missing {
                let end = format!(" does not have {extension} extension");
                let start = format!("  [WARNING] {list} file ");
                let text = [start.as_bytes(), name, end.as_bytes()].concat();
                self.log.result(Level::Details, (self.path, TEST), text)?;
            }
            let problem: &[u8] = match fs::metadata(file) {
                Err(_) => b" does not exist",
                Ok(file) if file.len() == 0 => b" has zero length",
                Ok(_) => continue,
            };
            self.fault([b"file ", *name, b" referenced in keyword ", key, problem].concat())?;
        }
        Ok(())
    }

    fn check_oids(&mut self) -> Result<(), Error> {
        let Numbers { sequences, first_oid, last_oid, .. } = self.numbers;
        match (first_oid, last_oid) {
            (-1, -1) => Ok(()),
            (-1, _) | (_, -1) => self.fault("FIRST_OID not paired with LAST_OID"),
            _ if sequences != -1 && sequences + first_oid - last_oid != 1 => {
                self.fault("(FIRST_OID, LAST_OID) is not consistent with NSEQ")
            }
            _ => Ok(()),
        }
    }

    fn check_lists(&mut self) -> Result<(), Error> {
        if self.has_oid_list && self.has_gi_list {
            self.fault("OIDLIST and GILIST cannot be present in the same alias file")?;
        }
        let Numbers { sequences, residues, max_oid, .. } = self.numbers;
        if self.has_oid_list && [sequences, residues, max_oid].contains(&-1) {
            self.fault("OIDLIST cannot be provided without MAXOID , LENGTH, or NSEQ")?;
        }
        Ok(())
    }

    /// Opens the database that has the name of the alias.
    fn check_database(&mut self, search: &SearchPath) -> Result<(), Error> {
        let (name, extension) = self.path.split_at(self.path.len() - ".pal".len());
        let kind = match extension[1] {
            b'p' => SequenceKind::Protein,
            _ => SequenceKind::Nucleotide,
        };
        let name = String::from_utf8_lossy(name);
        let Err(error) = OpenVolume::open(&name, Some(kind), search) else { return Ok(()) };
        self.fault("caught exception in initializing blastdb")?;
        let text = describe(self.log.release(), error);
        self.log.result(Level::Details, (self.path, TEST), text)
    }

    fn fault(&mut self, what: impl AsRef<[u8]>) -> Result<(), Error> {
        self.faults += 1;
        let text = [b"  [ERROR] ", what.as_ref()].concat();
        self.log.result(Level::Brief, (self.path, TEST), text)
    }
}
