//! One pass of a block: a search of each query that goes on.

use std::mem::take;

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::lists::{Cut, HitLists, Merger};
use fleetblast_engine::query::Query;
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::super::rounds::{
    Answers, Asked, HitPlace, ask, candidates, confused, inverse, laid, packed, rows, select,
    sorted_by_rows, told, wanted, wanted_to_align,
};
use super::block::{Followed, Iterated};
use super::report::{Printed, report};
use crate::error::Error;
use crate::iteration::{ReportedIteration, Rules};
use crate::queries::QueryRecord;
use crate::ranks::job::{Block, Job};
use crate::ranks::wire::{Bytes, Question, Rows, pack, unpack};
use crate::ranks::works::rounds;

/// A pass of a block.
pub struct Pass {
    /// The queries that are searched, by their numbers in the block.
    active: Vec<usize>,
    block: Block,
    merger: Merger,
    cut: Cut,
    stage: Stage,
}

/// How far a pass is.
enum Stage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Chosen hits, which are being aligned.
    Align { chosen: Vec<Vec<PrelimHit>>, asked: Asked },
    /// What is found, of which that is being told of which matrices are made.
    Lay { found: Found, included: Included, asked: Asked },
    /// What is found, whose rows are being made.
    Describe { found: Found, asked: Asked },
    /// What is found, which is being formatted.
    Format { found: Found, order: Order, asked: Asked },
    /// What is found, of which all is being told, since the report is formatted here: that of a
    /// pattern, or what another site gets.
    Tell { found: Found, asked: Asked },
}

/// What was found, by query.
struct Found {
    /// The searches, without the subjects of their parts.
    searched: Vec<ReportedIteration>,
    /// Of each the subjects that are shown, those of one part behind those of another.
    shown: Vec<Vec<SubjectHit>>,
}

/// What goes into matrices, by query.
struct Included {
    /// Whether one is made.
    makes: Vec<bool>,
    /// Of which subjects, with those alignments of each that count.
    hits: Vec<Vec<SubjectHit>>,
}

/// How it is printed.
struct Order {
    /// Places in the list of hits, by the order of printing.
    orders: Vec<Vec<usize>>,
    /// What the description table says of each hit, once that is known.
    rows: Option<Vec<Vec<DescriptionRow>>>,
}

/// What workers are asked in a round, by partition.
pub type Questions = Vec<(PartitionId, Bytes)>;

impl Pass {
    /// The next search of all queries that go on, and what the workers get.
    ///
    /// # Errors
    /// What cannot be packed.
    pub fn new(job: &Job, rules: &Rules, iterated: &Iterated) -> Result<(Self, Bytes), Error> {
        let active = iterated.active();
        let query = |&number: &usize| {
            let Followed { record, course, .. } = iterated.query(number);
            (record, &course.query)
        };
        let queries: Vec<(&QueryRecord, &Query)> = active.iter().map(query).collect();
        let bytes = job.pass(rules, &queries)?;
        // From what the workers get, and as they do.
        Ok((Pass::of(job, job.block(&bytes)?, active), bytes))
    }

    fn of(job: &Job, block: Block, active: Vec<usize>) -> Self {
        let merger = job.engine_of(&block).merger(&block.grouping);
        let stage = Stage::Search(merger.empty_lists());
        Pass { active, block, merger, cut: Cut::default(), stage }
    }

    /// Merges what was found in a partition; returns the new cut, if it rose.
    ///
    /// # Errors
    /// Lists of other queries.
    pub fn absorb(&mut self, id: BlockId, hits: &Bytes) -> Result<Option<Bytes>, Error> {
        let part: HitLists = unpack(hits)?;
        let Stage::Search(lists) = &mut self.stage else { return Err(confused(id)) };
        if !self.merger.fits(&part) {
            return Err(confused(id));
        }
        self.merger.absorb(lists, part);
        let cut = self.merger.cut(lists);
        if cut == self.cut {
            return Ok(None);
        }
        self.cut = cut;
        pack(&self.cut).map(Some)
    }

