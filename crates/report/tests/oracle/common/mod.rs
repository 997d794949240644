//! Runs small searches with BLAST+ and reads their hits. They are the input of FleetBLAST's report,
//! and BLAST+'s output is the expected report.

pub mod bases;
pub mod hits;
mod source;
pub mod synth;

use std::ops::Range;
use std::path::PathBuf;

use fleetblast_db::SequenceKind;
use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::kernel::Kernel;
use fleetblast_engine::params::{DatabaseTotals, NucleotideParams, Params, ProteinParams};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_engine::search::Search;
use fleetblast_report::columns::Columns;
use fleetblast_report::listed_subject;
use fleetblast_report::model::Results;
use fleetblast_report::model::{
    DatabaseParagraph, DatabaseSummary, Format, HspOrder, OutputOptions, QueryResult, ReportSetup,
    SubjectSource,
};
use fleetblast_report::papers::Citations;
use fleetblast_report::{pieces, sam};
use fleetblast_seq::id::SeqId;
use fleetblast_seq::seg::SegParams;
use fleetblast_stats::nucleotide::NucleotideScoring;
use fleetblast_stats::program::{BlastProgram, ReportedProgram};
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

pub use source::defline;
use source::{Source, codes, lower_case, parse_first_word, source};

/// A FASTA entry: the definition line, and the letters. Lower case can mark masks.
pub type Entry = (String, String);

/// The form in which BLAST+ gets the subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// A database without parsed identifiers.
    Plain,
    /// A database made with `-parse_seqids`.
    Parsed,
    /// FASTA, for the option `-subject`.
    Fasta,
}

/// The inputs of a search by BLAST+ whose hits FleetBLAST reports.
pub struct Case {
    pub queries: Vec<Entry>,
    pub subjects: Vec<Entry>,
    pub kind: Subjects,
    /// Options of the search, as words for the command line.
    pub options: Vec<&'static str>,
    pub params: Params,
    pub query_range: Option<Range<u32>>,
    pub parse_deflines: bool,
}

impl Case {
    /// Creates a protein search with default options.
    pub fn new(queries: Vec<Entry>, subjects: Vec<Entry>, kind: Subjects) -> Self {
        Self {
            queries,
            subjects,
            kind,
            options: Vec::new(),
            params: Params::Protein(params()),
            query_range: None,
            parse_deflines: false,
        }
    }

    /// Creates a nucleotide search with the default options of `blastn`.
    pub fn of_bases(queries: Vec<Entry>, subjects: Vec<Entry>, kind: Subjects) -> Self {
        let scoring = NucleotideScoring::new(1, -2, 0, 0).unwrap();
        let params = NucleotideParams::megablast(&Release::V2_12_0, scoring);
        Self { params: Params::Nucleotide(params), ..Self::new(queries, subjects, kind) }
    }

    /// Returns the parameters of a protein search.
    pub fn protein(&mut self) -> &mut ProteinParams {
        match &mut self.params {
            Params::Protein(params) => params,
            Params::Nucleotide(_) => panic!("a search of nucleotides"),
        }
    }

    /// Returns the parameters of a nucleotide search.
    pub fn nucleotide(&mut self) -> &mut NucleotideParams {
        match &mut self.params {
            Params::Nucleotide(params) => params,
            Params::Protein(_) => panic!("a search of proteins"),
        }
    }

    fn is_nucleotide(&self) -> bool {
        matches!(self.params, Params::Nucleotide(_))
    }

    fn program(&self) -> &'static str {
        if self.is_nucleotide() { "blastn" } else { "blastp" }
    }

    /// Returns the searched range of each query.
    fn parts(&self) -> Vec<Range<u32>> {
        let part = |entry: &Entry| self.query_range.clone().unwrap_or(0..entry.1.len() as u32);
        self.queries.iter().map(part).collect()
    }
}

/// Returns the program of a report.
fn reported(name: &str) -> ReportedProgram {
    ReportedProgram::Command(BlastProgram::from_name(name).expect("a search program"))
}

/// Returns the default parameters of `blastp`.
fn params() -> ProteinParams {
    ProteinParams::blastp(
        &Release::V2_12_0,
        ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", Some(11), Some(1)).unwrap(),
    )
}

/// Returns the SEG parameters of `-seg yes`.
pub fn seg_yes() -> Option<SegParams> {
    Some(SegParams { window: 12, locut: 2.2, hicut: 2.5 })
}

/// Returns the default options of the report in a format.
pub fn output(format: Format) -> OutputOptions {
    OutputOptions {
        format,
        line_length: 60,
        html: false,
        hit_order: None,
        hsp_order: HspOrder::Evalue,
        show_gis: false,
        num_descriptions: 500,
        num_alignments: 250,
        parse_deflines: false,
    }
}

