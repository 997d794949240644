//! Intersects the identifiers of an alias with those of the user's list, in version 5.
//!
//! BLAST+ sorts both lists and walks through them side by side (`s_ProcessSeqIdFilters`,
//! seqdboidlist.cpp). Identifiers that [match](SeqId::matches) count as equal, others compare as
//! bytes. This comparison is not transitive: `A.1` and `A.2` both equal `A`. So the intersection
//! depends on the sorting algorithm. This module repeats the steps of the C++ library that BLAST+
//! is built with.

use std::cell::OnceCell;

use fleetblast_seq::id::{IdException, SeqId, parse_list_entry};

/// Maximal length of a list that the library sorts by insertion alone.
const SHORT: usize = 16;

/// An identifier of a list, as text and parsed.
#[derive(Debug)]
pub(super) struct ListedId {
    text: Vec<u8>,
    /// The parsed identifier, set when it is first compared with another one.
    id: OnceCell<Result<SeqId, IdException>>,
}

impl ListedId {
    pub(super) fn new(text: Vec<u8>) -> Self {
        Self { text, id: OnceCell::new() }
    }

    pub(super) fn into_text(self) -> Vec<u8> {
        self.text
    }

    fn id(&self) -> Result<&SeqId, IdException> {
        self.id.get_or_init(|| parse_list_entry(&self.text)).as_ref().map_err(Clone::clone)
    }

    /// Returns whether this identifier sorts before the other one.
    fn precedes(&self, other: &Self) -> Result<bool, IdException> {
        if self.text == other.text {
            return Ok(false);
        }
        Ok(!self.id()?.matches(other.id()?) && self.text < other.text)
    }
}

/// Sorts identifiers in the steps of the C++ library.
///
/// # Errors
/// [`IdException`] for a text that is no identifier.
pub(super) fn sort(names: &mut [ListedId]) -> Result<(), IdException> {
    let depth = 2 * names.len().checked_ilog2().unwrap_or(0);
    part(names, 0, names.len(), depth)?;
    for last in 1..names.len() {
        insert(names, last)?;
    }
    Ok(())
}

/// Partitions names like quicksort, until each group of at most [`SHORT`] has its final members, in
/// any order.
fn part(
    names: &mut [ListedId],
    first: usize,
    mut last: usize,
    depth: u32,
) -> Result<(), IdException> {
    let mut depth = depth;
    while last - first > SHORT {
        if depth == 0 {
            // The library would use heap sort here, but no known list gets here.
            names[first..last].sort_by(|a, b| a.text.cmp(&b.text));
            return Ok(());
        }
        depth -= 1;
        let cut = partition(names, first, last)?;
        part(names, cut, last, depth)?;
        last = cut;
    }
    Ok(())
}

/// Moves the names that precede the median of three before the other names. Returns the index of
/// the first other name.
fn partition(names: &mut [ListedId], first: usize, last: usize) -> Result<usize, IdException> {
    let (second, middle) = (first + 1, first + (last - first) / 2);
    let median = median(names, second, middle, last - 1)?;
    names.swap(first, median);
    let (mut low, mut high) = (second, last);
    loop {
        // In the library the pivot ends both loops. Names without a consistent order may pass the
        // pivot, so the bounds are checked here.
        while low < last && names[low].precedes(&names[first])? {
            low += 1;
        }
        high -= 1;
        while high > first && names[first].precedes(&names[high])? {
            high -= 1;
        }
        if low >= high {
            return Ok(low);
        }
        names.swap(low, high);
        low += 1;
    }
}

fn median(names: &[ListedId], a: usize, b: usize, c: usize) -> Result<usize, IdException> {
    let precedes = |one: usize, next: usize| names[one].precedes(&names[next]);
    Ok(if precedes(a, b)? {
        if precedes(b, c)? {
            b
        } else if precedes(a, c)? {
            c
        } else {
            a
        }
    } else if precedes(a, c)? {
        a
    } else if precedes(b, c)? {
        c
    } else {
        b
    })
}

