//! Data that every rank of a job has: the plan, the database, and its partitions.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use fleetblast_db::load::{LoaderChoice, MemoryLoader};
use fleetblast_engine::grouping::Grouping;
use fleetblast_engine::query::Query;
use fleetblast_engine::search::Search;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_report::model::{self, QueryResult};
use rayon::prelude::*;

use super::metadata_stream::StreamObserver;
use super::wire::{self, BatchGrouping, PssmQuery};
use crate::audience::Audience;
use crate::cost::LinkStatistics;
use crate::error::Error;
use crate::halt::Halt;
use crate::iteration::{IterationRules, hide_masks};
use crate::plan::Plan;
use crate::queries::{self, QueryRecord};
use crate::reports;
use crate::subjects::SubjectDatabase;

/// The data of a job. Each process creates its own copy.
pub struct RankJob<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The database.
    pub subjects: &'a SubjectDatabase,
    /// Setup of the report.
    pub report: model::ReportSetup<'a>,
    /// The engine that searches queries without a PSSM.
    pub engine: Search,
    /// The engine that searches queries with a PSSM, if the job has iterations (psiblast).
    pub pssm_engine: Option<Search>,
    /// Receives warnings and progress.
    pub audience: Arc<dyn Audience>,
    /// Stops work in progress if the job cannot continue.
    pub halt: Halt,
    /// How each rank loads its partitions.
    pub loader: LoaderChoice,
    /// Partitions that all processes loaded together, set before the ranks begin (`-loader
    /// broadcast`).
    pub loaded_partitions: OnceLock<HashMap<PartitionId, MemoryLoader>>,
    /// Observer of the link, on the rank that sends metadata to the I/O site.
    pub stream: Option<StreamObserver>,
    /// OIDs of each partition. The ranges ascend without gaps.
    partitions: Vec<Range<u32>>,
}

/// A block of queries, prepared for the search.
pub struct PreparedBlock {
    /// The queries as read.
    pub records: Vec<QueryRecord>,
    /// The queries as the engine searches them.
    pub prepared: Vec<Query>,
    /// Number of consecutive queries in each batch of BLAST+.
    pub batches: Vec<usize>,
    /// How the engine groups the queries.
    pub grouping: Grouping,
    /// The link to the I/O site, as measured when the queries were read.
    pub link: Option<LinkStatistics>,
    /// For each query, whether its batch has a searchable query.
    batch_searched: Vec<bool>,
    /// Warnings of each query for the XML report.
    messages: Vec<Vec<u8>>,
    /// The queries as the report shows them; empty if they equal `prepared`.
    reported: Vec<Query>,
}

impl<'a> RankJob<'a> {
    /// Creates the data of a job. `partitions` has the OIDs of each partition. `occurrences` is the
    /// number of occurrences of the plan's pattern in the whole database.
    pub fn new(
        plan: &'a Plan,
        subjects: &'a SubjectDatabase,
        audience: &Arc<dyn Audience>,
        partitions: Vec<Range<u32>>,
        loader: LoaderChoice,
        occurrences: u64,
    ) -> Self {
        let (report, halt) = (reports::setup(plan, subjects), Halt::default());
        let engine = plan.engine(subjects.totals).with_occurrences(occurrences);
        let audience = Arc::clone(audience);
        let iteration = plan.iteration.as_ref();
        let pssm_engine = iteration.map(|iteration| iteration.engine(subjects.totals, plan.kernel));
        RankJob {
            plan,
            subjects,
            report,
            engine,
            pssm_engine,
            audience,
            halt,
            loader,
            loaded_partitions: OnceLock::new(),
            stream: None,
            partitions,
        }
    }

    /// Returns whether batches depend on hits, so that the supermaster verifies each block.
    pub fn verifies_blocks(&self) -> bool {
        self.plan.has_unknown_batches()
    }

