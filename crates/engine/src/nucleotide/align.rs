//! The traceback of nucleotides.

use crate::hits::{Candidate, PrelimHit};
use crate::params::{DatabaseTotals, NucleotideParams};
use crate::query::Query;
use crate::subjects::SubjectLetters;

#[derive(Debug)]
pub(crate) struct Traceback {
    params: NucleotideParams,
}

#[derive(Debug)]
pub(crate) struct Aligner<'a> {
    traceback: &'a Traceback,
    query: &'a Query,
}

#[derive(Debug, Default)]
pub(crate) struct AlignScratch {}

impl Traceback {
    pub fn new(params: &NucleotideParams, _totals: &DatabaseTotals) -> Traceback {
        Traceback { params: params.clone() }
    }

    pub fn aligner<'a>(&'a self, query: &'a Query) -> Aligner<'a> {
        Aligner { traceback: self, query }
    }
}

impl Aligner<'_> {
    pub fn align(
        &self,
        _subject: &impl SubjectLetters,
        hit: &PrelimHit,
        _scratch: &mut AlignScratch,
    ) -> Candidate {
        let _ = (&self.traceback.params, self.query);
        Candidate { oid: hit.oid, key: None, first_local: None, alignments: Vec::new() }
    }
}
