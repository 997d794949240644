//! A small search made by BLAST+ and read back: what the report is given, and what it must equal.

pub mod bases;
pub mod hits;
pub mod synth;

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;

use fleetblast_db::{Defline, TaxonNames};
use fleetblast_engine::hits::SubjectHit;
use fleetblast_engine::params::{DatabaseTotals, Params};
use fleetblast_engine::query::{Query, QueryInput};
use fleetblast_release::Release;
use fleetblast_report::columns::Columns;
use fleetblast_report::error::Cause;
use fleetblast_report::locus::Extent;
use fleetblast_report::model::{
    DatabaseParagraph, DatabaseSummary, Format, HspOrder, OutputOptions, QueryResult, Setup,
    SubjectSource,
};
use fleetblast_report::pieces;
use fleetblast_seq::frame::Frame;
use fleetblast_seq::id::{ObjectId, SeqId, parse_word};
use fleetblast_seq::{alphabet, seg::SegParams};
use fleetblast_stats::scoring::ScoringSystem;

/// A FASTA entry: the definition line, and letters (lower case for masked).
pub type Entry = (String, String);

/// How subjects are given to BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// A database without parsed identifiers.
    Plain,
    /// A database made with `-parse_seqids`.
    Parsed,
    /// `-subject`.
    Fasta,
}

/// A search to run by BLAST+ and to report from its hits.
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
    /// A search with default options.
    pub fn new(queries: Vec<Entry>, subjects: Vec<Entry>, kind: Subjects) -> Self {
        Self {
            queries,
            subjects,
            kind,
            options: Vec::new(),
            params: params(),
            query_range: None,
            parse_deflines: false,
        }
    }
}

/// The defaults of `blastp`.
fn params() -> Params {
    Params::blastp(
        &Release::V2_12_0,
        ScoringSystem::new(&Release::V2_12_0, "BLOSUM62", Some(11), Some(1)).unwrap(),
    )
}

/// SEG with the parameters of `-seg yes`.
pub fn seg_yes() -> Option<SegParams> {
    Some(SegParams { window: 12, locut: 2.2, hicut: 2.5 })
}

/// The defaults of the report in a format.
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

/// The columns of `-outfmt "6 words"`.
pub fn tabular(words: &str) -> Format {
    Format::Tabular(Columns::parse(words, b"\t"))
}

/// The subjects as the report sees them.
pub struct Source {
    residues: Vec<Vec<u8>>,
    lines: Vec<Vec<Defline>>,
    /// Lower-case stretches, if they are masked.
    masks: Vec<Vec<Range<u32>>>,
}

impl SubjectSource for Source {
    fn extent(&self, oid: u32) -> Extent {
        Extent::whole(self.residues[oid as usize].len() as u32)
    }

    fn view(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        assert_eq!(frame, Frame::Protein);
        let residues = self.residues[oid as usize].get(read.start as usize..read.end as usize);
        residues.map(Cow::Borrowed)
    }

    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, Cause> {
        Ok(self.lines[oid as usize].clone())
    }

    fn taxon(&self, _: i64) -> Result<Option<TaxonNames>, Cause> {
        Ok(None)
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        self.masks.get(oid as usize).map_or(&[], Vec::as_slice)
    }
}

/// A search that was run: files on disk, and what BLAST+ found.
pub struct Run {
    case: Case,
    directory: PathBuf,
    source: Source,
    queries: Vec<Query>,
    hits: Vec<Vec<SubjectHit>>,
    messages: Vec<String>,
    /// When the database was made, as BLAST+ tells it.
    date: Vec<u8>,
}

