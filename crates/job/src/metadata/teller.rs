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
use crate::plan::{Metadata, Plan};
use crate::queries::QueryRecord;
use crate::subjects::Target;

/// Tells of blocks.
pub struct Teller<'a> {
    /// As what they are told, where that can be.
    pub kind: Kind,
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
    /// As a plan asks for it.
    pub fn new(plan: &Plan, metadata: &Metadata, engine: &'a Search, target: &'a Target) -> Self {
        let is_plain = plan.params.common().filter == HspFilter::Collect;
        Teller { kind: metadata.kind, is_plain, engine, target }
    }

    /// The body of a block's record; `report` makes the parts of the report: what comes before the queries, and what is reported of
    /// each.
    ///
    /// # Errors
    /// No memory, a report that cannot be made.
    pub fn block(
        &self,
        searched: Searched,
        report: impl FnOnce() -> Result<Vec<Vec<u8>>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let Searched { records, prepared, hits, overflowed, .. } = searched;
        let found = match self.kind {
            Kind::Report => Found::report(&report()?).map_err(no_room)?,
            Kind::Oids if self.can_be_found_again(&searched) => {
                let shown: Vec<Shown> = hits.iter().zip(overflowed).map(shown).collect();
                let bytes = subjects::encode(&shown).map_err(no_room)?;
                Found { kind: Kind::Oids, bytes, digest: hits::digest(hits) }
            }
            Kind::Oids | Kind::Hits => {
                let judge = Judge::new(self.engine, prepared, self.target);
                let bytes = hits::encode(hits, &judge).map_err(no_room)?;
                Found { kind: Kind::Hits, bytes, digest: hits::digest(hits) }
            }
        };
        let block = fleetblast_metadata::Block {
            queries: records.iter().map(told).collect(),
            batches: searched.batches.iter().map(|&count| count as u32).collect(),
            course: searched.course,
            searched: searched.reach_out,
            found,
        };
        block.encode().map_err(no_room)
    }

    /// Whether a search of just what the report shows finds the same of it. Where a filter looks at all subjects of a query
    /// together, or its pieces have lists of their own, what is not shown may have its part in what is; and of a batch that is not
    /// all here it is not known what lies beside its queries.
    fn can_be_found_again(&self, searched: &Searched) -> bool {
        self.is_plain && !searched.has_pieces && searched.reach_out.is_empty()
    }
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
