//! One pass of a block: an iteration of each query whose searches go on.

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
    /// Numbers of the queries that are searched.
    active: Vec<usize>,
    block: Block,
    merger: Merger,
    cut: Cut,
    stage: Stage,
}

/// The progress of a pass.
enum Stage {
    /// Tasks are being searched.
    Search(HitLists),
    /// Workers align the chosen hits.
    Align { chosen: Vec<Vec<PrelimHit>>, asked: Asked },
    /// Workers send the aligned letters for matrices.
    Lay { found: Found, included: Included, asked: Asked },
    /// Workers create the rows of the description table.
    Describe { found: Found, asked: Asked },
    /// Workers format the hits.
    Format { found: Found, order: Order, asked: Asked },
    /// Workers send all alignments: the master formats searches with a pattern, or another site
    /// makes the report.
    Tell { found: Found, asked: Asked },
}

/// The results of a pass, by query.
struct Found {
    /// The searches, without the subjects of their parts.
    searched: Vec<ReportedIteration>,
    /// The reported subjects of each query: those of its first part, then those of the next.
    shown: Vec<Vec<SubjectHit>>,
}

/// The hits for matrices, by query.
struct Included {
    /// Whether a matrix is made.
    makes: Vec<bool>,
    /// Its subjects, with the alignments that count.
    hits: Vec<Vec<SubjectHit>>,
}

/// The order of printing, by query.
struct Order {
    /// Indexes into the list of hits, in the order of printing.
    orders: Vec<Vec<usize>>,
    /// The description rows of each hit, if they are known already.
    rows: Option<Vec<Vec<DescriptionRow>>>,
}

/// Encoded questions, by partition.
pub type Questions = Vec<(PartitionId, Bytes)>;

impl Pass {
    /// Creates the next pass of all queries that go on, and encodes it for the workers.
    ///
    /// # Errors
    /// The pass cannot be encoded.
    pub fn new(job: &Job, rules: &Rules, iterated: &Iterated) -> Result<(Self, Bytes), Error> {
        let active = iterated.active();
        let query = |&number: &usize| {
            let Followed { record, course, .. } = iterated.query(number);
            (record, &course.query)
        };
        let queries: Vec<(&QueryRecord, &Query)> = active.iter().map(query).collect();
        let bytes = job.pass(rules, &queries)?;
        // The master decodes the same bytes as the workers.
        Ok((Pass::of(job, job.block(&bytes)?, active), bytes))
    }

    fn of(job: &Job, block: Block, active: Vec<usize>) -> Self {
        let merger = job.engine_of(&block).merger(&block.grouping);
        let stage = Stage::Search(merger.empty_lists());
        Pass { active, block, merger, cut: Cut::default(), stage }
    }

    /// Merges the hits of a partition. Returns the cutoff of the merged lists, if it rose.
    ///
    /// # Errors
    /// The lists are of other queries.
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

    /// Goes to the next stage, when all is searched or all answers have arrived. Returns the pass
    /// with the questions to workers, or `None` if it has ended. Uses all threads of the current
    /// pool.
    ///
    /// # Errors
    /// The answers do not match the questions, or a report cannot be made.
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
    /// Encodes the questions of this stage.
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
    /// Returns whether a pattern was searched for.
    fn has_pattern(&self) -> bool {
        self.searched.iter().any(ReportedIteration::has_pattern)
    }

    /// Moves the subjects into the parts of their searches.
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

/// Divides the hits of each query into those that are reported and those that go into its matrix.
fn take_hits(
    rules: &Rules,
    queries: Vec<&mut Followed>,
    hits: Vec<Vec<SubjectHit>>,
) -> (Found, Included) {
    let mut found = Found { searched: Vec::new(), shown: Vec::new() };
    let mut included = Included { makes: Vec::new(), hits: Vec::new() };
    for (Followed { record, course, .. }, hits) in queries.into_iter().zip(hits) {
        let mut begun = rules.begin(course, record);
        let parts = rules.parts(&mut begun, hits);
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

/// Computes the next matrix of each query that gets one.
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
