//! Data that every rank of a job has: the plan, the database, and its partitions.

use std::ops::Range;
use std::sync::Arc;

use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_metadata::{Encoding, EncodingChoice};
use fleetblast_report::model::{self, QueryResult};
use rayon::prelude::*;

use super::metadata_stream::StreamObserver;
use super::wire::{self, BatchGrouping, PositionScores};
use crate::audience::Audience;
use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::halt::Halt;
use crate::iteration::{Rules, hide_masks};
use crate::plan::Plan;
use crate::queries::{self, QueryRecord};
use crate::reports;
use crate::subjects::SubjectDatabase;

/// A job, as each rank creates it for itself.
pub struct RankJob<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The database.
    pub target: &'a SubjectDatabase,
    /// Setup of the report.
    pub report: model::Setup<'a>,
    /// The engine.
    pub engine: Search,
    /// The engine for matrices, if queries are searched again.
    pub pssm_engine: Option<Search>,
    /// Receives warnings and progress.
    pub audience: Arc<dyn Audience>,
    /// Stops work in progress when the job cannot go on.
    pub halt: Halt,
    /// The state of the link, on the rank that sends metadata to another site.
    pub stream: Option<StreamObserver>,
    /// OIDs of each partition, ascending, without gaps.
    partitions: Vec<Range<u32>>,
}

/// A block of queries that is ready to be searched.
pub struct PreparedBlock {
    /// The queries as read.
    pub records: Vec<QueryRecord>,
    /// The queries as searched.
    pub prepared: Vec<Query>,
    /// Number of consecutive queries in each batch that BLAST+ would search together.
    pub batches: Vec<usize>,
    /// The parameters that the engine needs.
    pub grouping: Grouping,
    /// The link to another site, as measured when the queries were read.
    pub link: Option<LinkStatistics>,
    /// For each query, whether some query of its batch can be searched.
    batch_searched: Vec<bool>,
    /// Warnings of each query for the XML report.
    messages: Vec<Vec<u8>>,
    /// The queries as reported; empty if they are reported as searched.
    reported: Vec<Query>,
}

