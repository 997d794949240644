//! Searches of bases and of translations by BLAST+. The tests read alignments from its output by
//! the formulas for strands and frames, and make a report of them.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use fleetblast_db::{Defline, SequenceKind, TaxonNames};
use fleetblast_engine::hits::{Adjustment, Alignment, SubjectHit};
use fleetblast_engine::params::Params;
use fleetblast_engine::query::{Context, Query};
use fleetblast_report::error::SubjectReadError;
use fleetblast_report::model::{
    DatabaseSummary, OutputOptions, QueryResult, ReportSetup, SubjectSource,
};
use fleetblast_report::papers::Citations;
use fleetblast_report::pieces;
use fleetblast_report::row_position::SearchedExtent;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{ObjectId, SeqId};
use fleetblast_seq::nucleotide::{self, blastna};

use super::synth::{self, RandomSequences};
use super::{Case, Entry, Subjects, defline, hits};
use fastrand::Rng;

const PLUS: Frame = Frame::Strand(Strand::Plus);
const MINUS: Frame = Frame::Strand(Strand::Minus);
/// The columns from which [`Search`] reads alignments.
const COLUMNS: &str =
    "6 qseqid sseqid qstart qend sstart send sframe evalue bitscore score qseq sseq";

/// A program and the kinds of its queries and subjects.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    pub name: &'static str,
    /// Options that mask nothing.
    pub options: &'static [&'static str],
    pub query: LetterKind,
    pub subject: LetterKind,
}

/// The kind of letters that a program compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterKind {
    Residues,
    Bases,
    Codons,
}

/// Queries or subjects, with the range that is searched in all of them, if there is one.
pub struct Sequences {
    entries: Vec<Entry>,
    reading: LetterKind,
    part: Option<Range<u32>>,
}

impl Sequences {
    fn extent(&self, number: usize) -> SearchedExtent {
        let whole = SearchedExtent::fully_searched(self.entries[number].1.len() as u32);
        self.part
            .clone()
            .map_or(whole.clone(), |searched| SearchedExtent { searched_range: searched, ..whole })
    }

    /// Returns the codes of the letters of `frame` within the range `stretch` of sequence `number`.
    fn read(&self, number: usize, frame: Frame, stretch: Range<u32>) -> Vec<u8> {
        let letters = &self.entries[number].1[stretch.start as usize..stretch.end as usize];
        let code = |letter| alphabet::encode(letter).unwrap();
        let base = |letter| blastna::from_ncbi4na(nucleotide::encode(letter).unwrap());
        let strand = match frame.strand() {
            Some(Strand::Minus) => synth::reverse_complement(letters),
            _ => letters.to_string(),
        };
        match frame {
            Frame::Protein => strand.bytes().map(code).collect(),
            Frame::Strand(_) => strand.bytes().map(base).collect(),
            Frame::Codons(_, offset) => {
                synth::translation(&strand[usize::from(offset).min(strand.len())..])
                    .bytes()
                    .map(code)
                    .collect()
            }
        }
    }

    /// Returns the frame in which the sequences are written.
    fn written_frame(&self) -> Frame {
        if self.reading == LetterKind::Residues { Frame::Protein } else { PLUS }
    }

    /// Returns the frames of a query's contexts, in their order.
    fn frames(&self) -> Vec<Frame> {
        let strands = [Strand::Plus, Strand::Minus];
        match self.reading {
            LetterKind::Residues => vec![Frame::Protein],
            LetterKind::Bases => vec![PLUS, MINUS],
            LetterKind::Codons => {
                strands.iter().flat_map(|&s| (0..3).map(move |o| Frame::Codons(s, o))).collect()
            }
        }
    }

    /// Returns the frame and the range of its letters that reports print as `from` to `to`. Both
    /// refer to the searched range of the sequence.
    fn searched_place(&self, number: usize, from: u32, to: u32) -> (Frame, Range<u32>) {
        let SearchedExtent { searched_range: searched, .. } = self.extent(number);
        let (from, to, length) =
            (from - searched.start, to - searched.start, searched.len() as u32);
        match self.reading {
            LetterKind::Residues => (Frame::Protein, from - 1..to),
            LetterKind::Bases if from <= to => (PLUS, from - 1..to),
            LetterKind::Bases => (MINUS, length - from..length - to + 1),
            // Reports print 3a + f to 3b + f − 1.
            LetterKind::Codons if from <= to => {
                let f = (from - 1) % 3 + 1;
                (Frame::Codons(Strand::Plus, f as u8 - 1), (from - f) / 3..(to + 1 - f) / 3)
            }
            // Reports print L − 3a − f + 1 to L − 3b − f + 2.
            LetterKind::Codons => {
                let f = (length - from) % 3 + 1;
                let read = (length + 1 - f - from) / 3..(length + 2 - f - to) / 3;
                (Frame::Codons(Strand::Minus, f as u8 - 1), read)
            }
        }
    }
}

