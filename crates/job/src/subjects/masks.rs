//! Masked ranges of the subjects: lower case in FASTA, or masks stored with a database.

use std::ops::Range;

use fleetblast_db::masks::DatabaseMasks;
use fleetblast_db::{Database, DbError, SearchPath, SequenceKind};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{DatabaseMask, MaskAlgorithm};

/// The masked ranges of each subject, ascending. Each range and each subject takes 8 bytes.
#[derive(Debug, Default, serde::Serialize)]
pub struct SubjectMasks {
    /// Index of the first range of each subject, and the number of all ranges at the end. Empty
    /// without any masks.
    starts: Vec<usize>,
    ranges: Vec<Range<u32>>,
}

impl SubjectMasks {
    /// Returns the masked ranges of a subject.
    pub fn ranges_of(&self, oid: u32) -> &[Range<u32>] {
        let oid = oid as usize;
        match (self.starts.get(oid), self.starts.get(oid + 1)) {
            (Some(&start), Some(&end)) => &self.ranges[start..end],
            _ => &[],
        }
    }

    /// Returns whether the search uses no masks at all.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn push(&mut self, ranges: impl IntoIterator<Item = Range<u32>>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.ranges.extend(ranges);
        self.starts.push(self.ranges.len());
    }
}

impl FromIterator<Vec<Range<u32>>> for SubjectMasks {
    fn from_iter<I: IntoIterator<Item = Vec<Range<u32>>>>(subjects: I) -> Self {
        let mut masks = Self::default();
        subjects.into_iter().for_each(|ranges| masks.push(ranges));
        masks
    }
}

/// Stored masks that a search uses.
#[derive(Debug, Default)]
pub struct StoredMasks {
    /// The masks of all sequences.
    pub masks: SubjectMasks,
    /// For each database named by the user, the text about the masking algorithm in reports.
    pub algorithms: Vec<Vec<u8>>,
}

/// Reads the stored masks that the options select. `names` are the databases as typed. BLAST+ warns
/// and continues if the selected algorithm does not exist.
pub fn read_stored_masks(
    wanted: &DatabaseMask,
    names: &str,
    database: &Database,
    search: &SearchPath,
    audience: &dyn Audience,
) -> Result<StoredMasks, Error> {
    let masks = database.masks();
    let Some((masks, id)) = algorithm(wanted, names, database.kind(), masks)? else {
        let text =
            format!("Subject mask not found in {names}, proceeding without subject masking.");
        audience.warn(&text);
        return Ok(StoredMasks::default());
    };
    // BLAST+ opens each database separately for this text.
    let algorithms = database.database_infos().iter().map(|info| {
        let name = String::from_utf8_lossy(&info.name);
        let single = Database::open(&name, database.kind(), search);
        let masks = single.and_then(|single| single.masks())?;
        let found = masks.algorithms().iter().find(|algorithm| algorithm.id == id);
        let found = found.ok_or_else(|| unsupported_error(id, &masks))?;
        let mut text = [b"'", &found.name[..], b"'"].concat();
        if !found.options.is_empty() {
            text.extend([b", options: '", &found.options[..], b"'"].concat());
        }
        Ok(text)
    });
    let algorithms = algorithms.collect::<Result<_, Error>>()?;
    let mut stored = StoredMasks { algorithms, ..StoredMasks::default() };
    for oid in 0..database.oid_count() {
        let length = database.length_of(oid);
        let mut ranges = masks.ranges(oid, id)?;
        // Corrects possible mistakes of the program that made the masks.
        ranges.iter_mut().for_each(|range| range.end = range.end.min(length));
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        stored.masks.push(ranges);
    }
    Ok(stored)
}

/// Returns the masks and the number of the wanted algorithm; `None` for an unknown name, and for
/// the number -1. If the database has several algorithms of one description, BLAST+ finds no name
/// (`CSearchDatabase::GetFilteringAlgorithm`, uniform_search.cpp), and numbers are errors.
fn algorithm(
    wanted: &DatabaseMask,
    names: &str,
    kind: SequenceKind,
    masks: Result<DatabaseMasks, DbError>,
) -> Result<Option<(DatabaseMasks, i32)>, Error> {
    let masks = match (masks, &wanted.algorithm) {
        (
            Err(DbError::DuplicateMaskAlgorithm { .. }),
            MaskAlgorithm::Name(_) | MaskAlgorithm::Number(-1),
        ) => return Ok(None),
        (masks, _) => masks?,
    };
    let id = match &wanted.algorithm {
        MaskAlgorithm::Name(name) => {
            let id = masks.algorithm_by_name(name.as_bytes());
            return Ok(id.map(|id| (masks, id)));
        }
        MaskAlgorithm::Number(id) => *id,
    };
    let is_known = masks.algorithms().iter().any(|algorithm| algorithm.id == id);
    match id {
        -1 => Ok(None),
        id if is_known => Ok(Some((masks, id))),
        1.. => Err(Error::new(
            exit::INPUT,
            format!(
                "BLAST options error: Masking algorithm ID {id} is not supported in {} \
                 '{names}' BLAST database",
                kind.name()
            ),
        )),
        _ => Err(unsupported_error(id, &masks)),
    }
}

fn unsupported_error(id: i32, masks: &DatabaseMasks) -> Error {
    Error::database(format_args!(
        "Filtering algorithm ID {id} is not supported.\n{}",
        String::from_utf8_lossy(&masks.format_table())
    ))
}