impl<'a> RankJob<'a> {
    /// Creates a job. `partitions` are the OIDs of each partition. The plan's pattern has
    /// `occurrences` in the whole database.
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
        let pssm_engine = iteration.map(|iteration| iteration.engine(target.totals, plan.kernel));
        RankJob {
            plan,
            target,
            report,
            engine,
            pssm_engine,
            audience,
            halt,
            stream: None,
            partitions,
        }
    }

    /// Returns whether batches depend on hits, so that the supermaster verifies each block.
    pub fn verifies_blocks(&self) -> bool {
        self.plan.has_unknown_batches()
    }

    /// Returns the rules of psiblast, if queries are searched again.
    pub fn iteration_rules(&self) -> Option<Rules<'_>> {
        Rules::from_plan(self.plan, &self.engine, self.pssm_engine.as_ref())
    }

    /// Returns the engine for a block.
    pub fn engine_for(&self, block: &PreparedBlock) -> &Search {
        let has_pssm = block.prepared.iter().any(|query| query.pssm.is_some());
        self.pssm_engine.as_ref().filter(|_| has_pssm).unwrap_or(&self.engine)
    }

    /// Returns whether this site makes the report, to be written or to be sent as metadata.
    pub fn makes_report(&self) -> bool {
        self.plan
            .metadata
            .as_ref()
            .is_none_or(|metadata| metadata.encodings == EncodingChoice::Only(Encoding::Report))
    }

    /// Returns the OIDs of a partition.
    pub fn oids(&self, partition: PartitionId) -> Range<u32> {
        self.partitions.get(partition.index()).cloned().unwrap_or(0..0)
    }

    /// Returns the OIDs of all partitions, in their order.
    pub fn partitions(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        self.partitions.iter().cloned()
    }

    /// Returns the partition that holds a subject.
    pub fn partition_of(&self, oid: u32) -> PartitionId {
        PartitionId(self.partitions.partition_point(|oids| oids.end <= oid) as u32)
    }

    /// Prepares the queries of a block, on all threads of the current pool.
    ///
    /// # Errors
    /// The bytes come from another build of the program.
    pub fn prepare(&self, bytes: &wire::Bytes) -> Result<wire::Bytes, Error> {
        let wire::QueryBlock { queries, batches, batch_grouping, link, .. } =
            wire::QueryBlock::decode(bytes)?;
        if batch_grouping.is_some() {
            // The supermaster has prepared them, because it predicts their batches.
            return Ok(bytes.clone());
        }
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let prepare = |record: &QueryRecord| record.prepare(&self.engine);
        let prepared: Vec<Query> = records.par_iter().map(prepare).collect();
        let findings = prepared.iter().map(Query::findings).collect();
        let lengths: Vec<usize> = batches.iter().map(|&count| count as usize).collect();
        let searched = queries::batch_searched(&prepared, &lengths, Query::is_searchable).collect();
        let grouping = self.engine.grouping(&prepared, &lengths);
        let queries = records.into_iter().map(wire::RawQuery::from).collect();
        let batch_grouping = Some(BatchGrouping { grouping, searched });
        let position_scores = Vec::new();
        wire::QueryBlock { queries, findings, batches, batch_grouping, position_scores, link }
            .encode()
    }

    /// Encodes queries for their next iteration. Each is a batch of its own. All of them have a
    /// matrix, or none has.
    ///
    /// # Errors
    /// The block cannot be encoded.
    pub fn encode_pass(
        &self,
        rules: &Rules,
        queries: &[(&QueryRecord, &Query)],
    ) -> Result<wire::Bytes, Error> {
        let prepared: Vec<Query> = queries.iter().map(|(_, query)| (*query).clone()).collect();
        let position_scores: Vec<PositionScores> =
            prepared.iter().filter_map(PositionScores::from_query).collect();
        let grouping =
            rules.engine(!position_scores.is_empty()).grouping(&prepared, &vec![1; prepared.len()]);
        let searched = prepared.iter().map(Query::is_searchable).collect();
        wire::QueryBlock {
            queries: queries.iter().map(|(record, _)| (*record).clone().into()).collect(),
            findings: prepared.iter().map(Query::findings).collect(),
            batches: vec![1; prepared.len()],
            batch_grouping: Some(BatchGrouping { grouping, searched }),
            position_scores,
            link: None,
        }
        .encode()
    }

    /// Encodes the same queries with another grouping.
    ///
    /// # Errors
    /// The bytes are not a block.
    pub fn regroup(
        &self,
        bytes: &wire::Bytes,
        batch_grouping: BatchGrouping,
    ) -> Result<wire::Bytes, Error> {
        let queries = wire::QueryBlock::decode(bytes)?;
        wire::QueryBlock { batch_grouping: Some(batch_grouping), ..queries }.encode()
    }

    /// Decodes a block that a master has prepared, and makes it ready for searching.
    ///
    /// # Errors
    /// The bytes are not a block.
    pub fn decode_block(&self, bytes: &wire::Bytes) -> Result<PreparedBlock, Error> {
        let wire::QueryBlock { queries, findings, batches, batch_grouping, position_scores, link } =
            wire::QueryBlock::decode(bytes)?;
        let batch_grouping = batch_grouping.ok_or_else(|| Error::engine(UNPREPARED))?;
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let batches: Vec<usize> = batches.into_iter().map(|count| count as usize).collect();
        let prepare = |(record, findings): (&QueryRecord, _)| {
            record.prepare_from_findings(&self.engine, findings)
        };
        let prepared: Vec<Query> = match &self.pssm_engine {
            Some(pssm_engine) if !position_scores.is_empty() => position_scores
                .into_iter()
                .zip(findings)
                .map(|(it, known)| it.into_query(pssm_engine, known))
                .collect(),
            _ => records.iter().zip(findings).map(prepare).collect(),
        };
        let mut reported = if self.pssm_engine.is_some() { prepared.clone() } else { Vec::new() };
        reported.iter_mut().for_each(hide_masks);
        Ok(PreparedBlock {
            reported,
            batch_searched: batch_grouping.searched,
            messages: records.iter().map(reports::xml_messages).collect(),
            grouping: batch_grouping.grouping,
            records,
            prepared,
            batches,
            link,
        })
    }
}

/// A fault of the program.
const UNPREPARED: &str = "a rank received queries that were not prepared";

impl PreparedBlock {
    /// Returns the residues of all queries.
    pub fn residues(&self) -> u64 {
        self.prepared.iter().map(|query| u64::from(query.length)).sum()
    }

    /// Returns for each query whether some query of its batch can be searched.
    pub fn batch_searched(&self) -> &[bool] {
        &self.batch_searched
    }

    /// Returns a query in the form in which the report shows it.
    fn reported_query(&self, query: usize) -> &Query {
        self.reported.get(query).unwrap_or(&self.prepared[query])
    }

    /// Returns a query for the report, with the number of its subjects.
    pub fn query_result(&self, query: usize, hit_count: usize) -> QueryResult<'_> {
        QueryResult {
            batch_searched: self.batch_searched[query],
            messages: &self.messages[query],
            hit_count,
            ..reports::empty_result(&self.records[query], self.reported_query(query))
        }
    }
}
