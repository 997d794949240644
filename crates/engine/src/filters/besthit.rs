//! Best hit: an HSP is dropped if it lies inside another of clearly higher score per residue
//! (`hspfilter_besthit.c`).

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Item;

/// An HSP in the list. Its range in the query is longer at both ends by an overhang, until the list
/// is renewed.
#[derive(Clone, Copy, Debug)]
struct Entry {
    begin: i32,
    end: i32,
    /// Index of the HSP among the items.
    item: usize,
}

/// Sort key of an entry in the list: ascending begin, then the latest insertion first.
type Place = (i32, Reverse<usize>);

/// Returns the indexes of the items that survive, by ascending begin of their entries. The items
/// arrive in the given order. When the list exceeds `limit` entries, [`List::renew`] rebuilds it,
/// and twice its new length becomes the limit.
pub(super) fn survivors(items: &[Item], overhang: f64, edge: f64, limit: usize) -> Vec<usize> {
    let mut list = List::new(items, overhang, 1.0 - edge);
    let mut limit = limit;
    for i in 0..items.len() {
        if list.is_redundant(i) {
            continue;
        }
        list.drop_worse_than(i);
        list.insert_extended(i);
        if list.count > limit {
            list.renew();
            limit = 2 * list.count;
        }
    }
    list.in_order().map(|entry| entry.item).collect()
}

struct List<'a> {
    items: &'a [Item],
    overhang: f64,
    /// Factor of the score per residue, 1 minus `edge`: a lower score per residue than that is
    /// clearly worse.
    share: f64,
    /// Entries by class, the number of bits of the length of an entry. An entry that contains a
    /// range is of the range's class or a higher one. It begins at most its own length before the
    /// end of the range.
    classes: Vec<BTreeMap<Place, Entry>>,
    /// Number of entries. `inserted` is the number of insertions since the list was made or
    /// renewed.
    count: usize,
    inserted: usize,
}

fn density(item: &Item) -> f64 {
    f64::from(item.score) / f64::from(item.len())
}

/// Returns the number of bits of a length.
fn class(length: i32) -> usize {
    (u32::BITS - length.max(0).cast_unsigned().leading_zeros()) as usize
}

/// Returns the lowest possible key of an entry that begins at `begin`.
fn first_at(begin: i32) -> Place {
    (begin, Reverse(usize::MAX))
}

impl<'a> List<'a> {
    fn new(items: &'a [Item], overhang: f64, share: f64) -> Self {
        let classes = vec![BTreeMap::new(); u32::BITS as usize];
        List { items, overhang, share, classes, count: 0, inserted: 0 }
    }

    /// Returns whether a listed HSP makes the new one redundant.
    fn is_redundant(&self, new: usize) -> bool {
        let item = &self.items[new];
        let bar = density(item) / self.share;
        let longer = self.classes.iter().enumerate().skip(class(item.len()));
        let mut near =
            longer.filter(|(_, entries)| !entries.is_empty()).flat_map(|(class, all)| {
                let first = i64::from(item.end) - (1 << class);
                let first = i32::try_from(first).unwrap_or(i32::MIN).min(item.begin);
                all.range(first_at(first)..=(item.begin, Reverse(0))).map(|(_, entry)| entry)
            });
        near.any(|p| {
            let other = &self.items[p.item];
            p.end >= item.end && other.evalue <= item.evalue && density(other) > bar
        })
    }

    fn drop_worse_than(&mut self, new: usize) {
        let item = &self.items[new];
        let len = f64::from(item.len());
        // Each value is truncated to whole residues separately, as in BLAST+.
        let wide = (2.0 * len * self.overhang / (1.0 - 2.0 * self.overhang)) as i32;
        let overhang = (len * self.overhang) as i32;
        let (from, to) = (item.begin - wide, item.end + wide);
        let bar = density(item) * self.share;
        let items = self.items;
        let is_worse = |p: &Entry| {
            let other = &items[p.item];
            let own = (p.end - p.begin - other.len()) / 2;
            let inside =
                p.begin + own >= item.begin - overhang && p.end - own <= item.end + overhang;
            inside && other.evalue >= item.evalue && density(other) < bar
        };
        for entries in self.classes.iter_mut().filter(|_| from < to) {
            let near = entries.range(first_at(from)..first_at(to));
            let worse: Vec<Place> =
                near.filter(|&(_, p)| is_worse(p)).map(|(&place, _)| place).collect();
            self.count -= worse.len();
            for place in worse {
                entries.remove(&place);
            }
        }
    }

    fn insert_extended(&mut self, new: usize) {
        let item = &self.items[new];
        let overhang = (f64::from(item.len()) * self.overhang) as i32;
        let (begin, end) = (item.begin - overhang, item.end + overhang);
        self.insert(Entry { begin, end, item: new });
    }

    fn insert(&mut self, entry: Entry) {
        let place = (entry.begin, Reverse(self.inserted));
        self.classes[class(entry.end - entry.begin)].insert(place, entry);
        self.count += 1;
        self.inserted += 1;
    }

    /// Returns the entries by ascending begin; of entries with the same begin, the latest one comes
    /// first.
    fn in_order(&self) -> impl Iterator<Item = Entry> {
        let mut all: Vec<(Place, Entry)> =
            self.classes.iter().flatten().map(|(&place, &entry)| (place, entry)).collect();
        all.sort_unstable_by_key(|&(place, _)| place);
        all.into_iter().map(|(_, entry)| entry)
    }

    /// Rebuilds the list: groups the entries by subject, in order of first appearance, and inserts
    /// them again with the true ranges of their HSPs, without overhang.
    fn renew(&mut self) {
        let mut order: Vec<usize> = self.in_order().map(|entry| entry.item).collect();
        let mut rank = std::collections::HashMap::new();
        for &item in &order {
            let next = rank.len();
            rank.entry(self.items[item].oid).or_insert(next);
        }
        order.sort_by_key(|&i| rank[&self.items[i].oid]);
        *self = List::new(self.items, self.overhang, self.share);
        for i in order {
            let item = &self.items[i];
            self.insert(Entry { begin: item.begin, end: item.end, item: i });
        }
    }
}

#[cfg(test)]
mod tests;
