//! Counts the queries before the search.

use std::io::BufRead;

use fleetblast_fleet::payload::Weight;
use fleetblast_seq::input;
use memchr::memchr;

use crate::plan::{Plan, Source};

/// Counts the queries of an input that can be read twice, and approximately their searched
/// residues. Returns `None` for other inputs.
pub fn count_queries(plan: &Plan) -> Option<Weight> {
    if let Some(start) = &plan.initial_pssm {
        return Some(Weight { sequences: 1, residues: start.pssm.query.len() as u64 });
    }
    let Source::File(path) = &plan.query else { return None };
    if !path.is_file() {
        return None;
    }
    let (start, end) = plan
        .query_range
        .as_ref()
        .map_or((0, u64::MAX), |range| (range.start as u64, range.end as u64));
    count_records(input::open(path, |_| {}).ok()?, |residues| {
        residues.min(end).saturating_sub(start)
    })
}

/// Counts the records of an input; `None` if it cannot be read. `searched` maps the residues of a
/// record to those that are searched.
fn count_records(mut input: impl BufRead, searched: impl Fn(u64) -> u64) -> Option<Weight> {
    let mut total = Weight::default();
    // State of the current record. The first record may lack a definition line.
    let (mut residues, mut at_start, mut in_title) = (0, true, false);
    loop {
        let bytes = input.fill_buf().ok()?;
        if bytes.is_empty() {
            total.residues += searched(residues);
            total.sequences += u64::from(total.sequences == 0 && residues > 0);
            return Some(total);
        }
        if at_start && bytes[0] == b'>' {
            total.residues += searched(residues);
            total.sequences += 1 + u64::from(total.sequences == 0 && residues > 0);
            (residues, in_title) = (0, true);
        }
        let line = memchr(b'\n', bytes);
        let text = &bytes[..line.unwrap_or(bytes.len())];
        if !in_title {
            let carriage_return = u64::from(text.last() == Some(&b'\r'));
            residues += text.len() as u64 - carriage_return;
        }
        let used = text.len() + usize::from(line.is_some());
        at_start = line.is_some();
        in_title &= !at_start;
        input.consume(used);
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn buffer_boundaries_do_not_change_the_counts() {
        let whole = |residues| residues;
        let text = b">a > b\nMKV\nLL\r\n\n>c\n>d\nAAAA";
        for capacity in 1..40 {
            let input = BufReader::with_capacity(capacity, &text[..]);
            let want = Weight { sequences: 3, residues: 9 };
            assert_eq!(count_records(input, whole), Some(want), "{capacity}");
        }
        let input = |text: &'static [u8]| BufReader::new(text);
        let bare = Weight { sequences: 2, residues: 5 };
        assert_eq!(count_records(input(b"MKV\n>a\nLL\n"), whole), Some(bare));
        assert_eq!(count_records(input(b""), whole), Some(Weight::default()));
        let part = |residues: u64| residues.min(3).saturating_sub(1);
        let want = Weight { sequences: 2, residues: 3 };
        assert_eq!(count_records(input(b">a\nMKVLL\n>b\nMK\n"), part), Some(want));
    }
}
