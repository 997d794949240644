//! A source of subjects for reports, made from the entries of a test case.

use std::borrow::Cow;
use std::ops::Range;

use fleetblast_db::{Defline, TaxonNames};
use fleetblast_engine::params::Params;
use fleetblast_report::error::SubjectReadError;
use fleetblast_report::model::SubjectSource;
use fleetblast_report::row_position::SearchedExtent;
use fleetblast_seq::alphabet;
use fleetblast_seq::frame::{Frame, Strand};
use fleetblast_seq::id::{ObjectId, SeqId, parse_fasta_ids};
use fleetblast_seq::nucleotide::{self, blastna};

use super::{Case, Subjects};

/// The subjects of a test case.
pub struct Source {
    pub residues: Vec<Vec<u8>>,
    lines: Vec<Vec<Defline>>,
    /// The ranges of lower-case letters, if these count as masks.
    masks: Vec<Vec<Range<u32>>>,
}

impl SubjectSource for Source {
    fn extent(&self, oid: u32) -> SearchedExtent {
        SearchedExtent::fully_searched(self.residues[oid as usize].len() as u32)
    }

    fn report_letters(&self, oid: u32, frame: Frame, read: Range<u32>) -> Option<Cow<'_, [u8]>> {
        let residues = &self.residues[oid as usize];
        let place = frame.to_sequence_range(read, residues.len() as u32);
        let part = residues.get(place.start as usize..place.end as usize)?;
        Some(match frame {
            Frame::Protein | Frame::Strand(Strand::Plus) => Cow::Borrowed(part),
            Frame::Strand(Strand::Minus) => Cow::Owned(blastna::reverse_complement(part)),
            Frame::Codons(..) => panic!("no program translates here"),
        })
    }

    fn deflines(&self, oid: u32) -> Result<Vec<Defline>, SubjectReadError> {
        Ok(self.lines[oid as usize].clone())
    }

    fn taxon(&self, _: i64) -> Result<Option<TaxonNames>, SubjectReadError> {
        Ok(None)
    }

    fn masks(&self, oid: u32) -> &[Range<u32>] {
        self.masks.get(oid as usize).map_or(&[], Vec::as_slice)
    }
}

/// Converts letters to the codes that the search uses: NCBIstdaa for proteins, blastna for
/// nucleotides.
pub fn codes(letters: &str, params: &Params) -> Vec<u8> {
    let code = |letter| match params {
        Params::Protein(_) => alphabet::encode(letter).unwrap(),
        Params::Nucleotide(_) => blastna::from_ncbi4na(nucleotide::encode(letter).unwrap()),
    };
    letters.bytes().map(code).collect()
}

/// Parses the first word of a definition line. Returns its identifiers and the rest as title.
/// Without a word the identifier is made from `kind` and `number`.
pub fn parse_first_word(line: &str, number: usize, kind: &str) -> (Vec<SeqId>, Vec<u8>) {
    let (word, title) = line.split_once(' ').unwrap_or((line, ""));
    let ids = match word {
        "" => vec![SeqId::Local(ObjectId::Text(format!("{kind}_{number}").into_bytes()))],
        word => parse_fasta_ids(word.as_bytes()).unwrap(),
    };
    (ids, title.as_bytes().to_vec())
}

pub fn source(case: &Case) -> Source {
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
            // BLAST+ reads only the first definition line of a FASTA entry.
            let most = if kind == Subjects::Fasta { 1 } else { usize::MAX };
            let lines =
                line.split('\u{1}').take(most).map(|line| parse_first_word(line, i + 1, "Subject"));
            let titled =
                |(ids, title)| Defline { title, ids, has_title: true, ..Defline::default() };
            lines.map(titled).collect()
        }
    });
    let masked = case.kind == Subjects::Fasta && case.params.common().lcase_masking;
    let masks = case.subjects.iter().filter(|_| masked).map(|s| lower_case(&s.1));
    Source {
        lines: lines.collect(),
        residues: case.subjects.iter().map(|s| codes(&s.1, &case.params)).collect(),
        masks: masks.collect(),
    }
}

pub fn defline(id: SeqId, title: &str) -> Defline {
    let title = title.as_bytes().to_vec();
    Defline { title, ids: vec![id], has_title: true, ..Defline::default() }
}

/// Returns the ranges of lower-case letters.
pub fn lower_case(letters: &str) -> Vec<Range<u32>> {
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
