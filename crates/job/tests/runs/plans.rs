//! Plans of the tests, and an audience that records the calls of their jobs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fleetblast_db::VolumeBytes;
use fleetblast_engine::params::{Params, ProteinParams};
use fleetblast_job::audience::Audience;
use fleetblast_job::error::Error;
use fleetblast_job::plan::{Destination, Plan};
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;
use tempfile::TempDir;

use crate::volumes::{FOUR, entries, volume};

/// Number of sequences in the database.
pub const SEQUENCES: usize = 5;

/// A temporary directory with the sound database `db`, and `q.fa` with one query that has hits in
/// it.
pub struct TestDirectory {
    dir: TempDir,
}

impl TestDirectory {
    pub fn new() -> Self {
        let directory = Self { dir: tempfile::tempdir().expect("a temporary directory") };
        directory.database("db", &volume(&FOUR, &entries(11, SEQUENCES)));
        directory.write("q.fa", sample_query());
        directory
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("a file");
    }

    /// Writes the files of a volume.
    pub fn database(&self, name: &str, bytes: &VolumeBytes) {
        self.write(&format!("{name}.pin"), &bytes.index);
        self.write(&format!("{name}.psq"), &bytes.residues);
        self.write(&format!("{name}.phr"), &bytes.headers);
    }

    /// Creates a plan that searches `q.fa` in a database of the directory, with all defaults, by
    /// one thread, and writes columns to `report`.
    pub fn plan(&self, database: &str) -> Plan {
        let database = self.path(database).display().to_string();
        let out = Destination::File(self.path("report"));
        Plan { out, ..Plan::blastp(database, self.path("q.fa")) }
    }
}

/// Returns the protein parameters of a plan.
pub fn protein_params_mut(plan: &mut Plan) -> &mut ProteinParams {
    match &mut plan.params {
        Params::Protein(params) => params,
        Params::Nucleotide(_) => panic!("nucleotides"),
    }
}

/// Returns the default parameters of blastp with this matrix.
pub fn blastp_params(matrix: &str) -> ProteinParams {
    ProteinParams::blastp(
        &Release::V2_12_0,
        ScoringSystem::new(&Release::V2_12_0, matrix, None, None).expect("a known matrix"),
    )
}

/// Returns a query that consists of all sequences of the database, one after the other.
fn sample_query() -> Vec<u8> {
    let letters: Vec<Vec<u8>> = entries(11, SEQUENCES).into_iter().map(|entry| entry.1).collect();
    [&b">q1 some of each\n"[..], &letters.concat(), b"\n"].concat()
}

/// The calls that an audience received.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AudienceCalls {
    /// Printed lines.
    pub lines: Vec<String>,
    /// Number of queries that the job announced.
    pub expected_queries: Option<u64>,
    /// Number of queries of each unfinished block.
    pub open_blocks: BTreeMap<u32, u64>,
    /// Number of queries of finished blocks, including skipped ones.
    pub finished_queries: u64,
    /// Number of times that the job reported its completion.
    pub completed: u32,
    /// Number of times that the job reported an early end.
    pub ended_early: u32,
}

/// An audience that records its calls, and is watching.
#[derive(Default)]
pub struct RecordingAudience(Mutex<AudienceCalls>);

impl RecordingAudience {
    fn change(&self, change: impl FnOnce(&mut AudienceCalls)) {
        change(&mut self.0.lock().expect("nobody panics"));
    }
}

impl Audience for RecordingAudience {
    fn program(&self) -> &str {
        "blastp"
    }

    fn print_line(&self, line: &[u8]) {
        self.change(|calls| calls.lines.push(String::from_utf8_lossy(line).into_owned()));
    }

    fn is_watching(&self) -> bool {
        true
    }

    fn set_query_count(&self, queries: Option<u64>) {
        self.change(|calls| calls.expected_queries = queries);
    }

    fn skip_queries(&self, queries: u64) {
        self.change(|calls| calls.finished_queries += queries);
    }

    fn open_block(&self, block: u32, queries: u64) {
        self.change(|calls| calls.open_blocks.extend([(block, queries)]));
    }

    fn close_block(&self, block: u32) {
        self.change(|calls| {
            calls.finished_queries += calls.open_blocks.remove(&block).unwrap_or(0)
        });
    }

    fn finish(&self) {
        self.change(|calls| calls.completed += 1);
    }

    fn abort(&self) {
        self.change(|calls| calls.ended_early += 1);
    }
}

/// Runs a job to its end.
pub fn run(plan: Plan) -> (Result<(), Error>, AudienceCalls) {
    let audience = Arc::new(RecordingAudience::default());
    let end = fleetblast_job::run(plan, None, Arc::<RecordingAudience>::clone(&audience));
    let calls = audience.0.lock().expect("nobody panics").clone();
    (end, calls)
}
