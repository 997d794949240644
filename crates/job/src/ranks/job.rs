//! What every rank of a job knows: the plan, the database, and how that is cut.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_metadata::{Encoding, EncodingChoice};
use fleetblast_report::model::{self, QueryResult};
use rayon::prelude::*;

use super::sending::Watcher;
use super::wire::{self, Positions, Together};
use crate::audience::Audience;
use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::halt::Halt;
use crate::iteration::{Rules, hide_masks};
use crate::plan::Plan;
use crate::queries::{self, QueryRecord};
use crate::reports;
use crate::subjects::SubjectDatabase;

/// A job, as each rank sets it up for itself.
pub struct Job<'a> {
    /// What is to be done.
    pub plan: &'a Plan,
    /// What is searched.
    pub target: &'a SubjectDatabase,
    /// How it is reported.
    pub report: model::Setup<'a>,
    /// How it is searched.
    pub engine: Search,
    /// The same with matrices, if queries are searched again with what was found.
    pub next: Option<Search>,
    /// Who is told how it goes.
    pub audience: Arc<dyn Audience>,
    /// Ends works under way when the job cannot go on.
    pub halt: Halt,
    /// Where metadata leave for another site while they are made: what the link is seen to give. On
    /// the rank that sends.
    pub sending: Option<Watcher>,
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
    /// The link to another site, as it was seen when they were read.
    pub link: Option<LinkStatistics>,
    /// For each query whether some query of its batch can be searched.
    batch_searched: Vec<bool>,
    /// For each query what the XML report warns of.
    messages: Vec<Vec<u8>>,
    /// As reported, if not as searched.
    shown: Vec<Query>,
}

impl<'a> Job<'a> {
    /// Sets a job up; `partitions` are the OIDs of each partition. The pattern, if there is one,
    /// has so many `occurrences` in the whole database.
    pub fn new(
        plan: &'a Plan,
        target: &'a SubjectDatabase,
        audience: &Arc<dyn Audience>,
        partitions: Vec<Range<u32>>,
        occurrences: u64,
    ) -> Self {
        let (report, halt) = (reports::setup(plan, target), Halt::default());
        let engine = plan.engine(target.totals).with_occurrences(occurrences);
        let audience = Arc::clone(audience);
        let iteration = plan.iteration.as_ref();
        let next = iteration.map(|iteration| iteration.engine(target.totals, plan.kernel));
        Job { plan, target, report, engine, next, audience, halt, sending: None, partitions }
    }

    /// Whether batches depend on what was found, so that what a block found is judged.
    pub fn consults(&self) -> bool {
        self.plan.has_unknown_batches()
    }

