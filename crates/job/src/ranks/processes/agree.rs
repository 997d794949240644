//! Whether all ranks do the same: before anything is written they compare builds, options, and what
//! they see of the database.
//!
//! Ranks that see the same files (host, device, inode, size, times; on a network file system
//! without host and device) have one view. What those of a view are going to search is read for its
//! fingerprint by one of them, and what only they would read by one of another view, too. If all
//! ranks of the job have one view there is nothing to compare.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::os::unix::fs::MetadataExt;

use fleetblast_db::partition::VolumeFile;
use fleetblast_fleet::ids::PartitionId;
use fleetblast_fleet::topology::Topology;
use fleetblast_mpi::name_rank;
use fleetblast_spool::{Difference, Identity};

use crate::digest::Digest;
use crate::error::{Error, exit};
use crate::fingerprint::SequenceFile;
use crate::fingerprint::{FingerprintItem, FingerprintSums, VolumeFingerprints};
use crate::inputs;
use crate::plan::Plan;
use crate::processes::{Processes, mpi_failure};
use crate::ranks::Cut;
use crate::ranks::contents;
use crate::ranks::{identity, layout};
use crate::subjects::SubjectDatabase;

/// What ranks find out about each other.
pub struct Comparison<'a> {
    /// All ranks.
    pub processes: &'a Processes,
    /// The host of each.
    pub hosts: &'a [String],
}

/// Two ranks that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    /// The first that is not like most.
    odd: usize,
    /// The first of most.
    usual: usize,
}

