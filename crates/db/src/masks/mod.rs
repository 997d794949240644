//! Masks stored with a database: the ranges of each sequence that an algorithm masks.

mod column;

use std::collections::HashSet;
use std::ops::Range;

pub use self::column::{ColumnAlgorithm, MaskColumn};
use crate::bytes::FileBytes;
use crate::{Database, DbError};

/// Byte that stands for a colon within a field of a description.
const COLON: u8 = 1;
/// Programs that have a fixed number (`EBlast_filter_program`, blastdb.asn).
const PROGRAMS: [(i32, &str); 7] = [
    (0, "not-set"),
    (10, "dust"),
    (20, "seg"),
    (30, "windowmasker"),
    (40, "repeat"),
    (100, "other"),
    (255, "max"),
];

/// A masking algorithm for which a database has masks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaskAlgorithm {
    /// Number of the algorithm in the database.
    pub id: i32,
    /// Number of the program; for an algorithm that a user named, the identifier that the user
    /// gave.
    pub program: Vec<u8>,
    /// Name of the program or the algorithm.
    pub name: Vec<u8>,
    /// Options of the program; empty for its default options.
    pub options: Vec<u8>,
    /// Text that is equal for the same algorithm in all volumes.
    key: Vec<u8>,
}

/// The stored masks of all volumes of a database.
#[derive(Debug)]
pub struct DatabaseMasks {
    /// Masks of each volume.
    volumes: Vec<VolumeMasks>,
    /// Masking algorithms in ascending order of their numbers.
    algorithms: Vec<MaskAlgorithm>,
}

/// Masks of a volume. `files` is `None` if it has no masks.
#[derive(Debug)]
struct VolumeMasks {
    oids: Range<u32>,
    files: Option<Files>,
    /// Two numbers of each algorithm: that in the database, and that in the volume.
    ids: Vec<(i32, i32)>,
}

#[derive(Debug)]
struct Files {
    index_path: std::path::PathBuf,
    data_path: std::path::PathBuf,
    index: FileBytes,
    data: FileBytes,
}

impl Files {
    fn column(&self) -> Result<MaskColumn<'_>, DbError> {
        MaskColumn::open(&self.index, &self.data).map_err(|damage| DbError::DamagedLookupFile {
            path: self.index_path.clone(),
            offset: damage.offset as u64,
            problem: damage.problem,
        })
    }
}

impl Database {
    /// Opens the masks that are stored with the volumes of this database.
    ///
    /// # Errors
    /// [`DbError::DuplicateMaskAlgorithm`]; those of damaged files.
    pub fn masks(&self) -> Result<DatabaseMasks, DbError> {
        let mut masks = DatabaseMasks { volumes: Vec::new(), algorithms: Vec::new() };
        for (volume, oids) in self.volumes() {
            let (index_path, data_path) =
                (volume.auxiliary_path("aa"), volume.auxiliary_path("ac"));
            let mut ids = Vec::new();
            let mut files = None;
            if index_path.exists() {
                let (index, data) = (FileBytes::map(&index_path)?, FileBytes::map(&data_path)?);
                let held = Files { index_path, data_path, index, data };
                let column = held.column()?;
                if column.sequence_count() as usize != oids.len() {
                    return Err(DbError::DamagedLookupFile {
                        path: held.index_path,
                        offset: 12,
                        problem: "another number of sequences than in the volume",
                    });
                }
                let mut named = column.algorithms().to_vec();
                // BLAST+ sorts the numbers as texts.
                named.sort_by_key(|algorithm| algorithm.id.to_string());
                if let Some(description) = repeated_description(&named) {
                    let (volume, description) = (volume.name().to_owned(), description.to_vec());
                    return Err(DbError::DuplicateMaskAlgorithm { volume, description });
                }
                for algorithm in named {
                    let id = masks.number(&algorithm).ok_or(DbError::DamagedLookupFile {
                        path: held.index_path.clone(),
                        offset: 32,
                        problem: "an algorithm without a description",
                    })?;
                    ids.push((id, algorithm.id));
                }
                files = Some(held);
            }
            // If another process replaced the volume, the mask files may belong to the new
            // database.
            volume.verify_paths()?;
            masks.volumes.push(VolumeMasks { oids, files, ids });
        }
        masks.algorithms.sort_by_key(|algorithm| algorithm.id);
        Ok(masks)
    }
}

/// Returns the first description that equals an earlier one. Of an algorithm that a user named,
/// only the name counts (`s_CheckUniqueValues`, seqdbimpl.cpp).
fn repeated_description(algorithms: &[ColumnAlgorithm]) -> Option<&[u8]> {
    let mut seen = HashSet::new();
    algorithms.iter().map(|algorithm| &algorithm.description[..]).find(|&description| {
        let parts: Vec<&[u8]> = description.split(|&byte| byte == b':').collect();
        !seen.insert(if let [_, _, name, _] = parts[..] { name } else { description })
    })
}

