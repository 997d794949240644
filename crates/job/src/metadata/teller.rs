//! Makes metadata of what was found in a block of queries: what crosses to the other site, whoever brings it there.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::HspFilter;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_metadata::subjects::{self, Shown};
use fleetblast_metadata::{Course, Found, Kind, NoRoom, hits};

use super::judge::Judge;
use super::queries::told;
use crate::error::Error;
use crate::plan::Plan;
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// Tells of blocks.
pub struct Teller<'a> {
    /// No subject has a part in what is shown of another.
    is_plain: bool,
    engine: &'a Search,
    target: &'a Target,
}

/// A block that was searched.
pub struct Searched<'a> {
    /// Its queries, as they were read.
    pub records: &'a [QueryRecord],
    /// The same, as they were searched.
    pub prepared: &'a [Query],
    /// How many of them BLAST+ would search together.
    pub batches: &'a [usize],
    /// Where batches reach out of the block: of each query, whether some query of its batch can be searched.
    pub reach_out: Vec<bool>,
    /// What was found of each query.
    pub hits: &'a [Vec<SubjectHit>],
    /// Of each, whether more was found than that.
    pub overflowed: &'a [bool],
    /// Some are so long that they are searched in pieces.
    pub has_pieces: bool,
    /// How BLAST+ goes on after them; none amid a batch.
    pub course: Option<Course>,
}

impl<'a> Teller<'a> {
    /// Of the blocks of a plan.
    pub fn new(plan: &Plan, engine: &'a Search, target: &'a Target) -> Self {
        let is_plain =
            plan.params.common().filter == HspFilter::Collect && !plan.params.evalues_decide();
        Teller { is_plain, engine, target }
    }

    /// What is searched.
    pub fn target(&self) -> &'a Target {
        self.target
    }

    /// As what a block is told that is to be told so.
    pub fn possible(&self, kind: Kind, searched: &Searched) -> Kind {
        match kind {
            Kind::Oids if !self.can_be_found_again(searched) => Kind::Hits,
            kind => kind,
        }
    }

    /// What was found in a block, told as a kind that is [`possible`](Self::possible); `report` makes the parts of the report: what comes
    /// before the queries, and what is reported of each.
    ///
    /// # Errors
    /// No memory, a report that cannot be made.
    pub fn found(
        &self,
        kind: Kind,
        searched: &Searched,
        report: impl FnOnce() -> Result<Vec<Vec<u8>>, Error>,
    ) -> Result<Found, Error> {
        let Searched { prepared, hits, overflowed, .. } = searched;
        let bytes = match kind {
            Kind::Report => return Found::report(&report()?).map_err(no_room),
            Kind::Oids => {
                let shown: Vec<Shown> = hits.iter().zip(*overflowed).map(shown).collect();
                subjects::encode(&shown)
            }
            Kind::Hits => hits::encode(hits, &Judge::new(self.engine, prepared, self.target)),
        };
        Ok(Found { kind, bytes: bytes.map_err(no_room)?, digest: hits::digest(hits) })
    }

    /// Whether a search of just what the report shows finds the same of it. Where a filter looks at all subjects of a query
    /// together, or their number has its part in the order of a subject's HSPs, or its pieces have lists of their own, what is not shown may have its part in what is; and of a batch that is not
    /// all here it is not known what lies beside its queries.
    fn can_be_found_again(&self, searched: &Searched) -> bool {
        self.is_plain && !searched.has_pieces && searched.reach_out.is_empty()
    }
}

/// The body of a block's record.
///
/// # Errors
/// No memory.
pub fn body(searched: Searched, found: Found) -> Result<Vec<u8>, Error> {
    let block = fleetblast_metadata::Block {
        queries: searched.records.iter().map(told).collect(),
        batches: searched.batches.iter().map(|&count| count as u32).collect(),
        course: searched.course,
        searched: searched.reach_out,
        found,
    };
    block.encode().map_err(no_room)
}

/// The body of the record of a block whose queries are searched in rounds, each alone.
///
/// # Errors
/// No memory.
pub fn body_in_rounds<'r>(
    records: impl Iterator<Item = &'r QueryRecord>,
    found: Found,
) -> Result<Vec<u8>, Error> {
    let queries: Vec<_> = records.map(told).collect();
    let block = fleetblast_metadata::Block {
        batches: vec![1; queries.len()],
        queries,
        // Who goes on with it searches what is before it again.
        course: None,
        searched: Vec::new(),
        found,
    };
    block.encode().map_err(no_room)
}

/// What is shown of a query.
fn shown((hits, &overflowed): (&Vec<SubjectHit>, &bool)) -> Shown {
    let mut oids: Vec<u32> = hits.iter().map(|hit| hit.oid).collect();
    oids.sort_unstable();
    Shown { oids, overflowed }
}

/// Metadata for which there is no memory.
pub fn no_room(error: NoRoom) -> Error {
    Error::starved(error)
}
