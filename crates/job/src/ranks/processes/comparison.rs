//! Checks that all ranks run the same job. Before anything is written, the ranks compare builds,
//! options and databases.
//!
//! Ranks that open the same files have the same *view* of the database. Files are the same if host,
//! device, inode, size and times are equal. On a network file system, host and device are not
//! compared. One rank of each view reads the files for the fingerprint. If only one view holds a
//! partition, a rank of another view reads it, too. If all ranks have the same view, there is
//! nothing to compare.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;

use fleetblast_db::partition::VolumeFile;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_fleet::topology::Topology;
use fleetblast_mpi::name_rank;
use fleetblast_spool::{Difference, JobProperties};

use crate::digest::Digest;
use crate::error::{Error, exit};
use crate::fingerprint::SequenceFile;
use crate::fingerprint::{FingerprintItem, FingerprintSums, VolumeFingerprints};
use crate::inputs;
use crate::plan::Plan;
use crate::processes::{Collective, JobProcesses};
use crate::ranks::DatabaseCut;
use crate::ranks::database_fingerprint;
use crate::ranks::{job_properties, layout};
use crate::subjects::SubjectDatabase;

/// Compares the ranks of a job with each other.
pub struct RankComparison<'a> {
    /// All ranks.
    pub processes: &'a JobProcesses,
    /// Host name of each rank.
    pub hosts: &'a [String],
}

/// Two ranks that have different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DifferingRanks {
    /// The first rank whose value is not the most frequent one.
    differing: usize,
    /// The first rank with the most frequent value.
    usual: usize,
}

