//! Properties of this machine: memory, huge pages and the types of its file systems.

use std::fs;
use std::path::{Path, PathBuf};

/// The location of a file's bytes, by which a loader is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageLocation {
    /// In memory, on a file system such as tmpfs.
    Memory,
    /// On a disk of this machine.
    Local,
    /// On other machines.
    Network,
}

/// Magic numbers of file systems in memory (`statfs(2)`): tmpfs, ramfs, hugetlbfs.
const IN_MEMORY: [u32; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
/// Magic numbers of network file systems: NFS, SMB 2, CIFS, Lustre, GPFS, Ceph, BeeGFS, AFS, 9p,
/// FUSE (which can be local, too).
const NETWORK: [u32; 10] = [
    0x6969,
    0xfe53_4d42,
    0xff53_4d42,
    0x0bd0_0bd0,
    0x4750_4653,
    0x00c3_6400,
    0x1983_0326,
    0x5346_414f,
    0x0102_1997,
    0x6573_5546,
];

/// Returns the location of a file's bytes; local if the system does not report it.
pub fn storage_location(path: &Path) -> StorageLocation {
    let Ok(answer) = rustix::fs::statfs(path) else { return StorageLocation::Local };
    // The width of this field differs between systems, but all these numbers fit into 32 bits.
    let kind = answer.f_type as u32;
    if IN_MEMORY.contains(&kind) {
        StorageLocation::Memory
    } else if NETWORK.contains(&kind) {
        StorageLocation::Network
    } else {
        StorageLocation::Local
    }
}

/// Returns the number of bytes that this process can still use without swapping. It is the
/// machine's available memory, limited by the control groups of the process. Returns `None` if the
/// system reports neither.
pub fn available_memory() -> Option<u64> {
    let machine = meminfo_entry("MemAvailable");
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    group_directories(&groups).iter().filter_map(|dir| left_in_group(dir)).chain(machine).min()
}

/// Reads an entry of `/proc/meminfo`. The value is in bytes, or a count if the entry has no unit.
pub fn meminfo_entry(key: &str) -> Option<u64> {
    entry(&fs::read_to_string("/proc/meminfo").ok()?, key)
}

fn entry(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    let mut words = line.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    Some(if words.next() == Some("kB") { number.saturating_mul(1024) } else { number })
}

/// Returns the directories of the memory control groups of a process. `groups` is its
/// `/proc/self/cgroup`, with lines `0::/path` (version 2) or `4:memory:/path` (version 1). Parents
/// of the groups are included, since their limits apply too.
fn group_directories(groups: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                Path::new("/sys/fs/cgroup/memory")
            }
            _ => continue,
        };
        let mut dir = root.join(path.trim_start_matches('/'));
        while dir.starts_with(root) {
            found.push(dir.clone());
            dir.pop();
        }
    }
    found
}

/// Returns the bytes of memory that the limit of a control group leaves. Page cache that the system
/// can reclaim counts as free.
fn left_in_group(dir: &Path) -> Option<u64> {
    let number = |name: &str| -> Option<u64> {
        // The value `max` stands for no limit.
        fs::read_to_string(dir.join(name)).ok()?.trim().parse().ok()
    };
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let statistics = fs::read_to_string(dir.join("memory.stat")).unwrap_or_default();
    let files: u64 = ["total_inactive_file", "total_active_file"]
        .iter()
        .filter_map(|key| statistic(&statistics, key))
        .reduce(u64::saturating_add)
        .or_else(|| statistic(&statistics, "file"))
        .unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(files)))
}

fn statistic(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_entries_have_units_or_not() {
        let text = "MemTotal:       24690000 kB\nMemAvailable:   1000 kB\nHugePages_Free:   5\n";
        assert_eq!(entry(text, "MemAvailable"), Some(1_024_000));
        assert_eq!((entry(text, "HugePages_Free"), entry(text, "Mem")), (Some(5), None));
    }

    #[test]
    fn both_versions_of_control_groups_are_found_with_their_parents() {
        let found = group_directories("5:cpu,cpuacct:/a\n4:memory:/job/step\n0::/user\n");
        let names = ["memory/job/step", "memory/job", "memory", "user", ""];
        let all: Vec<_> = names.iter().map(|name| Path::new("/sys/fs/cgroup").join(name)).collect();
        assert_eq!(found, all);
    }

    #[test]
    fn a_group_leaves_what_is_not_used_or_can_be_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(left_in_group(dir.path()), None);
        for (name, text) in [
            ("memory.max", "1000\n"),
            ("memory.current", "900\n"),
            ("memory.stat", "anon 1\nfile 300\n"),
        ] {
            fs::write(dir.path().join(name), text).unwrap();
        }
        assert_eq!(left_in_group(dir.path()), Some(400));
        fs::write(dir.path().join("memory.max"), "max\n").unwrap();
        assert_eq!(left_in_group(dir.path()), None);
    }
}