/// Moves the name at `last` to its place among the earlier ones.
fn insert(names: &mut [ListedId], last: usize) -> Result<(), IdException> {
    let mut at = last;
    if last < SHORT && names[last].precedes(&names[0])? {
        at = 0;
    } else {
        while at > 0 && names[last].precedes(&names[at - 1])? {
            at -= 1;
        }
    }
    names[at..=last].rotate_right(1);
    Ok(())
}

/// Returns the identifiers of `names` that are also in `others`. Both lists must be sorted.
///
/// # Errors
/// [`IdException`] for a text that is no identifier.
pub(super) fn intersection(
    names: Vec<ListedId>,
    others: &[ListedId],
) -> Result<Vec<ListedId>, IdException> {
    let (mut common, mut at) = (Vec::new(), 0);
    for name in names {
        while at < others.len() && !name.precedes(&others[at])? {
            let is_less = others[at].precedes(&name)?;
            at += 1;
            if !is_less {
                common.push(name);
                break;
            }
        }
        if at == others.len() {
            break;
        }
    }
    Ok(common)
}

/// Returns the identifiers of `names` that are not in `others`. Both lists must be sorted as bytes.
///
/// # Errors
/// [`IdException`] for a text that is no identifier.
pub(super) fn difference(
    names: Vec<ListedId>,
    others: &[ListedId],
) -> Result<Vec<ListedId>, IdException> {
    let (mut left, mut at) = (Vec::new(), 0);
    for name in names {
        let mut is_in_both = false;
        while at < others.len() && !is_in_both && !name.precedes(&others[at])? {
            is_in_both = !others[at].precedes(&name)?;
            at += 1;
        }
        if !is_in_both {
            left.push(name);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &str) -> Vec<ListedId> {
        words.split(' ').map(|word| ListedId::new(word.as_bytes().to_vec())).collect()
    }

    fn sort_ids(words: &str) -> Vec<ListedId> {
        let mut names = names(words);
        sort(&mut names).unwrap();
        names
    }

    fn words(names: &[ListedId]) -> String {
        let texts: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(&name.text)).collect();
        texts.join(" ")
    }

    #[test]
    fn equal_names_stay_in_order() {
        assert_eq!(
            words(&sort_ids("AF000002.1 AF000002 AF000001")),
            "AF000001 AF000002.1 AF000002"
        );
        let many: Vec<_> = (0..200).map(|i| format!("AF{:06}.1", i * 77 % 200)).collect();
        let expected: Vec<_> = (0..200).map(|i| format!("AF{i:06}.1")).collect();
        assert_eq!(words(&sort_ids(&many.join(" "))), expected.join(" "));
    }

    #[test]
    fn versions_may_be_left_out() {
        let alias = || sort_ids("AF000001.1 AF000002.1 AF000003 D00001.1");
        let user = sort_ids("AF000002 AF000003.1 D00001.2 X00001");
        assert_eq!(words(&intersection(alias(), &user).unwrap()), "AF000002.1 AF000003");
        assert_eq!(words(&difference(alias(), &user).unwrap()), "AF000001.1 D00001.1");
        assert_eq!(words(&difference(alias(), &[]).unwrap()), words(&alias()));
        assert!(intersection(alias(), &[]).unwrap().is_empty());
    }

    #[test]
    fn a_name_of_one_list_takes_one_of_the_other() {
        let user = sort_ids("AF000002");
        let alias = || sort_ids("AF000002.1 AF000002.2");
        assert_eq!(words(&intersection(alias(), &user).unwrap()), "AF000002.1");
        assert_eq!(words(&difference(alias(), &user).unwrap()), "AF000002.2");
    }

    #[test]
    fn a_name_that_is_none_is_refused_when_it_is_compared() {
        assert_eq!(words(&sort_ids("a[b")), "a[b");
        let refusal = sort(&mut names("AF000001 a[b")).unwrap_err();
        assert_eq!(refusal.text(), "Malformatted ID a[b");
    }
}
