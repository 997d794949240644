use super::*;

/// The list of BLAST+, which examines every entry, as the reference.
struct Naive<'a> {
    items: &'a [Item],
    overhang: f64,
    share: f64,
    entries: Vec<Entry>,
}

impl Naive<'_> {
    fn is_bad(&self, item: &Item) -> bool {
        self.entries.iter().any(|p| {
            let other = &self.items[p.item];
            p.begin <= item.begin
                && p.end >= item.end
                && other.evalue <= item.evalue
                && density(other) > density(item) / self.share
        })
    }

    fn drop_worse_than(&mut self, item: &Item) {
        let (items, share) = (self.items, self.share);
        let len = f64::from(item.len());
        let wide = (2.0 * len * self.overhang / (1.0 - 2.0 * self.overhang)) as i32;
        let overhang = (len * self.overhang) as i32;
        self.entries.retain(|p| {
            let other = &items[p.item];
            let own = (p.end - p.begin - other.len()) / 2;
            let is_near = p.begin >= item.begin - wide && p.begin < item.end + wide;
            let inside =
                p.begin + own >= item.begin - overhang && p.end - own <= item.end + overhang;
            let is_worse = other.evalue >= item.evalue && density(other) < density(item) * share;
            !(is_near && inside && is_worse)
        });
    }

    fn insert(&mut self, begin: i32, end: i32, item: usize) {
        let at = self.entries.partition_point(|p| p.begin < begin);
        self.entries.insert(at, Entry { begin, end, item });
    }

    fn renew(&mut self) {
        let old: Vec<usize> = std::mem::take(&mut self.entries).iter().map(|p| p.item).collect();
        let mut oids: Vec<u32> = Vec::new();
        for &item in &old {
            if !oids.contains(&self.items[item].oid) {
                oids.push(self.items[item].oid);
            }
        }
        for oid in oids {
            for &item in old.iter().filter(|&&item| self.items[item].oid == oid) {
                self.insert(self.items[item].begin, self.items[item].end, item);
            }
        }
    }

    fn survivors(mut self, mut limit: usize) -> Vec<usize> {
        for (number, item) in self.items.iter().enumerate() {
            if self.is_bad(item) {
                continue;
            }
            self.drop_worse_than(item);
            let overhang = (f64::from(item.len()) * self.overhang) as i32;
            self.insert(item.begin - overhang, item.end + overhang, number);
            if self.entries.len() > limit {
                self.renew();
                limit = 2 * self.entries.len();
            }
        }
        self.entries.iter().map(|p| p.item).collect()
    }
}

#[test]
fn survivors_are_those_of_the_list_that_is_looked_through() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in 1..=90u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let span = 40 << random.u8(..8);
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..150 {
            let begin = random.i32(0..span);
            let len = 1 + (random.i32(0..span / 4 * 3) >> random.u8(..6));
            let density = random.i32(20..80);
            let (score, evalue) = (1 + len * density / 40, f64::from(random.u8(..9)));
            let oid = random.u32(..12);
            let new = Item { begin, end: begin + len, s_start: 0, score, evalue, oid };
            let again = items.get(random.usize(..300)).copied();
            items.push(again.map_or(new, |old| Item { begin: old.begin, end: old.end, ..new }));
        }
        let (overhang, edge) =
            (f64::from(random.u8(..40)) / 100.0, f64::from(random.u8(1..=40)) / 100.0);
        let limit = [1, 20, 1000][random.usize(..3)];
        let naive = Naive { items: &items, overhang, share: 1.0 - edge, entries: Vec::new() };
        let expected = naive.survivors(limit);
        kept += expected.len();
        dropped += items.len() - expected.len();
        assert_eq!(survivors(&items, overhang, edge, limit), expected, "seed {seed}");
    }
    assert!(kept > 1000 && dropped > 1000, "{kept} {dropped}");
}