    /// How queries are searched again, if they are.
    pub fn rules(&self) -> Option<Rules<'_>> {
        Rules::from_plan(self.plan, &self.engine, self.next.as_ref())
    }

    /// What searches a block.
    pub fn engine_of(&self, block: &Block) -> &Search {
        let has_pssm = block.prepared.iter().any(|query| query.pssm.is_some());
        self.next.as_ref().filter(|_| has_pssm).unwrap_or(&self.engine)
    }

    /// Whether a report is made here: it is written, or told as it is.
    pub fn reports(&self) -> bool {
        self.plan
            .metadata
            .as_ref()
            .is_none_or(|metadata| metadata.encodings == EncodingChoice::Only(Encoding::Report))
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
        let wire::Queries { queries, batches, together, link, .. } = wire::Queries::unpack(bytes)?;
        if together.is_some() {
            // The supermaster did, who had to know how they are searched.
            return Ok(bytes.clone());
        }
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let prepare = |record: &QueryRecord| record.prepare(&self.engine);
        let prepared: Vec<Query> = records.par_iter().map(prepare).collect();
        let findings = prepared.iter().map(Query::findings).collect();
        let lengths: Vec<usize> = batches.iter().map(|&count| count as usize).collect();
        let searched = queries::batch_searched(&prepared, &lengths, Query::is_searchable).collect();
        let grouping = self.engine.grouping(&prepared, &lengths);
        let queries = records.into_iter().map(wire::Query::from).collect();
        let together = Some(Together { grouping, searched });
        let positions = Vec::new();
        wire::Queries { queries, findings, batches, together, positions, link }.pack()
    }

    /// Queries to be searched next, each alone: all without a matrix, or all with one.
    ///
    /// # Errors
    /// None.
    pub fn pass(
        &self,
        rules: &Rules,
        queries: &[(&QueryRecord, &Query)],
    ) -> Result<wire::Bytes, Error> {
        let prepared: Vec<Query> = queries.iter().map(|(_, query)| (*query).clone()).collect();
        let positions: Vec<Positions> = prepared.iter().filter_map(Positions::of).collect();
        let grouping =
            rules.engine(!positions.is_empty()).grouping(&prepared, &vec![1; prepared.len()]);
        let searched = prepared.iter().map(Query::is_searchable).collect();
        wire::Queries {
            queries: queries.iter().map(|(record, _)| (*record).clone().into()).collect(),
            findings: prepared.iter().map(Query::findings).collect(),
            batches: vec![1; prepared.len()],
            together: Some(Together { grouping, searched }),
            positions,
            link: None,
        }
        .pack()
    }

    /// The same queries to be searched in another way.
    ///
    /// # Errors
    /// Bytes that no rank sent.
    pub fn regroup(&self, bytes: &wire::Bytes, together: Together) -> Result<wire::Bytes, Error> {
        let queries = wire::Queries::unpack(bytes)?;
        wire::Queries { together: Some(together), ..queries }.pack()
    }

    /// Makes a block of queries ready that a master prepared.
    ///
    /// # Errors
    /// Bytes that no rank sent.
    pub fn block(&self, bytes: &wire::Bytes) -> Result<Block, Error> {
        let wire::Queries { queries, findings, batches, together, positions, link } =
            wire::Queries::unpack(bytes)?;
        let together = together.ok_or_else(|| Error::engine(UNPREPARED))?;
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let batches: Vec<usize> = batches.into_iter().map(|count| count as usize).collect();
        let prepare = |(record, findings): (&QueryRecord, _)| {
            record.prepare_from_findings(&self.engine, findings)
        };
        let prepared: Vec<Query> = match &self.next {
            Some(next) if !positions.is_empty() => positions
                .into_iter()
                .zip(findings)
                .map(|(it, known)| it.query(next, known))
                .collect(),
            _ => records.iter().zip(findings).map(prepare).collect(),
        };
        let mut shown = if self.next.is_some() { prepared.clone() } else { Vec::new() };
        shown.iter_mut().for_each(hide_masks);
        Ok(Block {
            shown,
            batch_searched: together.searched,
            messages: records.iter().map(reports::xml_messages).collect(),
            grouping: together.grouping,
            records,
            prepared,
            batches,
            link,
        })
    }
}

/// A fault of the program.
const UNPREPARED: &str = "queries came to a rank that nobody had prepared";

impl Block {
    /// Residues of all queries.
    pub fn residues(&self) -> u64 {
        self.prepared.iter().map(|query| u64::from(query.length)).sum()
    }

    /// For each query whether some query of its batch can be searched.
    pub fn batch_searched(&self) -> &[bool] {
        &self.batch_searched
    }

    /// A query as it is reported.
    fn shown(&self, query: usize) -> &Query {
        self.shown.get(query).unwrap_or(&self.prepared[query])
    }

    /// A query for the report, which found `hit_count` subjects.
    pub fn result(&self, query: usize, hit_count: usize) -> QueryResult<'_> {
        QueryResult {
            batch_searched: self.batch_searched[query],
            messages: &self.messages[query],
            hit_count,
            ..reports::empty_result(&self.records[query], self.shown(query))
        }
    }
}
