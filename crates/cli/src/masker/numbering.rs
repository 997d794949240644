//! Numbers of sequences without identifiers.

use fleetblast_seq::id::{ObjectId, SeqId};

/// Counter of sequences without identifiers.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    last: i64,
}

impl Numbering {
    /// Returns the identifiers of a sequence: its own, or else a number.
    pub(super) fn identify(&mut self, ids: &[SeqId]) -> Vec<SeqId> {
        if !ids.is_empty() {
            return ids.to_vec();
        }
        self.last += 1;
        vec![SeqId::Local(ObjectId::Number(self.last))]
    }
}
