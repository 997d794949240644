//! Best hit: an HSP is dropped if it lies inside another of clearly higher score per residue (`hspfilter_besthit.c`).

use super::Item;

/// An HSP on the list, with the range it occupies there.
#[derive(Clone, Copy, Debug)]
struct Entry {
    begin: i32,
    end: i32,
    /// Index of the item.
    item: usize,
}

/// The numbers of the items that survive when they arrive in this order, as they are listed then. When more than `limit` are listed,
/// they are put in order afresh.
pub(super) fn survivors(items: &[Item], overhang: f64, edge: f64, limit: usize) -> Vec<usize> {
    let mut list = List { items, overhang, share: 1.0 - edge, entries: Vec::new() };
    let mut limit = limit;
    for i in 0..items.len() {
        if list.is_bad(i) {
            continue;
        }
        list.drop_worse_than(i);
        list.insert_extended(i);
        if list.entries.len() > limit {
            list.renew();
            limit = 2 * list.entries.len();
        }
    }
    list.entries.iter().map(|entry| entry.item).collect()
}

struct List<'a> {
    items: &'a [Item],
    overhang: f64,
    /// 1 − edge.
    share: f64,
    /// By ascending begin.
    entries: Vec<Entry>,
}

fn density(item: &Item) -> f64 {
    f64::from(item.score) / f64::from(item.len())
}

impl List<'_> {
    /// Whether a listed HSP makes the new one superfluous.
    fn is_bad(&self, new: usize) -> bool {
        let item = &self.items[new];
        let bar = density(item) / self.share;
        self.entries
            .iter()
            .skip_while(|p| p.end < item.end)
            .take_while(|p| p.begin <= item.begin)
            .any(|p| {
                let other = &self.items[p.item];
                p.end >= item.end && other.evalue <= item.evalue && density(other) > bar
            })
    }

    fn drop_worse_than(&mut self, new: usize) {
        let item = &self.items[new];
        let len = f64::from(item.len());
        // Truncated to whole residues one by one, as in the C original.
        let wide = (2.0 * len * self.overhang / (1.0 - 2.0 * self.overhang)) as i32;
        let overhang = (len * self.overhang) as i32;
        let (from, to) = (item.begin - wide, item.end + wide);
        let bar = density(item) * self.share;
        let items = self.items;
        self.entries.retain(|p| {
            if p.begin < from || p.begin >= to {
                return true;
            }
            let other = &items[p.item];
            let own = (p.end - p.begin - other.len()) / 2;
            let inside =
                p.begin + own >= item.begin - overhang && p.end - own <= item.end + overhang;
            !(inside && other.evalue >= item.evalue && density(other) < bar)
        });
    }

    fn insert_extended(&mut self, new: usize) {
        let item = &self.items[new];
        let overhang = (f64::from(item.len()) * self.overhang) as i32;
        let (begin, end) = (item.begin - overhang, item.end + overhang);
        self.insert(Entry { begin, end, item: new });
    }

    fn insert(&mut self, entry: Entry) {
        let at = self.entries.partition_point(|p| p.begin < entry.begin);
        self.entries.insert(at, entry);
    }

    /// Regroups the list by subject in order of first appearance, and lists everything again with its true range.
    fn renew(&mut self) {
        let old = std::mem::take(&mut self.entries);
        let mut rank = std::collections::HashMap::new();
        for entry in &old {
            let next = rank.len();
            rank.entry(self.items[entry.item].oid).or_insert(next);
        }
        let mut order: Vec<usize> = old.iter().map(|entry| entry.item).collect();
        order.sort_by_key(|&i| rank[&self.items[i].oid]);
        for i in order {
            let item = &self.items[i];
            self.insert(Entry { begin: item.begin, end: item.end, item: i });
        }
    }
}
