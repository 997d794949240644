//! Masked stretches of the subjects: lower case of FASTA, or what is stored with a database.

use std::ops::Range;

use fleetblast_db::masks::Masks;
use fleetblast_db::{Database, SearchPath, SequenceKind};

use crate::audience::Audience;
use crate::error::{Error, exit};
use crate::plan::{DatabaseMask, MaskAlgorithm};

/// The masked stretches of each subject, ascending: 8 bytes for each of them and for each subject.
#[derive(Debug, Default, serde::Serialize)]
pub struct SubjectMasks {
    /// Where the stretches of each subject begin; empty without any masks.
    starts: Vec<usize>,
    stretches: Vec<Range<u32>>,
}

impl SubjectMasks {
    /// The stretches of a subject.
    pub fn of(&self, oid: u32) -> &[Range<u32>] {
        let oid = oid as usize;
        match (self.starts.get(oid), self.starts.get(oid + 1)) {
            (Some(&start), Some(&end)) => &self.stretches[start..end],
            _ => &[],
        }
    }

    /// Whether the search has no masks at all.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    fn push(&mut self, stretches: impl IntoIterator<Item = Range<u32>>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.stretches.extend(stretches);
        self.starts.push(self.stretches.len());
    }
}

impl FromIterator<Vec<Range<u32>>> for SubjectMasks {
    fn from_iter<I: IntoIterator<Item = Vec<Range<u32>>>>(subjects: I) -> Self {
        let mut masks = Self::default();
        subjects.into_iter().for_each(|stretches| masks.push(stretches));
        masks
    }
}

/// Stored masks that a search uses.
#[derive(Debug, Default)]
pub struct Stored {
    /// Of every sequence.
    pub masks: SubjectMasks,
    /// For each database named, what reports say of the algorithm.
    pub algorithms: Vec<Vec<u8>>,
}

/// The masks that the options name. Without such an algorithm BLAST+ warns and goes on.
pub fn stored(
    wanted: &DatabaseMask,
    names: &str,
    database: &Database,
    search: &SearchPath,
    audience: &dyn Audience,
) -> Result<Stored, Error> {
    let masks = database.masks()?;
    let Some(id) = algorithm(wanted, names, database.kind(), &masks)? else {
        let text =
            format!("Subject mask not found in {names}, proceeding without subject masking.");
        audience.warn(&text);
        return Ok(Stored::default());
    };
    // BLAST+ opens each database by itself for what it says of it.
    let algorithms = database.infos().iter().map(|info| {
        let name = String::from_utf8_lossy(&info.name);
        let one = Database::open(&name, database.kind(), search);
        let masks = one.and_then(|one| one.masks())?;
        let found = masks.algorithms().iter().find(|algorithm| algorithm.id == id);
        let found = found.ok_or_else(|| unsupported(id, &masks))?;
        let mut text = [b"'", &found.name[..], b"'"].concat();
        if !found.options.is_empty() {
            text.extend([b", options: '", &found.options[..], b"'"].concat());
        }
        Ok(text)
    });
    let algorithms = algorithms.collect::<Result<_, Error>>()?;
    let mut stored = Stored { algorithms, ..Stored::default() };
    for oid in 0..database.oid_count() {
        let length = database.length_of(oid);
        let mut stretches = masks.ranges(oid, id)?;
        // Whoever made them may have made mistakes.
        stretches.iter_mut().for_each(|stretch| stretch.end = stretch.end.min(length));
        stretches.retain(|stretch| !stretch.is_empty());
        stretches.sort_unstable_by_key(|stretch| stretch.start);
        stored.masks.push(stretches);
    }
    Ok(stored)
}

/// The number of the algorithm, `None` if there is no such name.
fn algorithm(
    wanted: &DatabaseMask,
    names: &str,
    kind: SequenceKind,
    masks: &Masks,
) -> Result<Option<i32>, Error> {
    let id = match &wanted.algorithm {
        MaskAlgorithm::Name(name) => return Ok(masks.named(name.as_bytes())),
        MaskAlgorithm::Number(id) => *id,
    };
    let is_known = masks.algorithms().iter().any(|algorithm| algorithm.id == id);
    match id {
        -1 => Ok(None),
        id if is_known => Ok(Some(id)),
        1.. => Err(Error::new(
            exit::INPUT,
            format!(
                "BLAST options error: Masking algorithm ID {id} is not supported in {} \
                 '{names}' BLAST database",
                kind.name()
            ),
        )),
        _ => Err(unsupported(id, masks)),
    }
}

fn unsupported(id: i32, masks: &Masks) -> Error {
    Error::database(format_args!(
        "Filtering algorithm ID {id} is not supported.\n{}",
        String::from_utf8_lossy(&masks.table())
    ))
}