impl Drop for Run {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

impl Run {
    /// Writes the files, makes the database, searches.
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
            .args(["-in", "s.fa", "-dbtype", "prot", "-out", "d", "-title", "t, w"]);
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
            sequences: case.subjects.len() as i64,
            min_length: 10,
        };
        let queries =
            case.queries.iter().map(|(_, letters)| query(letters, &case, &totals)).collect();
        let (hits, messages, date) = (Vec::new(), Vec::new(), Vec::new());
        let mut run = Self { case, directory, source, queries, hits, messages, date };
        let xml = run.blastp(&["-outfmt", "5"]);
        let pairwise =
            run.blastp(&["-outfmt", "0", "-num_descriptions", "0", "-num_alignments", "500"]);
        run.messages = hits::messages(&xml);
        let date = String::from_utf8_lossy(&pairwise).into_owned();
        let date = date.split("Posted date:  ").nth(1).unwrap().lines().next().unwrap();
        run.date = date.as_bytes().to_vec();
        run.hits = hits::read(&xml, &pairwise, &run.source.residues, run.offset());
        let evalues = run.blastp(&["-outfmt", "6 evalue"]);
        hits::settle_evalues(&mut run.hits, &evalues);
        run
    }

    fn offset(&self) -> u32 {
        self.case.query_range.as_ref().map_or(0, |range| range.start)
    }

    /// What BLAST+ prints with further options.
    pub fn blastp(&self, options: &[&str]) -> Vec<u8> {
        let mut command = fleetblast_oracle::command("blastp");
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
        assert!(run.status.success(), "blastp: {}", String::from_utf8_lossy(&run.stderr));
        run.stdout
    }

    /// What the report makes of the same hits.
    pub fn report(&self, output: OutputOptions) -> Vec<u8> {
        let case = &self.case;
        let setup = Setup {
            program: "blastp",
            banner: "BLASTP 2.12.0+",
            database: self.database(),
            params: &case.params,
            matrix_name: "BLOSUM62",
            query_part: None,
            output: OutputOptions { parse_deflines: case.parse_deflines, ..output },
        };
        let inputs: Vec<_> =
            case.queries.iter().map(|entry| query_input(entry, case.parse_deflines)).collect();
        // So few queries are one batch.
        let batch_searched = self.queries.iter().any(|query| query.is_searchable());
        let results: Vec<_> = inputs
            .iter()
            .enumerate()
            .map(|(i, (title, ids, residues))| QueryResult {
                number: i + 1,
                unnamed: i + 1,
                title,
                ids,
                residues,
                range: case.query_range.clone(),
                query: &self.queries[i],
                hits: &self.hits[i],
                hit_count: self.hits[i].len(),
                batch_searched,
                messages: self.messages[i].as_bytes(),
            })
            .collect();
        let mut out = Vec::new();
        pieces::prologue(&setup, &mut out);
        pieces::opening(&setup, &results[0], &mut out).unwrap();
        for result in &results {
            pieces::format_query(&setup, result, &self.source, &mut out).unwrap();
        }
        pieces::epilogue(&setup, results.len(), &mut out);
        out
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

    /// Asserts that the report equals what BLAST+ prints with `options`.
    #[track_caller]
    pub fn check(&self, options: &[&str], output: OutputOptions) {
        let expected = self.blastp(options);
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

fn codes(letters: &str) -> Vec<u8> {
    letters.bytes().map(|c| alphabet::encode(c).unwrap()).collect()
}

/// Identifiers and title of a definition line whose first word is parsed.
fn parsed(line: &str, number: usize, kind: &str) -> (Vec<SeqId>, Vec<u8>) {
    let (word, title) = line.split_once(' ').unwrap_or((line, ""));
    let ids = match word {
        "" => vec![SeqId::Local(ObjectId::Text(format!("{kind}_{number}").into_bytes()))],
        word => parse_word(word.as_bytes()).unwrap(),
    };
    (ids, title.as_bytes().to_vec())
}

fn query_input(entry: &Entry, parse: bool) -> (Vec<u8>, Vec<SeqId>, Vec<u8>) {
    let residues = codes(&entry.1);
    if !parse {
        return (entry.0.as_bytes().to_vec(), Vec::new(), residues);
    }
    let (ids, title) = parsed(&entry.0, 1, "Query");
    (title, ids, residues)
}

fn query(letters: &str, case: &Case, totals: &DatabaseTotals) -> Query {
    let range =
        case.query_range.as_ref().map_or(0..letters.len(), |r| r.start as usize..r.end as usize);
    let letters = &letters[range];
    let input = QueryInput { residues: codes(letters), lower_case: lower_case(letters) };
    Query::new(&input, &case.params, totals)
}

/// The stretches of lower-case letters.
fn lower_case(letters: &str) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for (i, _) in letters.bytes().enumerate().filter(|(_, c)| c.is_ascii_lowercase()) {
        let i = i as u32;
        match runs.last_mut() {
            Some(last) if last.end == i => last.end += 1,
            _ => runs.push(i..i + 1),
        }
    }
    runs
}

fn source(case: &Case) -> Source {
    let lines = case.subjects.iter().enumerate().map(|(i, (line, _))| match case.kind {
        Subjects::Plain => vec![defline(
            SeqId::General { db: b"BL_ORD_ID".to_vec(), tag: ObjectId::Number(0) },
            &line.replace('\u{1}', " "),
        )],
        Subjects::Fasta if !case.parse_deflines => {
            let id = SeqId::Local(ObjectId::Text(format!("Subject_{}", i + 1).into_bytes()));
            vec![defline(id, line.split('\u{1}').next().unwrap())]
        }
        kind => {
            // A FASTA file's second definition line and those after it are not read.
            let most = if kind == Subjects::Fasta { 1 } else { usize::MAX };
            let lines = line.split('\u{1}').take(most).map(|line| parsed(line, i + 1, "Subject"));
            lines.map(|(ids, title)| Defline { title, ids, ..Defline::default() }).collect()
        }
    });
    let masked = case.kind == Subjects::Fasta && case.params.lcase_masking;
    let masks = case.subjects.iter().filter(|_| masked).map(|s| lower_case(&s.1));
    Source {
        lines: lines.collect(),
        residues: case.subjects.iter().map(|s| codes(&s.1)).collect(),
        masks: masks.collect(),
    }
}

fn defline(id: SeqId, title: &str) -> Defline {
    Defline { title: title.as_bytes().to_vec(), ids: vec![id], ..Defline::default() }
}