impl SubjectSource for Sequences {
    fn extent(&self, oid: u32) -> SearchedExtent {
        Sequences::extent(self, oid as usize)
    }

    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        let whole = self.read(oid as usize, frame, 0..self.entries[oid as usize].1.len() as u32);
        Some(Cow::Owned(whole.get(read.start as usize..read.end as usize)?.to_vec()))
    }

    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, SubjectReadError> {
        let id = SeqId::Local(ObjectId::Text(format!("Subject_{}", oid + 1).into_bytes()));
        Ok(vec![defline(id, &self.entries[oid as usize].0)])
    }

    fn taxon(&self, _: i64) -> Result<Option<TaxonNames>, SubjectReadError> {
        Ok(None)
    }
}

/// A search by BLAST+: its sequences, and the hits read from its output.
pub struct Search {
    program: Program,
    directory: PathBuf,
    queries: Sequences,
    subjects: Sequences,
    prepared: Vec<Query>,
    hits: Vec<Vec<SubjectHit>>,
}

impl Drop for Search {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.directory).ok();
    }
}

impl Search {
    /// Makes related sequences and searches them. `parts` are the searched ranges of all queries
    /// and of all subjects.
    pub fn new(program: Program, parts: [Option<Range<u32>>; 2]) -> Self {
        let directory = std::env::temp_dir().join(format!(
            "fleetblast-report-{}-{}-{}",
            program.name,
            parts[0].is_some(),
            std::process::id()
        ));
        std::fs::create_dir_all(&directory).unwrap();
        let mut random = Rng::with_seed(31);
        let core = random.protein(90);
        let coding = random.coding(&core);
        let mut entries = |reading| match reading {
            LetterKind::Residues => synth::related_proteins(&core, &mut random),
            LetterKind::Bases | LetterKind::Codons => synth::related_bases(&coding, &mut random),
        };
        let (query_entries, subject_entries) = (entries(program.query), entries(program.subject));
        let [query_part, subject_part] = parts;
        let queries =
            Sequences { entries: query_entries, reading: program.query, part: query_part };
        let subjects =
            Sequences { entries: subject_entries, reading: program.subject, part: subject_part };
        for (name, sequences) in [("q.fa", &queries), ("s.fa", &subjects)] {
            let entries = sequences.entries.iter();
            let fasta: String =
                entries.map(|(id, letters)| format!(">{id}\n{letters}\n")).collect();
            std::fs::write(directory.join(name), fasta).unwrap();
        }
        let prepared = (0..queries.entries.len()).map(|number| query(&queries, number)).collect();
        let mut search = Self { program, directory, queries, subjects, prepared, hits: Vec::new() };
        search.hits = search.read(&search.run(&["-outfmt", COLUMNS]));
        search
    }

    /// Runs BLAST+ with further options and returns its output.
    pub fn run(&self, options: &[&str]) -> String {
        let mut command = fleetblast_oracle::command(self.program.name);
        command.current_dir(&self.directory).args(["-query", "q.fa", "-subject", "s.fa"]);
        for (option, sequences) in [("-query_loc", &self.queries), ("-subject_loc", &self.subjects)]
        {
            if let Some(part) = &sequences.part {
                command.args([option, &format!("{}-{}", part.start + 1, part.end)]);
            }
        }
        let run = command.args(self.program.options).args(options).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    }