/// Returns the format of `-outfmt "6 words"`.
pub fn tabular(words: &str) -> Format {
    Format::Tabular(Columns::parse(words, b"\t"))
}

/// A search by BLAST+: its files on disk, and the hits read from its output.
pub struct Run {
    case: Case,
    directory: PathBuf,
    source: Source,
    queries: Vec<Query>,
    hits: Vec<Vec<SubjectHit>>,
    messages: Vec<String>,
    /// Date of the database, as BLAST+ prints it.
    date: Vec<u8>,
}

impl Drop for Run {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

impl Run {
    /// Writes the input files, makes the database, runs BLAST+ and reads its hits.
    pub fn new(name: &str, case: Case) -> Self {
        let directory =
            std::env::temp_dir().join(format!("fleetblast-report-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let fasta = |entries: &[Entry]| -> String {
            entries.iter().map(|(title, letters)| format!(">{title}\n{letters}\n")).collect()
        };
        std::fs::write(directory.join("q.fa"), fasta(&case.queries)).unwrap();
        std::fs::write(directory.join("s.fa"), fasta(&case.subjects)).unwrap();
        let mut make = fleetblast_oracle::command("makeblastdb");
        make.current_dir(&directory)
            .args(["-in", "s.fa", "-out", "d", "-title", "t, w"])
            .args(["-dbtype", if case.is_nucleotide() { "nucl" } else { "prot" }]);
        if case.kind == Subjects::Parsed {
            make.arg("-parse_seqids");
        }
        let made = make.output().unwrap();
        assert!(made.status.success(), "makeblastdb: {}", String::from_utf8_lossy(&made.stderr));
        let source = source(&case);
        let residues = source.residues.iter().map(|s| s.len() as i64).sum();
        let totals = DatabaseTotals {
            residues,
            space_residues: residues,
            is_empty: false,
            sequences: case.subjects.len() as i64,
            stored_residues: 0,
            mean_length: 0,
            min_length: 10,
        };
        let queries =
            case.queries.iter().map(|(_, letters)| query(letters, &case, &totals)).collect();
        let (hits, messages, date) = (Vec::new(), Vec::new(), Vec::new());
        let mut run = Self { case, directory, source, queries, hits, messages, date };
        let xml = run.blast(&["-outfmt", "5"]);
        let pairwise =
            run.blast(&["-outfmt", "0", "-num_descriptions", "0", "-num_alignments", "500"]);
        run.messages = hits::messages(&xml);
        let date = String::from_utf8_lossy(&pairwise).into_owned();
        let date = date.split("Posted date:  ").nth(1).unwrap().lines().next().unwrap();
        run.date = date.as_bytes().to_vec();
        run.hits = hits::read(&xml, &pairwise, &run.source.residues, &run.case.parts());
        let evalues = run.blast(&["-outfmt", "6 evalue bitscore"]);
        hits::settle(&mut run.hits, &evalues);
        run
    }

    /// Runs BLAST+ with further options and returns its output.
    pub fn blast(&self, options: &[&str]) -> Vec<u8> {
        let mut command = fleetblast_oracle::command(self.case.program());
        command.current_dir(&self.directory).args(["-query", "q.fa", "-num_threads", "1"]);
        match self.case.kind {
            Subjects::Fasta => command.args(["-subject", "s.fa"]),
            _ => command.args(["-db", "d"]),
        };
        let location = self
            .case
            .query_range
            .as_ref()
            .map(|range| format!("{}-{}", range.start + 1, range.end));
        if let Some(location) = &location {
            command.args(["-query_loc", location]);
        }
        if self.case.parse_deflines {
            command.arg("-parse_deflines");
        }
        let run = command.args(&self.case.options).args(options).output().unwrap();
        assert!(
            run.status.success(),
            "{}: {}",
            self.case.program(),
            String::from_utf8_lossy(&run.stderr)
        );
        run.stdout
    }

    /// Returns FleetBLAST's report of the same hits.
    pub fn report(&self, output: OutputOptions) -> Vec<u8> {
        let case = &self.case;
        let database = self.database();
        let mut output = OutputOptions { parse_deflines: case.parse_deflines, ..output };
        if let (Format::Output2(format), true) = (&mut output.format, database.is_subject) {
            let names = |oid| listed_subject(&self.source.deflines(oid).unwrap()[0].ids);
            let count = self.case.subjects.len() as u32;
            format.results = Results::Subjects((0..count).map(names).collect());
        }
        let setup = ReportSetup {
            program: reported(case.program()),
            citations: Citations::default_for(&case.params),
            database,
            params: &case.params,
            matrix_name: if case.is_nucleotide() { "" } else { "BLOSUM62" },
            query_range_length: None,
            output,
        };
        let inputs: Vec<_> = case.queries.iter().map(|entry| query_input(entry, case)).collect();
        // These few queries are one batch.
        let batch_searched = self.queries.iter().any(|query| query.is_searchable());
        let results: Vec<_> = inputs
            .iter()
            .enumerate()
            .map(|(i, (title, ids, residues))| QueryResult {
                read: Default::default(),
                follows_hits: false,
                number: i + 1,
                unnamed: i + 1,
                name_from_file: None,
                title,
                ids,
                residues,
                range: case.query_range.clone(),
                query: &self.queries[i],
                hits: &self.hits[i],
                hit_count: self.hits[i].len(),
                batch_searched,
                messages: self.messages[i].as_bytes(),
                repeated_search: None,
            })
            .collect();
        let mut out = Vec::new();
        pieces::prologue(&setup, &mut out);
        self.sam_header(&setup, &results, &mut out);
        pieces::first_query_prologue(&setup, &results[0], &mut out).unwrap();
        for result in &results {
            pieces::format_query(&setup, result, &self.source, &mut out).unwrap();
        }
        pieces::epilogue(&setup, results.len(), &mut out);
        out
    }

    /// Appends the header of a SAM report; nothing for other formats.
    fn sam_header(&self, setup: &ReportSetup, results: &[QueryResult], out: &mut Vec<u8>) {
        let Format::Sam(options) = &setup.output.format else { return };
        let mut header = sam::SamHeader::new(setup, options);
        for hit in
            results.iter().flat_map(|result| result.hits.iter().map(move |hit| (result, hit)))
        {
            let records = sam::subject_records(setup, options, hit.0, &self.source, hit.1).unwrap();
            records.iter().for_each(|record| header.add_reference(&record.key.reference));
        }
        out.extend(header.to_bytes());
    }

    fn database(&self) -> DatabaseSummary {
        let is_subject = self.case.kind == Subjects::Fasta;
        let (label, title) = if is_subject {
            let label = "User specified sequence set (Input: s.fa)".to_string();
            (label.clone(), format!("{label}."))
        } else {
            ("d".to_string(), "t, w".to_string())
        };
        DatabaseSummary {
            kind: match self.case.params {
                Params::Protein(_) => SequenceKind::Protein,
                Params::Nucleotide(_) => SequenceKind::Nucleotide,
            },
            label: label.into_bytes(),
            paragraphs: vec![DatabaseParagraph {
                masked_using: Vec::new(),
                title: title.into_bytes(),
                date: self.date.clone(),
                sequences: self.case.subjects.len() as i64,
                residues: self.source.residues.iter().map(|s| s.len() as i64).sum(),
            }],
            is_subject,
        }
    }

    /// Compares FleetBLAST's report with BLAST+'s output for `options`.
    #[track_caller]
    pub fn check(&self, options: &[&str], output: OutputOptions) {
        let expected = self.blast(options);
        let found = self.report(output);
        assert!(!expected.is_empty(), "BLAST+ prints nothing with {options:?}");
        if expected == found {
            return;
        }
        let (expected, found) =
            (String::from_utf8_lossy(&expected), String::from_utf8_lossy(&found));
        for (i, (e, f)) in expected.lines().zip(found.lines()).enumerate() {
            assert_eq!(f, e, "line {} with {options:?}", i + 1);
        }
        assert_eq!(
            found.lines().count(),
            expected.lines().count(),
            "number of lines with {options:?}"
        );
        panic!("line ends differ with {options:?}");
    }
}

fn query_input(entry: &Entry, case: &Case) -> (Vec<u8>, Vec<SeqId>, Vec<u8>) {
    let residues = codes(&entry.1, &case.params);
    if !case.parse_deflines {
        return (entry.0.as_bytes().to_vec(), Vec::new(), residues);
    }
    let (ids, title) = parse_first_word(&entry.0, 1, "Query");
    (title, ids, residues)
}

fn query(letters: &str, case: &Case, totals: &DatabaseTotals) -> Query {
    let range =
        case.query_range.as_ref().map_or(0..letters.len(), |r| r.start as usize..r.end as usize);
    let letters = &letters[range];
    let (codes, lower_case) = (codes(letters, &case.params), lower_case(letters));
    let input = QueryInput { letters: codes, lower_case, ..Default::default() };
    Search::new(case.params.clone(), *totals, Kernel::detect()).query(&input)
}
