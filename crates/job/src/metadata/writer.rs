//! Writes the metadata of a search instead of its report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::search::Search;
use fleetblast_metadata::header::{Database, DatabaseFingerprint, Header, Paragraph};
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::{BatchState, BlockResults, EncodingChoice};

use super::chooser::SearchCapacity;
use super::encoder::{SearchedBlock, encode_end, encode_iterated_block, memory_error};
use super::fingerprint::fingerprint_database;
use super::iterations::encode_iterations;
use super::record_encoder::RecordEncoder;
use super::resume::ResumeVerifier;
use super::sink::{ANOTHER_RECEIVER, HeldMetadata, MetadataSink};
use crate::audience::{Audience, SilentAudience};
use crate::cost::EncodingCosts;
use crate::digest::checksum;
use crate::error::{Error, exit};
use crate::halt::Halt;
use crate::inputs;
use crate::io_channel::IoChannel;
use crate::iteration::IteratedQuery;
use crate::iteration::IterationRules;
use crate::output::ReportSink;
use crate::plan::{Format, Metadata, Plan};
use crate::queries::{PreparedBlock, QueryRecord};
use crate::reports::Reporter;
use crate::search::{Repeats, TwoPhaseSearch};
use crate::subjects::SubjectDatabase;

/// Writer of the metadata of a search.
pub struct MetadataWriter<'a> {
    encodings: EncodingChoice,
    subjects: &'a SubjectDatabase,
    encoder: RecordEncoder<'a>,
    sink: MetadataSink,
    /// State of the records that the I/O site holds from an earlier run.
    resumed: Option<HeldMetadata>,
    /// Verifies the records that the I/O site holds while this run makes them again. It is `None`
    /// after the last of them, and if no records are verified.
    verifier: Option<ResumeVerifier>,
    blocks: u64,
    queries: u64,
    /// Number of reported queries or, for psiblast, of reported iterations.
    counted: u64,
    /// Parts of the report that are not in a block yet.
    pages: Parts,
}

/// The report of a block in parts, or the end of the report.
#[derive(Default)]
pub(super) struct Parts {
    /// Bytes before the reports of queries, or the end of the report.
    rest: Vec<u8>,
    queries: Vec<Vec<u8>>,
}

impl Parts {
    /// Removes and returns the parts of the report: the part before the queries, and one for each
    /// query.
    pub fn take_parts(&mut self) -> Vec<Vec<u8>> {
        let Parts { rest, queries } = std::mem::take(self);
        [vec![rest], queries].concat()
    }
}

impl ReportSink for Parts {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.rest.extend_from_slice(bytes);
        Ok(())
    }

    fn write_query(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.queries.push(bytes.to_vec());
        Ok(())
    }
}

impl<'a> MetadataWriter<'a> {
    /// Opens the sink and writes the header of the metadata. `outside` is the channel to I/O ranks,
    /// the audience, and the flag that halts the search when the I/O site is lost.
    ///
    /// # Errors
    /// A database that cannot be read; an output that cannot be written.
    pub fn new(
        plan: &'a Plan,
        metadata: &Metadata,
        engine: &'a Search,
        subjects: &'a SubjectDatabase,
        outside: (Option<&IoChannel>, &Arc<dyn Audience>, &Halt),
    ) -> Result<Self, Error> {
        let header = header(plan, metadata, subjects, fingerprint_database(subjects)?)?;
        let (sink, resumed) = MetadataSink::open(metadata, &header, outside)?;
        let is_sam = plan.report.format == Format::Sam;
        if resumed.is_some() && is_sam && metadata.encodings.sends_report() {
            return Err(no_sam());
        }
        let (mut resumed, mut verifier) = (resumed, None);
        if plan.iteration.is_some()
            && let Some(HeldMetadata(held)) = resumed.take()
        {
            // Iterations and PSSM files are numbered over all queries, so psiblast searches all of
            // them again.
            let mut again = ResumeVerifier::new(held, metadata.encodings)?;
            match again.is_last(RecordKind::Header, &header)? {
                true => sink.confirm_same_search(),
                false => verifier = Some(again),
            }
        }
        let capacity = SearchCapacity { threads: plan.threads.count, groups: 1 };
        let encoder = RecordEncoder::new((plan, metadata), engine, subjects, capacity);
        let blocks = resumed.as_ref().map_or(0, |HeldMetadata(point)| point.blocks);
        let queries = resumed.as_ref().map_or(0, |HeldMetadata(point)| point.queries);
        let counted = queries;
        Ok(MetadataWriter {
            encodings: metadata.encodings,
            subjects,
            encoder,
            sink,
            resumed,
            verifier,
            blocks,
            queries,
            counted,
            pages: Parts::default(),
        })
    }

