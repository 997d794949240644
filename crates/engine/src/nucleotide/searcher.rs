//! The preliminary search of nucleotides.

use crate::lists::{HitLists, Merger};
use crate::params::{DatabaseTotals, NucleotideParams};
use crate::query::Query;
use crate::subjects::Subjects;

#[derive(Debug)]
pub(crate) struct Searcher {
    merger: Merger,
}

#[derive(Debug, Default)]
pub(crate) struct SearchScratch {}

impl Searcher {
    pub fn new(
        _queries: &[Query],
        merger: Merger,
        _params: &NucleotideParams,
        _totals: &DatabaseTotals,
    ) -> Searcher {
        Searcher { merger }
    }

    pub fn search(
        &self,
        _subjects: &impl Subjects,
        _oids: impl IntoIterator<Item = u32>,
        _scratch: &mut SearchScratch,
    ) -> HitLists {
        self.merger.empty_lists()
    }

    pub fn merger(&self) -> &Merger {
        &self.merger
    }
}
