//! Finds included sequences one after the other, as BLAST+ does (`CSeqDBImpl::x_CheckOrFindOID`,
//! seqdbimpl.cpp).
//!
//! FIRST_OID and LAST_OID can be the only restriction of the only alias in `-db`. BLAST+ then also
//! applies these limits to the volumes that `-db` names besides the alias. It sets the limits in
//! its first search, after it compared the OID with the old limits. So the first OID that it finds
//! can be before the limits, and a later one right at their end. If BLAST+ counts sequences when it
//! opens the database, it removes the limits afterwards.

use std::ops::Range;

use crate::{Database, range};

/// The OIDs that an [`OidCursor`] finds.
#[derive(Clone, Debug)]
pub(crate) enum RetrievableOids {
    /// All OIDs: nothing restricts the database.
    All,
    /// The included OIDs of the database.
    Included,
    /// The OIDs of `listed` within `window`. The first search of the cursor sets the window.
    Limited { listed: Vec<Range<u32>>, window: Range<u32> },
}

/// Limits of the OIDs that a search can find. The first search replaces them.
#[derive(Clone, Debug)]
pub(crate) struct OidLimits {
    current: Range<u32>,
    /// The limits that the first search sets; `None` if they do not change any more.
    next: Option<Range<u32>>,
}

/// Result of the search for an included OID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    /// The next included OID; if there is none, the OID at which the search ended.
    oid: u32,
    is_included: bool,
}

impl OidLimits {
    pub(crate) fn new(count: u32, window: Option<Range<u32>>) -> Self {
        Self { current: 0..count, next: window }
    }

    /// Replaces the limits by the next ones, as BLAST+ does in its first search.
    fn apply_next_limits(&mut self) {
        if let Some(next) = self.next.take() {
            self.current = next;
        }
    }

    /// Finds the first OID from `oid` on that is in `listed` and within the limits. Without
    /// `listed`, every OID within the limits is found. The first call also replaces the limits.
    fn find(&mut self, listed: Option<&[Range<u32>]>, oid: u32) -> Answer {
        let oid = oid.max(self.current.start);
        let is_within = oid < self.current.end;
        self.apply_next_limits();
        match listed.filter(|_| is_within) {
            None => Answer { oid, is_included: is_within },
            Some(listed) => match range::first_oid_from(listed, oid) {
                None => Answer { oid, is_included: false },
                Some(oid) => Answer { oid, is_included: oid <= self.current.end },
            },
        }
    }

    /// Returns all included OIDs in ascending order.
    pub(crate) fn walk_included(
        &mut self,
        listed: Option<&[Range<u32>]>,
    ) -> impl Iterator<Item = u32> {
        let mut next = Some(0u32);
        std::iter::from_fn(move || {
            let found = self.find(listed, next?);
            next = found.oid.checked_add(1);
            found.is_included.then_some(found.oid)
        })
    }
}

/// Cursor over the sequences that `blastdbcmd` finds. Its first search replaces the limits by those
/// of FIRST_OID and LAST_OID for later searches, as in BLAST+.
#[derive(Debug)]
pub struct OidCursor {
    database: Database,
    limits: OidLimits,
}

impl OidCursor {
    pub(crate) fn new(database: Database, window: Option<Range<u32>>) -> Self {
        Self { limits: OidLimits::new(database.oid_count(), window), database }
    }

    /// Applies the limits of FIRST_OID and LAST_OID now. Otherwise the first search applies them,
    /// after it has compared its OID with the old limits.
    pub fn apply_alias_limits(&mut self) {
        self.limits.apply_next_limits();
    }

    /// Returns whether BLAST+ finds this OID.
    pub fn includes_oid(&mut self, oid: u32) -> bool {
        self.find_oid(oid).is_ok()
    }

    /// Returns `Ok` if BLAST+ finds the OID, otherwise the OID at which BLAST+ stopped searching.
    pub(crate) fn find_oid(&mut self, oid: u32) -> Result<(), u32> {
        let answer = self.limits.find(self.database.listed_oids(), oid);
        if answer.is_included && answer.oid == oid { Ok(()) } else { Err(answer.oid) }
    }

    /// Returns all included OIDs in ascending order.
    pub fn walk_included(&mut self) -> impl Iterator<Item = u32> {
        self.limits.walk_included(self.database.listed_oids())
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "lists of one range, not of numbers")]
mod tests {
    use super::*;

    fn walk(mut limits: OidLimits, listed: &[Range<u32>]) -> Vec<u32> {
        limits.walk_included(Some(listed)).collect()
    }

    /// The expected OIDs are those of `blastdbcmd -db "ALIAS VOLUME" -entry all`.
    #[test]
    fn the_first_and_the_last_answer_may_be_beyond_the_limits() {
        assert_eq!(walk(OidLimits::new(9, Some(3..5)), &[0..9]), [0, 3, 4]);
        assert_eq!(walk(OidLimits::new(9, Some(3..5)), &[3..4, 5..9]), [3, 5]);
        assert_eq!(walk(OidLimits::new(9, Some(3..5)), &[6..9]), [0; 0]);
        assert_eq!(walk(OidLimits::new(9, None), &[2..4, 8..9]), [2, 3, 8]);
        let mut limits = OidLimits::new(9, Some(3..5));
        limits.apply_next_limits();
        assert_eq!(walk(limits, &[0..9]), [3, 4]);
    }

    #[test]
    fn a_failed_question_ends_at_the_next_included_sequence() {
        let mut limits = OidLimits::new(9, None);
        let answer = |oid, is_included| Answer { oid, is_included };
        assert_eq!(limits.find(Some(&[2..4, 8..9]), 5), answer(8, true));
        assert_eq!(limits.find(Some(&[2..4]), 5), answer(5, false));
        assert_eq!(limits.find(None, 9), answer(9, false));
    }
}