    /// Returns the state of the records that the I/O site holds, if they are not made again in this
    /// run.
    pub fn held_metadata(&self) -> Option<&HeldMetadata> {
        self.resumed.as_ref()
    }

    /// Records that the metadata at the I/O site belong to this search.
    pub fn confirm_same_search(&self) {
        self.sink.confirm_same_search();
    }

    /// Writes the start of the report, if the metadata are to contain the whole report. Otherwise
    /// lets the reporter skip the queries that the I/O site holds.
    pub fn start(&mut self, reporter: &mut Reporter) -> Result<(), Error> {
        if self.sends_report() && self.blocks == 0 {
            return reporter.write_prologue(&mut self.pages);
        }
        // The I/O site writes the start of the report, or already holds it.
        reporter.add_reported_queries(self.queries as usize);
        Ok(())
    }

    /// Writes a block that `search` has just searched. `batch_state` is the state after its last
    /// batch.
    pub fn write_block(
        &mut self,
        block: &PreparedBlock,
        hits: &[Vec<SubjectHit>],
        (search, batch_state): (&TwoPhaseSearch, BatchState),
        reporter: &mut Reporter,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        let searched = SearchedBlock {
            records: &block.records,
            prepared: &block.prepared,
            batches: &block.batches,
            searched_by_batch: Vec::new(),
            hits,
            overflowed: &search.overflowed,
            has_chunks: search.has_chunks,
            batch_state: Some(batch_state),
        };
        let MetadataWriter { encoder, sink, pages, .. } = self;
        encoder.costs_mut().link = sink.link_statistics();
        let report = || {
            // The report is made without warnings, because the call may be a probe.
            reporter.write_block(block, &block.searched(), hits, pages, &SilentAudience)?;
            Ok(pages.take_parts())
        };
        let body = encoder.encode(self.blocks, searched, search.phase_times, report)?;
        if self.sends_report() {
            reporter.print_warnings(&block.records, audience);
        }
        self.blocks += 1;
        self.queries += block.records.len() as u64;
        self.counted = self.queries;
        self.send_record(RecordKind::Block, &body)
    }

    /// Returns whether the metadata contain the report itself, in all blocks.
    pub fn sends_report(&self) -> bool {
        self.encodings.sends_report()
    }

    /// Returns the destination to which the report of a block of psiblast is written.
    pub fn pages(&mut self) -> &mut impl ReportSink {
        &mut self.pages
    }

    /// Writes a block of psiblast in the encoding `Report`, from the report in
    /// [`pages`](Self::pages).
    ///
    /// # Errors
    /// No memory; an output that cannot be written; a link that failed.
    pub fn write_iterated_report(&mut self, block: &PreparedBlock) -> Result<(), Error> {
        let begun = Instant::now();
        let parts = self.pages.take_parts();
        let reported = parts.len() - 1;
        if reported == 0 {
            // The search ended before the first query was reported.
            return Ok(());
        }
        let results = BlockResults::report(&parts).map_err(memory_error)?;
        self.write_iterated_block(&block.records[..reported], results, begun)
    }

    /// Writes a block of psiblast in the encoding `Hits`. `queries` are the results of its first
    /// queries, which are reported.
    ///
    /// # Errors
    /// No memory; an output that cannot be written; a link that failed.
    pub fn write_iterations(
        &mut self,
        block: &PreparedBlock,
        rules: &IterationRules,
        queries: Vec<IteratedQuery>,
    ) -> Result<(), Error> {
        let begun = Instant::now();
        let reported = queries.len();
        let searches: usize = queries.iter().map(|query| query.iterations.len()).sum();
        let results = encode_iterations(rules, self.subjects, self.counted, queries)?;
        self.counted += searches as u64;
        self.write_iterated_block(&block.records[..reported], results, begun)
    }