    /// Returns the rules for the iterations of psiblast; `None` for other programs.
    pub fn iteration_rules(&self) -> Option<IterationRules<'_>> {
        IterationRules::from_plan(self.plan, &self.engine, self.pssm_engine.as_ref())
    }

    /// Returns the engine for a block: the engine for PSSMs if a query of the block has a PSSM.
    pub fn engine_for(&self, block: &PreparedBlock) -> &Search {
        let has_pssm = block.prepared.iter().any(|query| query.pssm.is_some());
        self.pssm_engine.as_ref().filter(|_| has_pssm).unwrap_or(&self.engine)
    }

    /// Returns whether this site makes the report, to write it or to send it as metadata.
    pub fn formats_report(&self) -> bool {
        self.plan.metadata.as_ref().is_none_or(|metadata| metadata.encodings.sends_report())
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
            // The supermaster has already prepared the queries, because it predicts their batches.
            return Ok(bytes.clone());
        }
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let prepare = |record: &QueryRecord| record.prepare(&self.engine);
        let prepared: Vec<Query> = records.par_iter().map(prepare).collect();
        let preparations = prepared.iter().map(Query::to_preparation).collect();
        let lengths: Vec<usize> = batches.iter().map(|&count| count as usize).collect();
        let searched = queries::batch_searched(&prepared, &lengths, Query::is_searchable).collect();
        let grouping = self.engine.grouping(&prepared, &lengths);
        let queries = records.into_iter().map(wire::WireQuery::from).collect();
        let batch_grouping = Some(BatchGrouping { grouping, searched });
        let pssm_queries = Vec::new();
        wire::QueryBlock { queries, preparations, batches, batch_grouping, pssm_queries, link }
            .encode()
    }

    /// Encodes queries for their next iteration. Each query is a batch of its own. Either all
    /// queries have a PSSM, or none has.
    ///
    /// # Errors
    /// The block cannot be encoded.
    pub fn encode_pass(
        &self,
        rules: &IterationRules,
        queries: &[(&QueryRecord, &Query)],
    ) -> Result<wire::Bytes, Error> {
        let prepared: Vec<Query> = queries.iter().map(|(_, query)| (*query).clone()).collect();
        let pssm_queries: Vec<PssmQuery> =
            prepared.iter().filter_map(PssmQuery::from_query).collect();
        let grouping =
            rules.engine(!pssm_queries.is_empty()).grouping(&prepared, &vec![1; prepared.len()]);
        let searched = prepared.iter().map(Query::is_searchable).collect();
        wire::QueryBlock {
            queries: queries.iter().map(|(record, _)| (*record).clone().into()).collect(),
            preparations: prepared.iter().map(Query::to_preparation).collect(),
            batches: vec![1; prepared.len()],
            batch_grouping: Some(BatchGrouping { grouping, searched }),
            pssm_queries,
            link: None,
        }
        .encode()
    }

    /// Encodes the queries of an encoded block with another grouping.
    ///
    /// # Errors
    /// The bytes are not an encoded block.
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
    /// The bytes are not an encoded block, or its queries were not prepared.
    pub fn decode_block(&self, bytes: &wire::Bytes) -> Result<PreparedBlock, Error> {
        let wire::QueryBlock { queries, preparations, batches, batch_grouping, pssm_queries, link } =
            wire::QueryBlock::decode(bytes)?;
        let batch_grouping = batch_grouping.ok_or_else(|| Error::engine(UNPREPARED))?;
        let records: Vec<QueryRecord> = queries.into_iter().map(QueryRecord::from).collect();
        let batches: Vec<usize> = batches.into_iter().map(|count| count as usize).collect();
        let prepare = |(record, preparation): (&QueryRecord, _)| {
            record.restore_query(&self.engine, preparation)
        };
        let prepared: Vec<Query> = match &self.pssm_engine {
            Some(pssm_engine) if !pssm_queries.is_empty() => pssm_queries
                .into_iter()
                .zip(preparations)
                .map(|(it, known)| it.into_query(pssm_engine, known))
                .collect(),
            _ => records.iter().zip(preparations).map(prepare).collect(),
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

/// Message for queries without preparation, a fault of the program.
const UNPREPARED: &str = "a rank received queries that were not prepared";

impl PreparedBlock {
    /// Returns the residues of all queries.
    pub fn residues(&self) -> u64 {
        self.prepared.iter().map(|query| u64::from(query.length)).sum()
    }

    /// Returns for each query whether its batch has a searchable query.
    pub fn batch_searched(&self) -> &[bool] {
        &self.batch_searched
    }

    /// Returns a query as the report shows it.
    fn reported_query(&self, query: usize) -> &Query {
        self.reported.get(query).unwrap_or(&self.prepared[query])
    }

    /// Returns the data of a query for the report, which shows `hit_count` subjects of the query.
    pub fn query_result(&self, query: usize, hit_count: usize) -> QueryResult<'_> {
        QueryResult {
            batch_searched: self.batch_searched[query],
            messages: &self.messages[query],
            hit_count,
            ..reports::empty_result(&self.records[query], self.reported_query(query))
        }
    }
}