impl Comparison<'_> {
    /// Ends the job unless all ranks run the same build with the same options.
    ///
    /// # Errors
    /// Silent where another rank tells it.
    pub fn agree_on_plan(&self, plan: &Plan) -> Result<(), Error> {
        let own = self.processes.require_all(identity::of_plan(plan))?;
        let options = own.options.into_iter().chain(plan.fleet.common.clone()).collect();
        let refused = |what| Error::new(exit::INPUT, format!("Error: {what}"));
        self.agree(&Identity { options, ..own }, "", refused)
    }

    /// Ends the job unless all ranks see databases that describe themselves alike.
    ///
    /// # Errors
    /// Silent where another rank tells it.
    pub fn agree_on_database(&self, plan: &Plan, target: &SubjectDatabase) -> Result<(), Error> {
        let database = identity::database(plan, target, &VolumeFingerprints::default());
        let options = database.and_then(|database| Ok((database, inputs::taxonomy(target)?)));
        let (database, options) = self.processes.require_all(options)?;
        let own = Identity { database, options, ..Identity::default() };
        let place = target.searched.volume_paths().next();
        let place = place.map(|path| path.display().to_string()).unwrap_or_default();
        self.agree(&own, &place, Error::database)
    }

    /// Ends the job unless all ranks see the same sequences, as far as they are going to look at
    /// them. Tells what these are if that is [wanted](contents::are_wanted).
    ///
    /// # Errors
    /// Silent where another rank tells it.
    pub fn agree_on_contents(
        &self,
        plan: &Plan,
        target: &SubjectDatabase,
        cut: &Cut,
    ) -> Result<VolumeFingerprints, Error> {
        let views = self.views(target)?;
        let is_shared = views.iter().all(|&view| view == 0);
        if !target.is_on_disk() || is_shared && !contents::are_wanted(plan, target) {
            return Ok(VolumeFingerprints::default());
        }
        let wanted = to_read(&cut.topology, &views, self.processes.world.rank());
        let own = self.processes.require_all(contents::read(plan, target, cut, wanted))?;
        let mut lengths = Digest::default();
        lengths.add(&cut.partitions);
        let own = postcard::to_allocvec(&(lengths.finish(), own)).map_err(Error::engine)?;
        let all = self.processes.world.comm().gather_all(&own).map_err(mpi_failure)?;
        let all: Result<Vec<(u128, FingerprintSums)>, _> =
            all.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
        let (lengths, sums): (Vec<u128>, Vec<FingerprintSums>) =
            all.map_err(Error::engine)?.into_iter().unzip();
        if let Some(pair) = odd_rank(lengths) {
            let place = String::from_utf8_lossy(&target.summary.label);
            self.refuse_database(pair, &place, "other lengths of sequences")?;
        }
        if let Some((pair, item)) = odd_sum(&sums, &views) {
            let oids = cut.partitions.get(item.partition.index()).cloned().unwrap_or_default();
            let side = match item.side {
                SequenceFile::Residues => "residues",
                SequenceFile::Headers => "definition lines",
            };
            // As users count them.
            let what = format!("other {side} among sequences {} to {}", oids.start + 1, oids.end);
            let place = file_name(target, item.volume, item.side.file());
            self.refuse_database(pair, &place, &what)?;
        }
        Ok(VolumeFingerprints::from_sums(&sums.into_iter().flatten().collect()))
    }

    /// Ends the job unless all ranks have the same identity; `place` is where a rank has it from.
    fn agree(
        &self,
        own: &Identity,
        place: &str,
        refused: impl Fn(String) -> Error,
    ) -> Result<(), Error> {
        let bytes = postcard::to_allocvec(&(own, place)).map_err(Error::engine)?;
        let mut digest = Digest::default();
        digest.add(own);
        let digests = self.processes.world.comm().gather_all(&digest.finish().to_le_bytes());
        let digests = digests.map_err(mpi_failure)?;
        let Some(pair) = odd_rank(digests) else { return Ok(()) };
        let usual = self.processes.broadcast_from(pair.usual, Some(bytes))?.unwrap_or_default();
        let verdict = || {
            let (usual, usual_place): (Identity, String) = postcard::from_bytes(&usual).ok()?;
            let differences = usual.differences(own).0;
            let told: Vec<_> = differences.iter().take(MOST_TOLD).map(instead).collect();
            let places = match place {
                "" => String::new(),
                place => format!(" ({place} is not {usual_place})"),
            };
            Some(format!("{} differ{places}: {}", self.name(pair), told.join("; ")))
        };
        let same = || {
            // What cannot be read or compared was made by another build.
            let build = || format!("{} run different builds of FleetBLAST", self.name(pair));
            Err(refused(verdict().unwrap_or_else(build)))
        };
        self.processes.require_all(if self.processes.world.rank() == pair.odd {
            same()
        } else {
            Ok(())
        })
    }

    /// Ends the job, since two ranks see different databases.
    fn refuse_database(&self, pair: Pair, place: &str, what: &str) -> Result<(), Error> {
        let usual = self.processes.broadcast_from(pair.usual, Some(place.as_bytes().to_vec()))?;
        let usual = String::from_utf8_lossy(&usual.unwrap_or_default()).into_owned();
        let is_same_path = place == usual && self.hosts.get(pair.odd) == self.hosts.get(pair.usual);
        let difference = match is_same_path {
            true => {
                format!(
                    "{place} may have been replaced while they opened it ({what}); start the job again"
                )
            }
            false => format!("{place} has {what} than {usual}"),
        };
        let refused = || {
            let names = self.name(pair);
            Error::database(format_args!("{names} search different databases: {difference}"))
        };
        self.processes.require_all(if self.processes.world.rank() == pair.odd {
            Err(refused())
        } else {
            Ok(())
        })
    }

    fn name(&self, pair: Pair) -> String {
        let [odd, usual] = [pair.odd, pair.usual]
            .map(|rank| name_rank(rank, self.hosts.get(rank).map(String::as_str)));
        format!("{odd} and {usual}")
    }

    /// For each rank a number of what it sees: ranks with the same number see the same files.
    fn views(&self, target: &SubjectDatabase) -> Result<Vec<u32>, Error> {
        let mut seen = Digest::default();
        // Hosts give what they mount from elsewhere devices of their own.
        let remote = layout::is_remote(&target.searched);
        seen.add(&(!remote).then(|| self.processes.world.host()));
        // Not those that have their names now: somebody may replace the database meanwhile.
        for data in target.searched.opened_files() {
            let times = (data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec());
            seen.add(&((!remote).then(|| data.dev()), data.ino(), data.size(), times));
        }
        let all = self
            .processes
            .world
            .comm()
            .gather_all(&seen.finish().to_le_bytes())
            .map_err(mpi_failure)?;
        let mut numbers = HashMap::new();
        let number = |seen| {
            let next = numbers.len() as u32;
            *numbers.entry(seen).or_insert(next)
        };
        Ok(all.into_iter().map(number).collect())
    }
}

/// Differences named, at most.
const MOST_TOLD: usize = 4;

/// What the odd rank has instead of what most have.
fn instead(Difference { what, was, is }: &Difference) -> String {
    let value = |value: &Option<String>| match value {
        Some(value) => format!("'{value}'"),
        None => "not given".to_owned(),
    };
    format!("{what} is {} instead of {}", value(is), value(was))
}

fn file_name(target: &SubjectDatabase, volume: usize, file: VolumeFile) -> String {
    let path = target.searched.volume_file(volume, file);
    path.map(|path| path.display().to_string()).unwrap_or_default()
}

