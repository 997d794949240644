//! From place to place of a subject, to words that the queries have.

use super::bases::window;
use super::table::Table;

/// Places of a subject: each `stride` bases from `start` on, before `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub start: u32,
    pub end: u32,
    pub stride: u32,
}

/// So many places are looked at before their words are looked up.
const AT_ONCE: usize = 1024;

/// The places of a part of a subject whose words the queries have.
#[derive(Debug)]
pub(super) struct Candidates(Box<[u32; AT_ONCE]>);

impl Default for Candidates {
    fn default() -> Self {
        Candidates(Box::new([0; AT_ONCE]))
    }
}

impl Candidates {
    /// Looks at the next places, and returns those with words of the queries.
    pub fn next(&mut self, tables: &[Table], bytes: &[u8], places: &mut Places) -> &[u32] {
        match tables {
            [table] => self.gather(bytes, places, |bases| table.has(bases)),
            tables => {
                self.gather(bytes, places, |bases| tables.iter().any(|table| table.has(bases)))
            }
        }
    }

    /// Without branches: each place is written, and only those that have words stay.
    #[inline]
    fn gather(&mut self, bytes: &[u8], places: &mut Places, has: impl Fn(u64) -> bool) -> &[u32] {
        let left = places.end.saturating_sub(places.start).div_ceil(places.stride) as usize;
        let mut count = 0;
        let mut at = places.start;
        for _ in 0..left.min(AT_ONCE) {
            self.0[count] = at;
            count += usize::from(has(window(bytes, at as usize)));
            at = at.saturating_add(places.stride);
        }
        places.start = at;
        &self.0[..count]
    }
}
