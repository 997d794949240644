//! What every rank of a job knows: the plan, the database, and how that is cut.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_report::model::{self, QueryResult};
use rayon::prelude::*;

use super::wire;
use crate::audience::Audience;
use crate::error::Error;
use crate::halt::Halt;
use crate::plan::Plan;
use crate::queries::{self, QueryRecord};
use crate::reporting;
use crate::subjects::Target;

/// A job, as each rank sets it up for itself.
pub struct Job<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// What is searched.
    pub target: &'a Target,
    /// How it is reported.
    pub report: model::Setup<'a>,
    /// How it is searched.
    pub engine: Search,
    /// Who is told how it goes.
    pub audience: Arc<dyn Audience>,
    /// Ends works under way when the job cannot go on.
    pub halt: Halt,
    /// OIDs of each partition, ascending, without gaps.
    partitions: Vec<Range<u32>>,
}

/// A block of queries on a rank.
pub struct Block {
    /// As read.
    pub records: Vec<QueryRecord>,
    /// As searched.
    pub prepared: Vec<Query>,
    /// How many queries, one after the other, BLAST+ would search together.
    pub batches: Vec<usize>,
    /// How they are searched.
    pub grouping: Grouping,
    /// For each query whether some query of its batch can be searched.
    batch_searched: Vec<bool>,
    /// For each query what the XML report warns of.
    messages: Vec<Vec<u8>>,
}

impl<'a> Job<'a> {
    /// Sets a job up; `ranges` are the OIDs of each partition.
    pub fn new(
        plan: &'a Plan,
        target: &'a Target,
        audience: &Arc<dyn Audience>,
        partitions: Vec<Range<u32>>,
    ) -> Self {
        let (report, halt) = (reporting::setup(plan, target), Halt::default());
        let (engine, audience) = (plan.engine(target.totals), Arc::clone(audience));
        Job { plan, target, report, engine, audience, halt, partitions }
    }

    /// OIDs of a partition.
    pub fn oids(&self, partition: PartitionId) -> Range<u32> {
        self.partitions.get(partition.index()).cloned().unwrap_or(0..0)
    }

    /// OIDs of all partitions, in their order.
    pub fn partitions(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.partitions.iter().cloned()
    }

    /// The partition that holds a subject.
    pub fn partition_of(&self, oid: u32) -> PartitionId {
        PartitionId(self.partitions.partition_point(|oids| oids.end <= oid) as u32)
    }

    /// Prepares the queries of a block as they were read, on all threads of the current pool.
    ///
    /// # Errors
    /// Bytes of another build of the program.
    pub fn prepare(&self, bytes: &wire::Bytes) -> Result<wire::Bytes, Error> {
        let wire::Queries { queries, batches, .. } = wire::Queries::unpack(bytes)?;
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let find = |record: &QueryRecord| record.prepare(&self.engine).findings();
        let findings = records.par_iter().map(find).collect();
        let queries = records.into_iter().map(wire::Query::from).collect();
        wire::Queries { queries, findings, batches }.pack()
    }

    /// Makes a block of queries ready that a master prepared.
    ///
    /// # Errors
    /// Bytes that no rank sent.
    pub fn block(&self, bytes: &wire::Bytes) -> Result<Block, Error> {
        let wire::Queries { queries, findings, batches } = wire::Queries::unpack(bytes)?;
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let batches: Vec<usize> = batches.into_iter().map(|count| count as usize).collect();
        let prepare =
            |(record, findings): (&QueryRecord, _)| record.prepare_again(&self.engine, findings);
        let prepared: Vec<Query> = records.iter().zip(findings).map(prepare).collect();
        Ok(Block {
            batch_searched: queries::batch_searched(&prepared, &batches, Query::is_searchable)
                .collect(),
            messages: records.iter().map(reporting::xml_messages).collect(),
            grouping: self.engine.grouping(&prepared, &batches),
            records,
            prepared,
            batches,
        })
    }
}

impl Block {
    /// Residues of all queries.
    pub fn residues(&self) -> u64 {
        self.prepared.iter().map(|query| u64::from(query.length)).sum()
    }

    /// A query for the report, which found `hit_count` subjects.
    pub fn result(&self, query: usize, hit_count: usize) -> QueryResult<'_> {
        QueryResult {
            batch_searched: self.batch_searched[query],
            messages: &self.messages[query],
            hit_count,
            ..reporting::result(&self.records[query], &self.prepared[query])
        }
    }
}
