//! The CPUs of this machine, and those that this process may use.

mod cgroup;
mod list;

use std::fs;
use std::path::Path;
use std::thread::available_parallelism;

use fleetblast_job::threads::ThreadSource;

/// Numbers of CPUs, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// CPUs of the machine, whoever may use them: BLAST+ compares `-num_threads` with this.
    pub machine: usize,
    /// CPUs that this process may use.
    pub allowed: usize,
    /// The source of the limit if `allowed` is below `machine`.
    pub limit: ThreadSource,
}

impl Cpus {
    /// Counts the CPUs of this process.
    pub fn detect() -> Self {
        Self::detect_below(Path::new("/"))
    }

    /// Like [`detect`](Self::detect), with `/proc` and `/sys` below `root`.
    fn detect_below(root: &Path) -> Self {
        let online = fs::read_to_string(root.join("sys/devices/system/cpu/online"));
        let online = online.ok().and_then(|text| list::parse(text.trim()));
        let mask = fs::read_to_string(root.join("proc/self/status")).ok();
        let mask = mask.as_deref().and_then(list::parse_status);
        let fallback = || available_parallelism().map_or(1, usize::from);
        // The mask may name CPUs that the machine could have but does not.
        let runs_on = match (&online, &mask) {
            (Some(online), Some(mask)) => online.intersection(mask).count(),
            (_, Some(mask)) => mask.len(),
            (_, None) => fallback(),
        };
        let runs_on = runs_on.max(1);
        let machine = online.map_or(runs_on, |online| online.len()).max(1);
        let limit =
            if runs_on < machine { ThreadSource::AffinityMask } else { ThreadSource::Machine };
        match cgroup::limit(root) {
            Some(most) if most < runs_on => {
                Self { machine, allowed: most, limit: ThreadSource::CgroupLimit }
            }
            _ => Self { machine, allowed: runs_on, limit },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_machine_mask_and_cgroup_counts() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a directory")).expect("directories");
            fs::write(path, text).expect("a file");
        };
        let look = || Cpus::detect_below(dir.path());
        write("sys/devices/system/cpu/online", "0-7\n");
        // Some kernels list CPUs that could be plugged in.
        write("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-127\nMems_allowed:\t1\n");
        let machine = Cpus { machine: 8, allowed: 8, limit: ThreadSource::Machine };
        assert_eq!(look(), machine);
        write("proc/self/status", "Cpus_allowed_list:\t0,2-4,90\n");
        let masked = Cpus { allowed: 4, limit: ThreadSource::AffinityMask, ..machine };
        assert_eq!(look(), masked);
        write("proc/self/cgroup", "0::/job\n");
        write("proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
        let limited = Cpus { allowed: 2, limit: ThreadSource::CgroupLimit, ..machine };
        assert_eq!(look(), limited);
        write("sys/fs/cgroup/job/cpu.max", "400000 100000\n");
        assert_eq!(look(), masked, "the mask is as small");
    }

    #[test]
    fn a_system_without_these_files_has_some_cpus() {
        let dir = tempfile::tempdir().expect("a directory");
        let found = Cpus::detect_below(dir.path());
        assert!(found.allowed >= 1 && found.machine == found.allowed, "{found:?}");
        assert_eq!(found.limit, ThreadSource::Machine);
    }
}