    fn write_iterated_block(
        &mut self,
        records: &[QueryRecord],
        results: BlockResults,
        begun: Instant,
    ) -> Result<(), Error> {
        let costs = self.encoder.costs_mut();
        let body = encode_iterated_block(records.iter(), results, (costs, begun))?;
        self.blocks += 1;
        self.queries += records.len() as u64;
        self.send_record(RecordKind::Block, &body)
    }

    /// Sends a record, unless the I/O site holds it.
    fn send_record(&mut self, kind: RecordKind, body: &[u8]) -> Result<(), Error> {
        let Some(verifier) = &mut self.verifier else { return self.sink.send_record(kind, body) };
        if verifier.is_last(kind, body)? {
            self.sink.confirm_same_search();
            self.verifier = None;
        }
        Ok(())
    }

    /// Verifies that the I/O site still works.
    ///
    /// # Errors
    /// The error that ended the I/O site.
    pub fn check(&mut self) -> Result<(), Error> {
        self.sink.check()
    }

    /// Returns the measured costs and the properties of the link.
    pub fn costs(&self) -> EncodingCosts {
        EncodingCosts { link: self.sink.link_statistics(), ..self.encoder.costs().clone() }
    }

    /// Completes the metadata. `reporter` is `None` for an input that BLAST+ calls empty.
    pub fn finish(
        mut self,
        reporter: Option<&Reporter>,
        audience: &dyn Audience,
    ) -> Result<(), Error> {
        if self.resumed.as_ref().is_some_and(|HeldMetadata(point)| point.ended) {
            return self.sink.commit();
        }
        let mut reported = self.counted;
        if let Some(reporter) = reporter.filter(|_| self.sends_report()) {
            reporter.finish(&mut self.pages, audience)?;
            reported = reporter.reported_count() as u64;
        }
        let report_end = reporter.map(|_| std::mem::take(&mut self.pages.rest));
        let end = encode_end(self.encodings, [self.queries, self.blocks, reported], report_end)?;
        self.send_record(RecordKind::End, &end)?;
        self.sink.commit()
    }
}

/// Creates the error for a report in SAM, which cannot be resumed. Its header names all references,
/// and so is known only at the end.
fn no_sam() -> Error {
    let what = format!(
        "the other site holds a part of this search since an earlier run, but a report in SAM \
         cannot be gone on with: {ANOTHER_RECEIVER}, or use -metadata hits"
    );
    Error::new(exit::INPUT, what)
}

/// Returns digests of the files on which the search and its report depend, besides queries and
/// database. A resumed search must have the same digests.
fn input_digests(
    plan: &Plan,
    metadata: &Metadata,
    subjects: &SubjectDatabase,
) -> Result<BTreeMap<String, String>, Error> {
    let mut inputs = inputs::describe_loaded_inputs(plan);
    if metadata.encodings.fixes_format() {
        // The search site may make the report, with the names of taxa in these files.
        inputs.extend(inputs::digest_taxonomy_files(subjects)?);
    }
    if let Some(repeats) = Repeats::open(plan)? {
        let database = checksum(&fingerprint_database(repeats.subjects())?);
        let value = format!("a database with the checksum {database}");
        inputs.insert("contents of -filtering_db".to_owned(), value);
    }
    Ok(inputs)
}

/// Encodes the header of the metadata. `fingerprint` is that of the database.
///
/// # Errors
/// No memory; other files of the search that cannot be read.
pub fn header(
    plan: &Plan,
    metadata: &Metadata,
    subjects: &SubjectDatabase,
    fingerprint: DatabaseFingerprint,
) -> Result<Vec<u8>, Error> {
    let summary = &subjects.summary;
    let paragraphs = summary.paragraphs.iter().map(|paragraph| Paragraph {
        title: paragraph.title.clone(),
        date: paragraph.date.clone(),
        masked_using: paragraph.masked_using.clone(),
        sequences: paragraph.sequences,
        residues: paragraph.residues,
    });
    let header = Header {
        program: plan.program.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        options: metadata.options.clone(),
        environment: metadata.environment.clone(),
        command: plan.report.command.clone(),
        inputs: input_digests(plan, metadata, subjects)?.into_iter().collect(),
        restriction: plan.restriction.clone(),
        encodings: metadata.encodings,
        hitlist_size: plan.params.common().hitlist_size as u64,
        database: Database {
            label: summary.label.clone(),
            paragraphs: paragraphs.collect(),
            is_subject: summary.is_subject,
            fingerprint,
        },
    };
    header.encode().map_err(memory_error)
}
