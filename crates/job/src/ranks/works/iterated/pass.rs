//! One pass of a block: a search of each query that goes on.

use fleetblast_engine::hits::{PrelimHit, SubjectHit};
use fleetblast_engine::lists::{Cut, HitLists, Merger};
use fleetblast_engine::query::Query;
use fleetblast_fleet::ids::{BlockId, PartitionId, PassId};
use fleetblast_report::model::{QueryResult, Round};
use fleetblast_report::pieces;
use fleetblast_report::table::DescriptionRow;
use rayon::prelude::*;

use super::super::rounds::{
    Answers, Asked, HitPlace, Piece, ask, candidates, confused, inverse, laid, packed, rows,
    select, sorted_by_rows, told, wanted, wanted_to_align,
};
use super::block::{Followed, Iterated, Reported};
use crate::error::Error;
use crate::iteration::{Begun, Rules};
use crate::queries::QueryRecord;
use crate::ranks::job::{Block, Job};
use crate::ranks::wire::{Bytes, Question, Rows, pack, unpack};
use crate::ranks::works::rounds;
use crate::reporting::{self, failure};

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
    /// What is found, of which all is being told, since the report is formatted here.
    Tell { found: Found, asked: Asked },
}

/// What was found, by query.
struct Found {
    /// What each search is reported with.
    begun: Vec<Begun>,
    /// The subjects that are shown.
    shown: Vec<Vec<SubjectHit>>,
    /// Alignments in all.
    alignments: Vec<usize>,
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

    /// Goes on when all is searched, or all answers are there; returns the pass and what workers are asked next, if that is anything, or
    /// nothing if the pass is over. Works on all threads of the current pool.
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
                if job.plan.metadata.is_some() {
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
                report(job, rules, number, iterated.at(&self.active), found, printed)?;
                return Ok(None);
            }
            Stage::Tell { found, asked } => {
                let shown = told(id, &asked, &found.shown, answers)?;
                let printed = shown.iter().map(|_| None).collect();
                let found = Found { shown, ..found };
                report(job, rules, number, iterated.at(&self.active), found, printed)?;
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

/// Takes what each query found: what is reported of it, and what goes into matrices.
fn take_hits(
    rules: &Rules,
    queries: Vec<&mut Followed>,
    hits: Vec<Vec<SubjectHit>>,
) -> (Found, Included) {
    let mut found = Found { begun: Vec::new(), shown: Vec::new(), alignments: Vec::new() };
    let mut included = Included { makes: Vec::new(), hits: Vec::new() };
    for (Followed { record, course, .. }, mut hits) in queries.into_iter().zip(hits) {
        found.begun.push(rules.begin(course, record));
        rules.trim(&mut hits);
        let makes = rules.take(course, &hits);
        let subject = |hit: &SubjectHit| {
            let alignments: Vec<_> = rules.included(hit).cloned().collect();
            (!alignments.is_empty()).then_some(SubjectHit { oid: hit.oid, alignments })
        };
        included.makes.push(makes);
        let subjects = hits.iter().filter(|_| makes).filter_map(subject);
        included.hits.push(subjects.collect());
        found.alignments.push(hits.iter().map(|hit| hit.alignments.len()).sum());
        hits.truncate(rules.shown());
        found.shown.push(hits);
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

/// What workers have formatted of a query's subjects.
struct Printed {
    /// The order of printing.
    order: Vec<usize>,
    /// What the description table says of them.
    rows: Vec<DescriptionRow>,
    /// Where each is, in that order.
    subjects: Vec<Piece>,
}

/// Notes what is reported of each search. What nobody has printed is formatted here, on all threads of the current pool.
fn report(
    job: &Job,
    rules: &Rules,
    pass: PassId,
    queries: Vec<&mut Followed>,
    found: Found,
    printed: Vec<Option<Printed>>,
) -> Result<(), Error> {
    let Found { begun, shown, alignments } = found;
    let all = queries.into_par_iter().zip(begun).zip(shown).zip(alignments).zip(printed);
    all.try_for_each(|((((query, begun), shown), alignments), printed)| {
        report_query((job, rules, pass), query, (begun, &shown, alignments), printed)
    })
}

/// Notes what is reported of a query's search, which showed these subjects, of so many alignments in all.
fn report_query(
    (job, rules, pass): (&Job, &Rules, PassId),
    query: &mut Followed,
    (mut begun, shown, alignments): (Begun, &[SubjectHit], usize),
    printed: Option<Printed>,
) -> Result<(), Error> {
    begun.hide_masks();
    let Followed { record, course, searches, opening, .. } = query;
    let warning = record.warning_of(&begun.messages);
    let messages = reporting::xml_message(record, warning.clone());
    let number = searches.len() + 1;
    // The number among all is not known yet.
    let (serial, known) = (0, &begun.known);
    let result = QueryResult {
        batch_searched: begun.query.is_searchable(),
        messages: &messages,
        hits: shown,
        hit_count: shown.len(),
        round: Some(Round { number, serial, known, alignments, occurrence: None }),
        ..reporting::result(record, &begun.query)
    };
    let bad = |error| failure(&error);
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    if record.number == 1 && number == 1 {
        pieces::opening(&job.report, &result, opening).map_err(bad)?;
    }
    let (order, rows, subjects) = match printed {
        Some(Printed { order, rows, subjects }) => (order, rows, subjects),
        None => {
            let (order, rows) = pieces::arranged(&job.report, &result, job.target).map_err(bad)?;
            pieces::subject_blocks(&job.report, &result, job.target, &order, &mut tail)
                .map_err(bad)?;
            (order, rows, Vec::new())
        }
    };
    let rows: Vec<_> = order.iter().filter_map(|&place| rows.get(place)).collect();
    let alignments = shown.iter().map(|hit| hit.alignments.len()).sum();
    pieces::query_header(&job.report, &result, &rows, alignments, &mut head).map_err(bad)?;
    pieces::query_footer(&job.report, &result, &mut tail).map_err(bad)?;
    let kept = begun.kept.as_ref().and_then(|kept| rules.matrix(kept, record));
    if kept.is_some() && !rules.saves_each() {
        searches.iter_mut().for_each(|search| search.kept = None);
    }
    searches.push(Reported { pass, head, subjects, tail, warning, kept });
    course.end_if_lost();
    Ok(())
}
