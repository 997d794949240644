//! Selects a covering sample of the cases. If two options, queries, databases or formats occur
//! together in some case, they also occur together in a case of the sample. The seed selects which
//! cases cover them, and many seeds together cover all cases.

use std::collections::{BTreeSet, HashMap};

use crate::cases::Case;
use crate::program::Program;
use crate::rng::Draw;
use fastrand::Rng;

/// Options that count as items of the sample together with the first word of their value.
const VALUED: [&str; 4] = ["-query", "-db", "-subject", "-outfmt"];

/// Fraction of the cases that the sample takes in addition, whatever pairs of items they cover. It
/// is smaller for costly cases, so that together they cost about as much as cheap ones.
const BESIDES: f64 = 0.1;
/// CPU seconds of a case above which it is taken less often than [`BESIDES`] states.
const COSTLY: f64 = 0.5;

/// CPU seconds of a case that the program's list of costs lacks.
const USUAL: f64 = 0.2;

/// Two items (options, queries, databases, formats) that occur together in a case. A single item is
/// paired with itself.
type Pair = (String, String);

/// Number of seeds that share a covering sample.
const SHARES: u64 = 8;

/// Returns an eighth of a covering sample. Eight consecutive seeds share the sample, and each
/// selects another eighth.
pub fn eighth(program: &Program, cases: Vec<Case>, seed: u64) -> Vec<Case> {
    let sample = (0..).zip(covering(program, cases, seed / SHARES));
    sample.filter(|(number, _)| number % SHARES == seed % SHARES).map(|(_, case)| case).collect()
}

/// Returns the covering sample for `seed`, in the order of `cases`. It prefers several cheap cases
/// to a costly one that covers the same.
fn covering(program: &Program, cases: Vec<Case>, seed: u64) -> Vec<Case> {
    let pairs: Vec<Vec<Pair>> = cases.iter().map(|case| pairs_of(program, case)).collect();
    let costs = costs(program);
    let cost = |case: usize| costs.get(cases[case].id.as_str()).copied().unwrap_or(USUAL);
    let mut rng = Rng::with_seed(seed);
    // The cases are sorted by price, which is the cost times a random factor.
    let mut order: Vec<(f64, usize)> =
        (0..cases.len()).map(|case| (cost(case) * (0.2 + rng.f64()), case)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let order: Vec<usize> = order.into_iter().map(|(_, case)| case).collect();
    let mut times: HashMap<&Pair, usize> = HashMap::new();
    let mut chosen = BTreeSet::new();
    for &case in &order {
        if pairs[case].iter().any(|pair| !times.contains_key(pair)) {
            chosen.insert(case);
            pairs[case].iter().for_each(|pair| *times.entry(pair).or_default() += 1);
        }
    }
    // This drops cases that others cover, beginning with the most expensive.
    for &case in order.iter().rev() {
        if chosen.contains(&case) && pairs[case].iter().all(|pair| times[pair] > 1) {
            chosen.remove(&case);
            pairs[case].iter().for_each(|pair| *times.entry(pair).or_default() -= 1);
        }
    }
    // Without these, a case whose pairs are all in other cases would never be tested.
    let share = |case: usize| BESIDES * (COSTLY / cost(case)).clamp(0.1, 1.0);
    chosen.extend(order.into_iter().filter(|&case| rng.chance(share(case))));
    let cases = cases.into_iter().enumerate();
    cases.filter(|(number, _)| chosen.contains(number)).map(|(_, case)| case).collect()
}

/// Returns the CPU seconds of the costly cases.
fn costs(program: &Program) -> HashMap<&'static str, f64> {
    let lines = program.costs.lines().filter(|line| !line.starts_with('#'));
    let fields = lines.filter_map(|line| line.split_once('\t'));
    fields.filter_map(|(seconds, id)| Some((id, seconds.parse().ok()?))).collect()
}

fn pairs_of(program: &Program, case: &Case) -> Vec<Pair> {
    let things: Vec<String> = things_of(program, case).into_iter().collect();
    let with = |(at, one): (usize, &String)| {
        things[at..].iter().map(|other| (one.clone(), other.clone())).collect::<Vec<_>>()
    };
    things.iter().enumerate().flat_map(with).collect()
}

