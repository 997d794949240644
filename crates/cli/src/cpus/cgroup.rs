//! The CPU time that Linux cgroups grant to a process, as a number of CPUs.
//!
//! A cgroup has a quota of microseconds in each period: 150,000 in 100,000 are one and a half CPUs.
//! Cgroups are nested, and the smallest quota of a cgroup and its ancestors applies. Version 2 has
//! `cpu.max`, version 1 has `cpu.cfs_quota_us` and `cpu.cfs_period_us`.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the number of CPUs that the cgroups of this process may use, rounded up; `None` without
/// a limit.
///
/// Reads `/proc` and `/sys` below `root`.
pub fn limit(root: &Path) -> Option<usize> {
    let read = |name| fs::read(root.join(name)).ok();
    let (groups, mounts) = (read("proc/self/cgroup")?, read("proc/self/mountinfo")?);
    let (groups, mounts) = (String::from_utf8_lossy(&groups), String::from_utf8_lossy(&mounts));
    let limits = groups.lines().filter_map(Group::parse).filter_map(|group| {
        let mounts = mounts.lines().filter_map(Mount::parse);
        let mounts: Vec<_> = mounts.filter(|mount| mount.version == group.version).collect();
        // A container may see only a part of the tree, although `/proc` has its path in the whole
        // tree.
        let within = |mount: &&Mount| path_below(&group.path, &mount.root).is_some();
        let mount = mounts.iter().find(within).or(mounts.first())?;
        group.smallest_limit(root, mount)
    });
    limits.min()
}

/// Version of the cgroup interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A cgroup of this process that may limit CPU time.
struct Group {
    version: Version,
    path: PathBuf,
}

impl Group {
    /// Parses a line of `/proc/self/cgroup`: `NUMBER:CONTROLLERS:PATH`.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let version = match (number, controllers) {
            ("0", "") => Version::Two,
            _ if controllers.split(',').any(|controller| controller == "cpu") => Version::One,
            _ => return None,
        };
        Some(Self { version, path: PathBuf::from(path) })
    }

    /// Returns the smallest limit of this cgroup and its visible ancestors, in CPUs.
    fn smallest_limit(&self, root: &Path, mount: &Mount) -> Option<usize> {
        let top = root.join(mount.point.strip_prefix("/").unwrap_or(&mount.point));
        let below = path_below(&self.path, &mount.root).unwrap_or_default();
        let groups = below.ancestors().map(|group| top.join(group));
        groups.filter_map(|group| limit_of(&group, self.version)).min()
    }
}

/// Returns `path` relative to `root`; `None` if it is not below `root`. A path with `..` leads out
/// of the visible tree, so the result is `None` too.
fn path_below(path: &Path, root: &Path) -> Option<PathBuf> {
    let rest = path.strip_prefix(root).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    is_plain.then(|| rest.to_owned())
}

/// A mount of a tree of cgroups.
struct Mount {
    version: Version,
    /// The cgroup at the top of the mount.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// Parses a line of `/proc/self/mountinfo` (proc(5)).
    fn parse(line: &str) -> Option<Self> {
        let (place, kind) = line.split_once(" - ")?;
        let (mut place, mut kind) = (place.split(' ').skip(3), kind.split(' '));
        let (root, point) = (place.next()?, place.next()?);
        let (kind, options) = (kind.next()?, kind.nth(1)?);
        let version = match kind {
            "cgroup2" => Version::Two,
            "cgroup" if options.split(',').any(|option| option == "cpu") => Version::One,
            _ => return None,
        };
        Some(Self { version, root: decode_path(root), point: decode_path(point) })
    }
}

/// Decodes a path in which blanks and other special bytes are written like `\040`.
fn decode_path(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut path = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                path.push(char::from(code));
                path.push_str(&part[3..]);
            }
            None => path.extend(["\\", part]),
        }
    }
    PathBuf::from(path)
}

