//! Joins neighbouring hits of the same identifier. The worker that formats the first of them needs
//! the alignments of the others, which other workers may hold.

use fleetblast_engine::hits::SubjectHit;
use fleetblast_report::{join_hits, joins_hits};

use super::questions::{HitsByPartition, group_by_partition};
use crate::error::Error;
use crate::ranks::job::RankJob;
use crate::reports::report_failure;

/// Hits, with neighbours of the same identifier joined as in the report.
pub struct JoinedHits {
    /// The hits of each query.
    pub hits: Vec<Vec<SubjectHit>>,
    /// For each query, the hits that are joined to an earlier hit.
    pub later: Vec<Vec<SubjectHit>>,
    /// The hits of `later` by the partitions that hold their subjects. Empty if no hits are joined.
    pub asked_hits: HitsByPartition,
}

impl JoinedHits {
    /// Joins the hits of each query, if the report does so.
    ///
    /// # Errors
    /// Definition lines that cannot be read.
    pub fn new(job: &RankJob, hits: Vec<Vec<SubjectHit>>) -> Result<JoinedHits, Error> {
        let hits = match joins_hits(&job.report, job.subjects) {
            true => {
                let join = |hits: &Vec<SubjectHit>| join_hits(&job.report, job.subjects, hits);
                hits.iter().map(join).collect::<Result<_, _>>().map_err(|e| report_failure(&e))?
            }
            false => hits,
        };
        let later =
            |hits: &Vec<SubjectHit>| hits.iter().flat_map(|hit| hit.joined.clone()).collect();
        let later: Vec<Vec<SubjectHit>> = hits.iter().map(later).collect();
        let asked_hits = group_by_partition(job, &later, |hit| hit.oid);
        Ok(JoinedHits { hits, later, asked_hits })
    }

    /// Returns the hits. The hits `later`, with complete alignments, replace those that are joined
    /// to an earlier hit.
    pub fn with_alignments(self, later: Vec<Vec<SubjectHit>>) -> Vec<Vec<SubjectHit>> {
        let mut hits = self.hits;
        for (hits, later) in hits.iter_mut().zip(later) {
            let places = hits.iter_mut().flat_map(|hit| &mut hit.joined);
            places.zip(later).for_each(|(place, complete)| *place = complete);
        }
        hits
    }
}