    /// Reads the hits of each query from a table with the columns of [`COLUMNS`].
    fn read(&self, table: &str) -> Vec<Vec<SubjectHit>> {
        let mut found: Vec<Vec<SubjectHit>> = vec![Vec::new(); self.queries.entries.len()];
        for line in table.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let place = |sequences: &Sequences, id: &str| {
                sequences.entries.iter().position(|entry| entry.0 == id).unwrap()
            };
            let query = place(&self.queries, fields[0]);
            let oid = place(&self.subjects, fields[1]);
            let alignment = self.alignment(&fields, query, oid);
            match found[query].last_mut() {
                Some(hit) if hit.oid == oid as u32 => hit.alignments.push(alignment),
                _ => found[query].push(SubjectHit::new(oid as u32, vec![alignment])),
            }
        }
        found
    }

    fn alignment(&self, fields: &[&str], query: usize, oid: usize) -> Alignment {
        let number = |field: usize| fields[field].parse::<u32>().unwrap();
        let mut edits = hits::edits(fields[10].bytes().zip(fields[11].bytes()));
        let (mut context, mut read) = self.queries.searched_place(query, number(2), number(3));
        let (mut frame, mut subject) = self.subjects.searched_place(oid, number(4), number(5));
        if frame == MINUS {
            // In blastn's alignments the query is the reverse complement, and the subject is as
            // written.
            (context, read) = self.queries.searched_place(query, number(3), number(2));
            (frame, subject) = self.subjects.searched_place(oid, number(5), number(4));
            edits.reverse();
        }
        let contexts = self.queries.frames();
        Alignment {
            score: fields[9].trim().parse().unwrap(),
            bit_score: fields[8].trim().parse().unwrap(),
            evalue: fields[7].parse().unwrap(),
            linked: 1,
            query: read,
            subject,
            context: contexts.iter().position(|&known| known == context).unwrap() as u8,
            frame,
            edits,
            computation_index: 0,
            pattern_occurrence: 0,
            adjustment: Adjustment::None,
            positives: None,
            stored: None,
        }
    }

    /// Returns parameters for the kinds of sequences. Their values do not show in the compared
    /// lines.
    fn params(&self) -> Params {
        let case = match self.program.subject {
            LetterKind::Bases => Case::of_bases,
            LetterKind::Residues | LetterKind::Codons => Case::new,
        };
        case(Vec::new(), Vec::new(), Subjects::Fasta).params
    }

    /// Returns FleetBLAST's report of the same alignments.
    pub fn report(&self, output: OutputOptions) -> String {
        let params = self.params();
        let setup = ReportSetup {
            program: super::reported(self.program.name),
            citations: Citations::Blastn,
            database: DatabaseSummary {
                kind: SequenceKind::Nucleotide,
                label: Vec::new(),
                paragraphs: Vec::new(),
                is_subject: true,
            },
            params: &params,
            matrix_name: "BLOSUM62",
            query_range_length: None,
            output,
        };
        let mut out = Vec::new();
        for (i, (id, _)) in self.queries.entries.iter().enumerate() {
            let SearchedExtent { length, .. } = self.queries.extent(i);
            let result = QueryResult {
                read: Default::default(),
                follows_hits: false,
                number: i + 1,
                unnamed: i + 1,
                name_from_file: None,
                title: id.as_bytes(),
                ids: &[],
                residues: &self.queries.read(i, self.queries.written_frame(), 0..length),
                range: self.queries.part.clone(),
                query: &self.prepared[i],
                hits: &self.hits[i],
                hit_count: self.hits[i].len(),
                batch_searched: true,
                messages: &[],
                repeated_search: None,
            };
            pieces::format_query(&setup, &result, &self.subjects, &mut out).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    /// Compares BLAST+'s output for `options` with FleetBLAST's report, but only lines for which
    /// `is_compared` returns true.
    #[track_caller]
    pub fn check(&self, options: &[&str], output: OutputOptions, is_compared: fn(&str) -> bool) {
        let (expected, found) = (self.run(options), self.report(output));
        let lines = |text: &str| -> Vec<String> {
            text.lines().filter(|line| is_compared(line)).map(str::to_string).collect()
        };
        let (expected, found) = (lines(&expected), lines(&found));
        assert!(!expected.is_empty(), "{} tells nothing with {options:?}", self.program.name);
        for (i, (e, f)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(f, e, "line {} of {} with {options:?}", i + 1, self.program.name);
        }
        assert_eq!(found.len(), expected.len(), "{} with {options:?}", self.program.name);
    }

    /// Returns the pairs of frames of query and subject in all alignments, without duplicates.
    pub fn frames(&self) -> HashSet<[i8; 2]> {
        let contexts = self.queries.frames();
        let alignments = self.hits.iter().flatten().flat_map(|hit| &hit.alignments);
        alignments.map(|a| [contexts[usize::from(a.context)].number(), a.frame.number()]).collect()
    }
}

/// Makes a query whose contexts have neither masks nor statistics.
fn query(queries: &Sequences, number: usize) -> Query {
    let extent = queries.extent(number);
    let read =
        |frame| -> Arc<[u8]> { queries.read(number, frame, extent.searched_range.clone()).into() };
    let context = |frame| Context {
        frame,
        unmasked: read(frame),
        shown: read(frame),
        letters: [].into(),
        lower_case: Vec::new(),
        masks: Vec::new(),
        karlin: None,
        length_adjustment: 0,
        search_space: 0,
    };
    let contexts = queries.frames().into_iter().map(context).collect();
    Query { length: extent.searched_range.len() as u32, contexts, pssm: None }
}