    /// Goes on when all is searched, or all answers are there; returns the pass and what workers
    /// are asked next, if that is anything, or nothing if the pass is over. Works on all threads of
    /// the current pool.
    ///
    /// # Errors
    /// Answers to other questions; a report that cannot be made.
    pub fn go_on(
        mut self,
        job: &Job,
        rules: &Rules,
        (id, number): (BlockId, PassId),
        iterated: &mut Iterated,
        answers: &mut Answers,
    ) -> Result<Option<(Self, Questions)>, Error> {
        let stage = match self.stage {
            Stage::Search(lists) => {
                let chosen = self.merger.choose(lists);
                let asked = ask(job, &chosen, |hit| hit.oid);
                Stage::Align { chosen, asked }
            }
            Stage::Align { chosen, asked } => {
                let candidates = candidates(id, &asked, &chosen, answers)?;
                let (hits, _) = select(job, &self.block, &chosen, candidates);
                let (found, included) = take_hits(rules, iterated.at(&self.active), hits);
                let asked = ask(job, &included.hits, |hit| hit.oid);
                Stage::Lay { found, included, asked }
            }
            Stage::Lay { found, included, asked } => {
                let rows = laid(id, &asked, &included.hits, answers)?;
                make_matrices(rules, iterated.at(&self.active), included.makes, rows);
                let asked = ask(job, &found.shown, |hit| hit.oid);
                if job.plan.metadata.is_some() || found.has_pattern() {
                    Stage::Tell { found, asked }
                } else if pieces::has_table(&job.report) && sorted_by_rows(job) {
                    Stage::Describe { found, asked }
                } else {
                    let orders = found.shown.iter().map(|hits| (0..hits.len()).collect()).collect();
                    Stage::Format { found, order: Order { orders, rows: None }, asked }
                }
            }
            Stage::Describe { found, asked } => {
                let rows = rows(id, &asked, &found.shown, answers)?;
                let order = |rows: &Vec<DescriptionRow>| pieces::printing_order(&job.report, rows);
                let orders = rows.iter().map(order).collect();
                Stage::Format { found, order: Order { orders, rows: Some(rows) }, asked }
            }
            Stage::Format { found, order, asked } => {
                let pieces = rounds::pieces(id, &asked, &found.shown, answers)?;
                let rows = match order.rows {
                    Some(rows) => rows,
                    None if pieces::has_table(&job.report) => {
                        rows(id, &asked, &found.shown, answers)?
                    }
                    None => vec![Vec::new(); found.shown.len()],
                };
                let arranged = order.orders.into_iter().zip(rows).zip(pieces);
                let printed = arranged.map(|((order, rows), pieces)| {
                    let subjects = order.iter().map(|&place| pieces[place]).collect();
                    Some(Printed { order, rows, subjects })
                });
                let printed = printed.collect();
                let searched = found.whole();
                report((job, rules, number), iterated.at(&self.active), searched, printed)?;
                return Ok(None);
            }
            Stage::Tell { mut found, asked } => {
                found.shown = told(id, &asked, &found.shown, answers)?;
                let printed = found.shown.iter().map(|_| None).collect();
                let searched = found.whole();
                report((job, rules, number), iterated.at(&self.active), searched, printed)?;
                return Ok(None);
            }
        };
        self.stage = stage;
        let questions = self.stage.questions(job)?;
        Ok(Some((self, questions)))
    }
}

impl Stage {
    /// What to ask.
    fn questions(&self, job: &Job) -> Result<Questions, Error> {
        match self {
            Stage::Search(_) => Ok(Vec::new()),
            Stage::Align { chosen, asked } => wanted_to_align(asked, chosen),
            Stage::Lay { included, asked, .. } => packed(asked, |places| {
                let hits = &included.hits;
                let wanted = |&(query, at): &HitPlace| wanted(&hits[query], query, at, at + 1);
                Question::Lay(places.iter().map(wanted).collect())
            }),
            Stage::Tell { found: Found { shown, .. }, asked } => packed(asked, |places| {
                let wanted = |&(query, at): &HitPlace| wanted(&shown[query], query, at, at + 1);
                Question::Tell(places.iter().map(wanted).collect())
            }),
            Stage::Describe { found: Found { shown, .. }, asked } => packed(asked, |places| {
                let wanted = |&(query, at): &HitPlace| wanted(&shown[query], query, at, at + 1);
                Question::Describe(places.iter().map(wanted).collect())
            }),
            Stage::Format { found: Found { shown, .. }, order, asked } => {
                let ranks: Vec<_> = order.orders.iter().map(|order| inverse(order)).collect();
                let described = pieces::has_table(&job.report) && order.rows.is_none();
                packed(asked, |places| {
                    let wanted = |&(query, at): &HitPlace| {
                        wanted(&shown[query], query, at, ranks[query][at] + 1)
                    };
                    Question::Format { chosen: places.iter().map(wanted).collect(), described }
                })
            }
        }
    }
}

impl Found {
    /// Whether a pattern was searched for.
    fn has_pattern(&self) -> bool {
        self.searched.iter().any(ReportedIteration::has_pattern)
    }

    /// The searches with the subjects of their parts.
    fn whole(self) -> Vec<ReportedIteration> {
        let mut searched = self.searched;
        for (search, shown) in searched.iter_mut().zip(self.shown) {
            let mut left = shown.into_iter();
            for part in &mut search.parts {
                part.shown = left.by_ref().take(part.count).collect();
            }
        }
        searched
    }
}

/// Takes what each query found: what is reported of it, and what goes into matrices.
fn take_hits(
    rules: &Rules,
    queries: Vec<&mut Followed>,
    hits: Vec<Vec<SubjectHit>>,
) -> (Found, Included) {
    let mut found = Found { searched: Vec::new(), shown: Vec::new() };
    let mut included = Included { makes: Vec::new(), hits: Vec::new() };
    for (Followed { record, course, .. }, hits) in queries.into_iter().zip(hits) {
        let mut begun = rules.begin(course, record);
        let parts = rules.split_parts(&mut begun, hits);
        let hits = &parts[0];
        let makes = rules.record_hits(course, hits);
        let subject = |hit: &SubjectHit| {
            let alignments: Vec<_> = rules.included(hit).cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit { oid: hit.oid, alignments })
        };
        included.makes.push(makes);
        let subjects = hits.iter().filter(|_| makes).filter_map(subject);
        included.hits.push(subjects.collect());
        let mut searched = ReportedIteration::new(rules, record, begun, parts);
        let shown = searched.parts.iter_mut().flat_map(|part| take(&mut part.shown));
        found.shown.push(shown.collect());
        found.searched.push(searched);
    }
    (found, included)
}

/// Makes the next matrix of each query of which one is to be made.
fn make_matrices(
    rules: &Rules,
    queries: Vec<&mut Followed>,
    makes: Vec<bool>,
    rows: Vec<Vec<Rows>>,
) {
    let queries = queries.into_par_iter().zip(makes).zip(rows);
    queries.filter(|((_, makes), _)| *makes).for_each(|((query, _), subjects)| {
        let mut alignment = Rules::alignment(&query.record);
        for rows in subjects {
            alignment.add(rows.iter().map(|(alignment, letters)| (alignment, &letters[..])));
        }
        rules.advance(&mut query.course, alignment);
    });
}