impl RankComparison<'_> {
    /// Checks that all ranks run the same build with the same options. Collective over all ranks.
    ///
    /// # Errors
    /// The ranks differ. The error is silent on all ranks but one.
    pub fn agree_on_plan(&self, plan: &Plan) -> Result<(), Error> {
        let own = self.processes.require_all(job_properties::plan_properties(plan))?;
        let options = own.options.into_iter().chain(plan.fleet.equal_options.clone()).collect();
        let refused = |what| Error::new(exit::INPUT, format!("Error: {what}"));
        self.require_equal_properties(&JobProperties { options, ..own }, "", refused)
    }

    /// Checks that all ranks open databases with the same description. Collective over all ranks.
    ///
    /// # Errors
    /// The ranks differ. The error is silent on all ranks but one.
    pub fn agree_on_database(&self, plan: &Plan, subjects: &SubjectDatabase) -> Result<(), Error> {
        let database =
            job_properties::database_properties(plan, subjects, &VolumeFingerprints::default());
        let options =
            database.and_then(|database| Ok((database, inputs::digest_taxonomy_files(subjects)?)));
        let (database, options) = self.processes.require_all(options)?;
        let own = JobProperties { database, options, ..JobProperties::default() };
        let place = subjects.searched.volume_paths().next();
        let place = place.map(|path| path.display().to_string()).unwrap_or_default();
        self.require_equal_properties(&own, &place, Error::database)
    }

    /// Checks that all ranks open the same sequences, as far as they will read them. Collective
    /// over all ranks. Returns the fingerprint of the database if it is
    /// [wanted](database_fingerprint::is_fingerprint_wanted).
    ///
    /// # Errors
    /// The ranks differ. The error is silent on all ranks but one.
    pub fn agree_on_fingerprint(
        &self,
        plan: &Plan,
        subjects: &SubjectDatabase,
        cut: &DatabaseCut,
    ) -> Result<VolumeFingerprints, Error> {
        let views = self.file_views(subjects)?;
        let is_shared = views.iter().all(|&view| view == 0);
        if !subjects.is_on_disk()
            || is_shared && !database_fingerprint::is_fingerprint_wanted(plan, subjects)
        {
            return Ok(VolumeFingerprints::default());
        }
        let wanted = parts_to_read(&cut.topology, &views, self.processes.world.rank());
        let own = self
            .processes
            .require_all(database_fingerprint::read_sums(plan, subjects, cut, wanted))?;
        let mut lengths = Digest::default();
        lengths.add(&cut.partitions);
        let (lengths, sums): (Vec<u128>, Vec<FingerprintSums>) =
            self.processes.gather(&(lengths.finish(), own))?.into_iter().unzip();
        if let Some(pair) = find_differing_ranks(lengths) {
            let place = String::from_utf8_lossy(&subjects.summary.label);
            self.refuse_database(pair, &place, "other lengths of sequences")?;
        }
        if let Some((pair, item)) = find_differing_sum(&sums, &views) {
            let oids = cut.partitions.get(item.partition.index()).cloned().unwrap_or_default();
            let side = match item.sequence_file {
                SequenceFile::Residues => "residues",
                SequenceFile::Headers => "definition lines",
            };
            // Messages number sequences from 1.
            let what = format!("other {side} among sequences {} to {}", oids.start + 1, oids.end);
            let place = file_name(subjects, item.volume, item.sequence_file.file());
            self.refuse_database(pair, &place, &what)?;
        }
        Ok(VolumeFingerprints::from_sums(&sums.into_iter().flatten().collect()))
    }

    /// Checks that all ranks have the same properties. `place` is the file that the properties come
    /// from, or empty if they come from no file.
    fn require_equal_properties(
        &self,
        own: &JobProperties,
        place: &str,
        refused: impl Fn(String) -> Error,
    ) -> Result<(), Error> {
        let bytes = postcard::to_allocvec(&(own, place)).map_err(Error::engine)?;
        let mut digest = Digest::default();
        digest.add(own);
        // The ranks may run different builds: the bytes of a digest are the same in all of them.
        let digests = self.processes.gather_bytes(digest.finish().to_le_bytes().to_vec())?;
        let Some(pair) = find_differing_ranks(digests) else { return Ok(()) };
        let usual = self.processes.broadcast_from(pair.usual, Some(bytes))?.unwrap_or_default();
        let verdict = || {
            let (usual, usual_place): (JobProperties, String) =
                postcard::from_bytes(&usual).ok()?;
            let differences = usual.differences(own).0;
            let described: Vec<_> =
                differences.iter().take(MOST_DIFFERENCES).map(describe_difference).collect();
            let places = match place {
                "" => String::new(),
                place => format!(" ({place} is not {usual_place})"),
            };
            Some(format!("{} differ{places}: {}", self.name_ranks(pair), described.join("; ")))
        };
        let same = || {
            // Values that cannot be decoded or compared come from another build.
            let build = || format!("{} run different builds of FleetBLAST", self.name_ranks(pair));
            Err(refused(verdict().unwrap_or_else(build)))
        };
        self.processes.require_all(if self.processes.world.rank() == pair.differing {
            same()
        } else {
            Ok(())
        })
    }

    /// Ends the job, because two ranks open different databases. `place` is the file of this rank,
    /// and `what` says how it differs.
    fn refuse_database(&self, pair: DifferingRanks, place: &str, what: &str) -> Result<(), Error> {
        let usual = self.processes.broadcast_from(pair.usual, Some(place.as_bytes().to_vec()))?;
        let usual = String::from_utf8_lossy(&usual.unwrap_or_default()).into_owned();
        let is_same_path =
            place == usual && self.hosts.get(pair.differing) == self.hosts.get(pair.usual);
        let difference = match is_same_path {
            true => {
                format!(
                    "{place} may have been replaced while they opened it ({what}); start the job again"
                )
            }
            false => format!("{place} has {what} than {usual}"),
        };
        let refused = || {
            let names = self.name_ranks(pair);
            Error::database(format_args!("{names} search different databases: {difference}"))
        };
        self.processes.require_all(if self.processes.world.rank() == pair.differing {
            Err(refused())
        } else {
            Ok(())
        })
    }

    fn name_ranks(&self, pair: DifferingRanks) -> String {
        let [differing, usual] = [pair.differing, pair.usual]
            .map(|rank| name_rank(rank, self.hosts.get(rank).map(String::as_str)));
        format!("{differing} and {usual}")
    }

    /// Returns the number of each rank's view. Ranks with the same view open the same files.
    fn file_views(&self, subjects: &SubjectDatabase) -> Result<Vec<u32>, Error> {
        let mut seen = Digest::default();
        // Hosts may give different device numbers to the same network file system.
        let remote = layout::is_remote(&subjects.searched);
        seen.add(&(!remote).then(|| self.processes.world.host()));
        // Compares the opened files, not the paths: somebody may replace the database meanwhile.
        for data in subjects.searched.file_metadata() {
            let times = (data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec());
            seen.add(&((!remote).then(|| data.dev()), data.ino(), data.size(), times));
        }
        let all = self.processes.gather(&seen.finish())?;
        let mut numbers = HashMap::new();
        let number = |seen| {
            let next = numbers.len() as u32;
            *numbers.entry(seen).or_insert(next)
        };
        Ok(all.into_iter().map(number).collect())
    }
}

