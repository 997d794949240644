//! Makes the search of a difference small. Drops queries, subjects, options and ends of sequences
//! while the programs still disagree. The effort is limited, so the result need not be the
//! smallest.

use std::cell::Cell;
use std::mem::{Discriminant, discriminant};
use std::time::{Duration, Instant};

use super::trial::Bench;
use crate::compare::Difference;
use crate::error::Result;
use crate::fasta::Record;
use crate::program::{SubjectForm, Trial};

/// Time limit for one difference, independent of the number of searches.
const TIME: Duration = Duration::from_secs(120);

/// Returns the kinds of the differences. A candidate counts only if it has the kinds of the
/// original. Otherwise the reduction could end at another, perhaps well-known, fault.
fn kinds(found: &[Difference]) -> Vec<Discriminant<Difference>> {
    found.iter().map(discriminant).collect()
}

/// Returns the smallest trial found with at most `effort` searches in which the programs still
/// disagree. Returns `trial` itself if nothing smaller disagrees, or if the programs agree in a
/// second run.
pub fn minimise(bench: &Bench, trial: &Trial, effort: usize) -> Result<Trial> {
    let deadline = Instant::now() + TIME;
    let left = Cell::new(effort);
    let original = kinds(&bench.search(trial)?.differences);
    if original.is_empty() {
        return Ok(trial.clone());
    }
    let disagrees = |candidate: &Trial| -> Result<bool> {
        left.set(left.get().saturating_sub(1));
        bench.write(candidate)?;
        Ok(kinds(&bench.search(candidate)?.differences) == original)
    };
    reduce(trial.clone(), &disagrees, &|| left.get() == 0 || Instant::now() >= deadline)
}

/// A function that tests whether the programs still disagree in a candidate. The test itself may
/// fail.
type Test<'a> = &'a dyn Fn(&Trial) -> Result<bool>;
/// A function that returns true when the effort is used up.
type EffortCheck<'a> = &'a dyn Fn() -> bool;

fn reduce(trial: Trial, disagrees: Test, spent: EffortCheck) -> Result<Trial> {
    let mut best = trial;
    loop {
        let before = size(&best);
        best = drop_records(best, |t| &mut t.queries, disagrees, spent)?;
        best = drop_records(best, |t| &mut t.subjects, disagrees, spent)?;
        best = drop_options(best, disagrees, spent)?;
        best = plain_target(best, disagrees)?;
        best = shorten(best, |t| &mut t.queries, disagrees, spent)?;
        best = shorten(best, |t| &mut t.subjects, disagrees, spent)?;
        if size(&best) == before || spent() {
            return Ok(best);
        }
    }
}

/// Returns the number of residues, records and options of a trial.
fn size(trial: &Trial) -> usize {
    let records = trial.queries.iter().chain(&trial.subjects);
    records.map(|r| r.seq.len() + 1).sum::<usize>() + trial.options.len()
}

/// Drops halves, quarters, and finally single records of a list. Keeps at least one.
fn drop_records(
    mut best: Trial,
    list: impl Fn(&mut Trial) -> &mut Vec<Record>,
    disagrees: Test,
    spent: EffortCheck,
) -> Result<Trial> {
    let mut chunk = list(&mut best).len().div_ceil(2);
    while chunk > 0 {
        let mut start = 0;
        while start < list(&mut best).len() {
            if spent() {
                return Ok(best);
            }
            let mut candidate = best.clone();
            let items = list(&mut candidate);
            let end = (start + chunk).min(items.len());
            items.drain(start..end);
            if !items.is_empty() && disagrees(&candidate)? {
                best = candidate;
            } else {
                start += chunk;
            }
        }
        chunk /= 2;
    }
    Ok(best)
}

/// Drops options one by one. Keeps the output format, because other formats show other differences.
fn drop_options(mut best: Trial, disagrees: Test, spent: EffortCheck) -> Result<Trial> {
    let mut index = 0;
    while index < best.options.len() && !spent() {
        let mut candidate = best.clone();
        let dropped = candidate.options.remove(index);
        if dropped.first().is_some_and(|name| name != "-outfmt") && disagrees(&candidate)? {
            best = candidate;
        } else {
            index += 1;
        }
    }
    Ok(best)
}

/// Makes the subjects a plain database if the programs still disagree then.
fn plain_target(best: Trial, disagrees: Test) -> Result<Trial> {
    let candidate = Trial { subject_form: SubjectForm::Plain, ..best.clone() };
    Ok(if best.subject_form != SubjectForm::Plain && disagrees(&candidate)? {
        candidate
    } else {
        best
    })
}

/// Cuts the ends of each sequence, half at first, then less. Cuts only the first eight sequences:
/// if many are left, their number matters, and cutting each would take all the time.
fn shorten(
    mut best: Trial,
    list: impl Fn(&mut Trial) -> &mut Vec<Record>,
    disagrees: Test,
    spent: EffortCheck,
) -> Result<Trial> {
    let count = list(&mut best).len();
    for index in 0..count.min(8) {
        let mut cut = list(&mut best)[index].seq.len() / 2;
        while cut > 0 {
            let mut shorter = false;
            for from_start in [true, false] {
                if spent() {
                    return Ok(best);
                }
                let mut candidate = best.clone();
                let seq = &mut list(&mut candidate)[index].seq;
                if seq.len() <= cut {
                    continue;
                }
                if from_start {
                    seq.drain(..cut);
                } else {
                    seq.truncate(seq.len() - cut);
                }
                if disagrees(&candidate)? {
                    best = candidate;
                    shorter = true;
                }
            }
            if !shorter {
                cut /= 2;
            }
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::BLASTP;

    #[test]
    fn only_what_is_needed_is_left() {
        let record = |h: &str, s: &str| Record::new(h, s.as_bytes());
        let filler = |i: usize| record(&format!("f{i}"), "AAAAAAAAAA");
        let mut subjects: Vec<Record> = (0..21).map(filler).collect();
        subjects.insert(13, record("guilty", "CCCCWWHHHHHHHHHHHH"));
        let trial = Trial {
            program: &BLASTP,
            queries: vec![record("a", "KKKK"), record("b", "KKKKYKKKKKKKK")],
            subjects,
            subject_form: SubjectForm::V4,
            options: vec![
                vec!["-x".into()],
                vec!["-guilty".into(), "1".into()],
                vec!["-outfmt".into(), "6".into()],
            ],
            named: false,
            shape: None,
        };
        let has = |records: &[Record], part: &[u8]| {
            records.iter().any(|r| r.seq.windows(part.len()).any(|w| w == part))
        };
        let disagrees = |t: &Trial| {
            Ok(has(&t.queries, b"Y")
                && has(&t.subjects, b"WW")
                && t.options.iter().any(|o| o[0] == "-guilty"))
        };
        let small = reduce(trial, &disagrees, &|| false).unwrap();
        assert_eq!(small.queries, [record("b", "Y")]);
        assert_eq!(small.subjects, [record("guilty", "WW")]);
        assert_eq!((small.options.len(), small.subject_form), (2, SubjectForm::Plain));
    }

    #[test]
    fn effort_is_bounded() {
        let trial = Trial {
            program: &BLASTP,
            queries: vec![Record::new("a", &b"KK"[..])],
            subjects: vec![Record::new("b", &b"KK"[..])],
            subject_form: SubjectForm::Plain,
            options: vec![vec!["-x".into()]],
            named: false,
            shape: None,
        };
        let small = reduce(trial, &|_| panic!("no time for this"), &|| true).unwrap();
        assert_eq!(small.options.len(), 1);
    }
}