/// Reads the limit of one cgroup in CPUs, rounded up.
fn limit_of(group: &Path, version: Version) -> Option<usize> {
    let read = |name| fs::read_to_string(group.join(name)).ok();
    let (quota, period) = match version {
        Version::Two => {
            let text = read("cpu.max")?;
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.to_owned(), period.to_owned())
        }
        Version::One => (read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?),
    };
    // `max` and -1 mean no limit.
    let (quota, period): (u64, u64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    let cpus = (quota > 0 && period > 0).then(|| quota.div_ceil(period))?;
    usize::try_from(cpus).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a directory with files of these names and contents.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
            fs::write(path, text).expect("a file");
        }
        dir
    }

    fn limit_in(files: &[(&str, &str)]) -> Option<usize> {
        limit(tree(files).path())
    }

    const TWO: (&str, &str) = (
        "proc/self/mountinfo",
        "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
         30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
    );
    const ONE: (&str, &str) = (
        "proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
    );

    #[test]
    fn version_two_counts_the_smallest_of_nested_groups() {
        let group = ("proc/self/cgroup", "0::/a.slice/job/step\n");
        let max = "sys/fs/cgroup/a.slice/job/step/cpu.max";
        assert_eq!(limit_in(&[TWO, group]), None);
        assert_eq!(limit_in(&[TWO, group, (max, "max 100000\n")]), None);
        for (text, cpus) in [("100000 100000", 1), ("250000 100000\n", 3), ("1000 100000\n", 1)] {
            assert_eq!(limit_in(&[TWO, group, (max, text)]), Some(cpus), "{text}");
        }
        let around = ("sys/fs/cgroup/a.slice/cpu.max", "150000 100000\n");
        assert_eq!(limit_in(&[TWO, group, (max, "900000 100000\n"), around]), Some(2));
        assert_eq!(limit_in(&[TWO, group, around]), Some(2));
        let other = ("sys/fs/cgroup/b.slice/cpu.max", "100000 100000\n");
        assert_eq!(limit_in(&[TWO, group, other]), None);
    }

    #[test]
    fn version_one_has_a_quota_and_a_period() {
        let group = ("proc/self/cgroup", "3:cpuset:/x\n2:cpu,cpuacct:/docker/7\n0::/docker/7\n");
        let quota = |quota: &'static str| {
            limit_in(&[
                ONE,
                group,
                ("sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.cfs_period_us", "50000\n"),
            ])
        };
        assert_eq!(quota("-1\n"), None);
        assert_eq!(quota("200000\n"), Some(4));
        assert_eq!(quota("200001\n"), Some(5));
        assert_eq!(quota("damaged"), None);
    }

    #[test]
    fn a_container_sees_its_group_at_the_top() {
        let max = ("sys/fs/cgroup/cpu.max", "300000 100000\n");
        // Two paths as seen in a cgroup namespace, and the path as the host sees it.
        for path in ["0::/\n", "0::/../..\n", "0::/docker/7\n"] {
            assert_eq!(limit_in(&[TWO, ("proc/self/cgroup", path), max]), Some(3), "{path}");
        }
        let bound = (
            "proc/self/mountinfo",
            "30 24 0:26 /docker/7 /sys/fs/c\\040group ro - cgroup2 cgroup2 rw\n",
        );
        let group = ("proc/self/cgroup", "0::/docker/7/step\n");
        let step = ("sys/fs/c group/step/cpu.max", "100000 100000\n");
        let all = ("sys/fs/c group/cpu.max", "300000 100000\n");
        assert_eq!(limit_in(&[bound, group, all]), Some(3));
        assert_eq!(limit_in(&[bound, group, all, step]), Some(1));
    }

    #[test]
    fn damaged_files_are_no_limit() {
        assert_eq!(limit_in(&[]), None);
        for text in ["", "0", "0:", "::", "x:y:z", "0::"] {
            assert_eq!(limit_in(&[TWO, ("proc/self/cgroup", text)]), None, "{text}");
        }
        for text in ["", " - ", "1 2 3 4 5 - cgroup2", "1 2 3 / /x\\9 - cgroup2 x rw"] {
            let mounts = ("proc/self/mountinfo", text);
            assert_eq!(limit_in(&[mounts, ("proc/self/cgroup", "0::/\n")]), None, "{text}");
        }
    }
}