/// Largest number of differences that a message lists.
const MOST_DIFFERENCES: usize = 4;

/// Describes a difference: the value of the differing rank, and the most frequent value.
fn describe_difference(Difference { what, old_value, new_value }: &Difference) -> String {
    let value = |value: &Option<String>| match value {
        Some(value) => format!("'{value}'"),
        None => "not given".to_owned(),
    };
    format!("{what} is {} instead of {}", value(new_value), value(old_value))
}

fn file_name(subjects: &SubjectDatabase, volume: usize, file: VolumeFile) -> String {
    let path = subjects.searched.volume_file(volume, file);
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

/// Returns the files of partitions that rank `own_rank` reads. In each view, one rank that holds
/// the partition reads it. If only one view holds a partition, a rank of another view reads it,
/// too, so that there is something to compare.
fn parts_to_read(
    topology: &Topology,
    views: &[u32],
    own_rank: usize,
) -> Vec<(PartitionId, SequenceFile)> {
    let mut holders = vec![BTreeMap::<u32, Vec<usize>>::new(); topology.partitions as usize];
    for place in &topology.workers {
        let rank = place.rank.index();
        for partition in place.partitions.iter() {
            holders[partition.index()].entry(views[rank]).or_default().push(rank);
        }
    }
    let mut own = Vec::new();
    for (number, holders) in holders.iter().enumerate() {
        let mut readers: Vec<usize> =
            holders.values().map(|ranks| ranks[number % ranks.len()]).collect();
        if let [only] = readers[..] {
            let others: Vec<usize> =
                (0..views.len()).filter(|&rank| views[rank] != views[only]).collect();
            readers.extend(others.get(number % others.len().max(1)));
        }
        if readers.contains(&own_rank) {
            own.extend(SequenceFile::ALL.map(|side| (PartitionId(number as u32), side)));
        }
    }
    own
}

/// Finds two ranks with different values: the first rank without the most frequent value, and the
/// first rank with it. Each value comes with the first rank that has it, and the number of ranks
/// that have it.
fn find_difference<T: Ord>(
    values: impl Iterator<Item = ((usize, usize), T)>,
) -> Option<DifferingRanks> {
    let mut ranks: BTreeMap<T, (usize, usize)> = BTreeMap::new();
    for ((rank, count), value) in values {
        let (first, all) = ranks.entry(value).or_insert((rank, 0));
        *first = rank.min(*first);
        *all += count;
    }
    let (usual, _) = *ranks.values().max_by_key(|(first, all)| (*all, Reverse(*first)))?;
    let differing =
        ranks.values().map(|(first, _)| *first).filter(|&first| first != usual).min()?;
    Some(DifferingRanks { differing, usual })
}

/// Finds two ranks with different values, with one value for each rank.
fn find_differing_ranks<T: Ord>(values: impl IntoIterator<Item = T>) -> Option<DifferingRanks> {
    find_difference(values.into_iter().enumerate().map(|(rank, value)| ((rank, 1), value)))
}

/// Finds the first item of the fingerprint whose sums differ. The sum that one rank read counts for
/// all ranks of its view.
fn find_differing_sum(
    sums: &[FingerprintSums],
    views: &[u32],
) -> Option<(DifferingRanks, FingerprintItem)> {
    let mut seen_by: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (rank, view) in views.iter().enumerate() {
        seen_by.entry(*view).or_insert((rank, 0)).1 += 1;
    }
    // The first rank of a view and the number of its ranks, then the sum that one of its ranks
    // read.
    type Read = ((usize, usize), u128);
    let mut items: BTreeMap<FingerprintItem, Vec<Read>> = BTreeMap::new();
    for (sums, view) in sums.iter().zip(views) {
        for (item, sum) in sums {
            items.entry(*item).or_default().push((seen_by[view], *sum));
        }
    }
    items.into_iter().find_map(|(item, sums)| Some((find_difference(sums.into_iter())?, item)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fleetblast_fleet::topology::TopologyShape;

    use super::*;

    fn pair(differing: usize, usual: usize) -> Option<DifferingRanks> {
        Some(DifferingRanks { differing, usual })
    }

    #[test]
    fn the_differing_rank_lacks_the_most_frequent_value() {
        let differing = |values: &[u8]| find_differing_ranks(values.iter().copied());
        assert_eq!(differing(&[7, 7, 7]), None);
        assert_eq!(differing(&[7]), None);
        assert_eq!(differing(&[]), None);
        assert_eq!(differing(&[7, 8, 7]), pair(1, 0));
        assert_eq!(differing(&[8, 7, 7]), pair(0, 1));
        assert_eq!(differing(&[8, 7]), pair(1, 0), "of two, the first counts as usual");
        assert_eq!(differing(&[8, 7, 9, 7, 6]), pair(0, 1));
    }

    #[test]
    fn each_view_is_read_once_and_compared_with_another() {
        for replicas in [1, 2] {
            let shape =
                TopologyShape { ranks: 4, groups: 1, replicas, partitions: 4, dedicated: false };
            let topology = Topology::new(shape);
            for views in [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3], [0, 0, 0, 1]] {
                let mut read: BTreeMap<(PartitionId, SequenceFile), Vec<u32>> = BTreeMap::new();
                for (rank, &view) in views.iter().enumerate() {
                    for item in parts_to_read(&topology, &views, rank) {
                        read.entry(item).or_default().push(view);
                    }
                }
                assert_eq!(read.len(), 8, "both sides of all partitions");
                let mut held: BTreeMap<PartitionId, BTreeSet<u32>> = BTreeMap::new();
                for place in &topology.workers {
                    for &partition in place.partitions.iter() {
                        held.entry(partition).or_default().insert(views[place.rank.index()]);
                    }
                }
                for ((partition, _), mut by) in read {
                    by.sort_unstable();
                    let distinct: BTreeSet<u32> = by.iter().copied().collect();
                    assert_eq!(by.len(), distinct.len(), "{views:?}: each view once");
                    assert!(held[&partition].is_subset(&distinct), "{views:?}");
                    let several = views.iter().any(|&view| view != views[0]);
                    assert_eq!(distinct.len() > 1, several, "{views:?}: something to compare with");
                }
            }
        }
    }

    #[test]
    fn a_sum_counts_for_all_ranks_with_its_view() {
        let item = FingerprintItem {
            partition: PartitionId(0),
            volume: 0,
            sequence_file: SequenceFile::Headers,
        };
        let sums = |sum| FingerprintSums::from([(item, sum)]);
        // Ranks 1 and 2 have one view, and rank 2 has read for it.
        let read = [sums(5), FingerprintSums::new(), sums(6)];
        assert_eq!(find_differing_sum(&read, &[0, 1, 1]), pair(0, 1).map(|pair| (pair, item)));
        assert_eq!(
            find_differing_sum(&[sums(5), FingerprintSums::new(), sums(5)], &[0, 1, 1]),
            None
        );
    }
}