impl DatabaseMasks {
    /// Returns the masking algorithms in ascending order of their numbers.
    pub fn algorithms(&self) -> &[MaskAlgorithm] {
        &self.algorithms
    }

    /// Finds the number of an algorithm by its name on the command line. This is the name that a
    /// user gave to the algorithm, or the whole description, such as `20:window=12; locut=2.2;
    /// hicut=2.5`.
    pub fn algorithm_by_name(&self, name: &[u8]) -> Option<i32> {
        self.algorithms.iter().find(|algorithm| algorithm.key == name).map(|found| found.id)
    }

    /// Formats the table of algorithms as BLAST+ prints it, after an empty line. The result is
    /// empty if there are no algorithms.
    pub fn format_table(&self) -> Vec<u8> {
        if self.algorithms.is_empty() {
            return Vec::new();
        }
        let mut table =
            b"\nAvailable filtering algorithms applied to database sequences:\n\n".to_vec();
        let mut row = |id: &[u8], name: &[u8], options: &[u8]| {
            for (text, width) in [(id, 13), (name, 40), (options, 40)] {
                table.extend_from_slice(text);
                table.resize(table.len() + usize::saturating_sub(width, text.len()), b' ');
            }
            table.push(b'\n');
        };
        row(b"Algorithm ID", b"Algorithm name", b"Algorithm options");
        for algorithm in &self.algorithms {
            let is_number = std::str::from_utf8(&algorithm.program)
                .is_ok_and(|program| program.parse::<i32>().is_ok());
            let name = if is_number { &algorithm.name } else { &algorithm.program };
            let options: &[u8] = match algorithm.options.is_empty() {
                true => b"default options used",
                false => &algorithm.options,
            };
            row(algorithm.id.to_string().as_bytes(), name, options);
        }
        table
    }

    /// Returns the masks of an algorithm in a sequence: half-open ranges from 0, as stored. The
    /// result is empty if there are none, or if the algorithm is unknown.
    ///
    /// # Errors
    /// [`DbError::DamagedLookupFile`] for damaged files.
    pub fn ranges(&self, oid: u32, algorithm: i32) -> Result<Vec<Range<u32>>, DbError> {
        let volume = self.volumes.iter().find(|volume| volume.oids.contains(&oid));
        let Some(VolumeMasks { oids, files: Some(files), ids }) = volume else {
            return Ok(Vec::new());
        };
        let Some((_, id)) = ids.iter().find(|(id, _)| *id == algorithm) else {
            return Ok(Vec::new());
        };
        let ranges = files.column()?.ranges(oid - oids.start, *id);
        let ranges = ranges.map_err(|damage| DbError::DamagedLookupFile {
            path: if damage.offset == 0 { &files.index_path } else { &files.data_path }.clone(),
            offset: damage.offset as u64,
            problem: damage.problem,
        })?;
        Ok(ranges.collect())
    }

    /// Returns the number in the database of a volume's algorithm. Adds the algorithm if it is new.
    /// A new algorithm keeps its number from the volume, unless another algorithm has this number
    /// (`CSeqDB_IdRemapper::AddMapping`, seqdbimpl.cpp). Returns `None` if the description cannot
    /// be parsed.
    fn number(&mut self, algorithm: &ColumnAlgorithm) -> Option<i32> {
        let parts: Vec<&[u8]> = algorithm.description.split(|&b| b == b':').collect();
        let restored = |part: &[u8]| -> Vec<u8> {
            part.iter().map(|&b| if b == COLON { b':' } else { b }).collect()
        };
        let (program, name, options, key) = match parts[..] {
            [program, options] => {
                let number = std::str::from_utf8(program).ok()?.parse::<i32>().ok()?;
                let known = PROGRAMS.iter().find(|(id, _)| *id == number);
                let name = known.map_or(&b""[..], |(_, name)| name.as_bytes());
                let key = algorithm.description.clone();
                (program.to_vec(), name.to_vec(), restored(options), key)
            }
            [program, options, name, _] => {
                (restored(program), restored(name), restored(options), name.to_vec())
            }
            _ => return None,
        };
        if let Some(known) = self.algorithms.iter().find(|known| known.key == key) {
            return Some(known.id);
        }
        let taken = |id: i32| self.algorithms.iter().any(|known| known.id == id);
        let id = match taken(algorithm.id) {
            false => algorithm.id,
            true => (100..).find(|&id| !taken(id))?,
        };
        self.algorithms.push(MaskAlgorithm { id, program, name, options, key });
        Some(id)
    }
}