/// What a rank reads. Of those who hold a partition one reads it for each view. Where they all have
/// the same, one of another view does, too, if there is one: what nobody else reads would be
/// compared with nothing.
fn to_read(topology: &Topology, views: &[u32], me: usize) -> Vec<(PartitionId, SequenceFile)> {
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
        if readers.contains(&me) {
            own.extend(SequenceFile::ALL.map(|side| (PartitionId(number as u32), side)));
        }
    }
    own
}

/// Two ranks with different values, if there are any: the first whose value most do not have, and
/// the first with that of most. A value comes with the first rank that has it, and how many have it
/// with this one.
fn odd_one<T: Ord>(values: impl Iterator<Item = ((usize, usize), T)>) -> Option<Pair> {
    let mut ranks: BTreeMap<T, (usize, usize)> = BTreeMap::new();
    for ((rank, count), value) in values {
        let (first, all) = ranks.entry(value).or_insert((rank, 0));
        *first = rank.min(*first);
        *all += count;
    }
    let (usual, _) = *ranks.values().max_by_key(|(first, all)| (*all, Reverse(*first)))?;
    let odd = ranks.values().map(|(first, _)| *first).filter(|&first| first != usual).min()?;
    Some(Pair { odd, usual })
}

/// The same where each rank has a value.
fn odd_rank<T: Ord>(values: impl IntoIterator<Item = T>) -> Option<Pair> {
    odd_one(values.into_iter().enumerate().map(|(rank, value)| ((rank, 1), value)))
}

/// The first item of which ranks have different sums. What one has read all see that have its view.
fn odd_sum(sums: &[FingerprintSums], views: &[u32]) -> Option<(Pair, FingerprintItem)> {
    let mut seen_by: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (rank, view) in views.iter().enumerate() {
        seen_by.entry(*view).or_insert((rank, 0)).1 += 1;
    }
    // Who read an item, and for how many ranks, with its sum.
    type Read = ((usize, usize), u128);
    let mut items: BTreeMap<FingerprintItem, Vec<Read>> = BTreeMap::new();
    for (sums, view) in sums.iter().zip(views) {
        for (item, sum) in sums {
            items.entry(*item).or_default().push((seen_by[view], *sum));
        }
    }
    items.into_iter().find_map(|(item, sums)| Some((odd_one(sums.into_iter())?, item)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fleetblast_fleet::topology::Shape;

    use super::*;

    fn pair(odd: usize, usual: usize) -> Option<Pair> {
        Some(Pair { odd, usual })
    }

    #[test]
    fn the_odd_rank_is_the_one_that_most_are_not_like() {
        let odd = |values: &[u8]| odd_rank(values.iter().copied());
        assert_eq!(odd(&[7, 7, 7]), None);
        assert_eq!(odd(&[7]), None);
        assert_eq!(odd(&[]), None);
        assert_eq!(odd(&[7, 8, 7]), pair(1, 0));
        assert_eq!(odd(&[8, 7, 7]), pair(0, 1));
        assert_eq!(odd(&[8, 7]), pair(1, 0), "of two, the first counts as usual");
        assert_eq!(odd(&[8, 7, 9, 7, 6]), pair(0, 1));
    }

    #[test]
    fn each_view_is_read_once_and_nothing_by_one_view_only() {
        for replicas in [1, 2] {
            let shape = Shape { ranks: 4, groups: 1, replicas, partitions: 4, dedicated: false };
            let topology = Topology::new(shape);
            for views in [[0, 0, 0, 0], [0, 1, 0, 1], [0, 1, 2, 3], [0, 0, 0, 1]] {
                let mut read: BTreeMap<(PartitionId, SequenceFile), Vec<u32>> = BTreeMap::new();
                for (rank, &view) in views.iter().enumerate() {
                    for item in to_read(&topology, &views, rank) {
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
    fn a_sum_counts_for_all_ranks_that_see_the_same() {
        let item =
            FingerprintItem { partition: PartitionId(0), volume: 0, side: SequenceFile::Headers };
        let sums = |sum| FingerprintSums::from([(item, sum)]);
        // Ranks 1 and 2 have one view, which rank 2 has read.
        let read = [sums(5), FingerprintSums::new(), sums(6)];
        assert_eq!(odd_sum(&read, &[0, 1, 1]), pair(0, 1).map(|pair| (pair, item)));
        assert_eq!(odd_sum(&[sums(5), FingerprintSums::new(), sums(5)], &[0, 1, 1]), None);
    }
}
