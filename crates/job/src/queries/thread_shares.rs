//! The shares of queries that BLAST+ gives to threads with `-mt_mode 1`.

use fleetblast_db::SequenceKind;

use crate::plan::{Plan, ThreadDivision};

/// Counter of the shares into which BLAST+ divides queries among threads.
#[derive(Default)]
pub struct ThreadShares {
    count: usize,
    /// Number of letters that the last share still accepts.
    room: usize,
}

impl ThreadShares {
    /// Adds a query with this number of searched letters.
    pub fn add(&mut self, plan: &Plan, length: usize) {
        let Some(letters) = plan.thread_letters else { return };
        if self.room == 0 {
            self.count += 1;
            self.room = letters;
        }
        self.room = self.room.saturating_sub(length);
    }

    /// Returns BLAST+'s warning if there are fewer shares than threads
    /// (`CheckMTByQueries_QuerySize`, blast_app_util.cpp).
    pub fn warning(&self, plan: &Plan) -> Option<String> {
        let letters = plan.thread_letters?;
        let is_few = plan.split == ThreadDivision::Queries && self.count < plan.threads.count;
        let unit = if plan.query_kind == SequenceKind::Nucleotide { "bases" } else { "residues" };
        is_few.then(|| {
            format!(
                "This set of queries is too small to fully benefit from the -mt_mode=1 option. The total number of \
                 letters should be at least {letters} {unit} per thread."
            )
        })
    }
}