fn things_of(program: &Program, case: &Case) -> BTreeSet<String> {
    let mut things = BTreeSet::new();
    things.extend(case.stdin.as_ref().map(|name| format!("-query {name}")));
    let mut words = case.args.iter().peekable();
    while let Some(word) = words.next() {
        if VALUED.contains(&word.as_str())
            && let Some(value) = words.peek()
        {
            let first = value.split_whitespace().next().unwrap_or_default();
            // The wide format of most cases and format 6 with other columns are different items.
            let wide = if **value == program.columns { " (wide)" } else { "" };
            things.insert(format!("{word} {first}{wide}"));
        } else if word.strip_prefix('-').is_some_and(|name| name.starts_with(char::is_alphabetic)) {
            things.insert(word.clone());
        }
    }
    // A case without any option counts as an item as well.
    if things.is_empty() {
        things.insert(case.id.clone());
    }
    things
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{BLASTP, PROGRAMS};

    fn quick(program: &Program) -> Vec<Case> {
        let cases = crate::cases::all(program).unwrap();
        cases.into_iter().filter(|case| case.quick).collect()
    }

    fn cost(program: &Program, cases: &[Case]) -> f64 {
        let costs = costs(program);
        cases.iter().map(|case| costs.get(case.id.as_str()).unwrap_or(&USUAL)).sum()
    }

    fn covered_pairs(program: &Program, cases: &[Case]) -> BTreeSet<Pair> {
        cases.iter().flat_map(|case| pairs_of(program, case)).collect()
    }

    #[test]
    fn whatever_meets_in_the_table_meets_in_the_sample() {
        for program in PROGRAMS {
            let whole = quick(program);
            let all = covered_pairs(program, &whole);
            assert!(all.len() > 1_000, "{}: {} pairs", program.name, all.len());
            for seed in 1..4 {
                let sample = covering(program, whole.clone(), seed);
                assert_eq!(covered_pairs(program, &sample), all, "{}, seed {seed}", program.name);
                let costs = (cost(program, &sample), cost(program, &whole));
                assert!(sample.len() * 5 < whole.len() * 3, "{} of {}", sample.len(), whole.len());
                assert!(costs.0 * 5.0 < costs.1 * 3.0, "{costs:?}");
            }
        }
        let all = covered_pairs(&BLASTP, &quick(&BLASTP));
        let meets = |a: &str, b: &str| all.contains(&(a.to_owned(), b.to_owned()));
        assert!(meets("-db db/part", "-query q/few.fa") && meets("-outfmt 5", "-query q/few.fa"));
    }

    #[test]
    fn eight_seeds_have_the_eighths_of_a_sample() {
        for program in PROGRAMS {
            let whole = quick(program);
            let eighths: Vec<_> =
                (8..16).map(|seed| eighth(program, whole.clone(), seed)).collect();
            assert_eq!(covered_pairs(program, &eighths.concat()), covered_pairs(program, &whole));
            for other in &eighths[1..] {
                assert!(eighths[0].len().abs_diff(other.len()) < 2);
                let costs = [&eighths[0], other].map(|eighth| cost(program, eighth));
                // One case of psiblast is as costly as all others.
                assert!(costs[0] < 4.0 * costs[1] && costs[1] < 4.0 * costs[0], "{costs:?}");
            }
        }
    }

    #[test]
    fn costs_are_those_of_cases() {
        for program in PROGRAMS {
            let cases = crate::cases::all(program).unwrap();
            let costs = costs(program);
            let lines = program.costs.lines().filter(|line| !line.starts_with('#'));
            assert_eq!(costs.len(), lines.count());
            for id in costs.keys() {
                assert!(cases.iter().any(|case| case.id == **id), "{id}");
            }
        }
    }

    #[test]
    fn seeds_choose_and_many_see_every_case() {
        for program in PROGRAMS {
            let whole = quick(program);
            let ids = |seed| eighth(program, whole.clone(), seed).into_iter().map(|case| case.id);
            assert!(ids(1).eq(ids(1)));
            assert!(!ids(1).eq(ids(2)));
            let samples = (0..20).flat_map(|seed| covering(program, whole.clone(), seed));
            let seen: BTreeSet<String> = samples.map(|case| case.id).collect();
            assert!(seen.len() * 10 > whole.len() * 9, "{} of {}", seen.len(), whole.len());
        }
    }
}
