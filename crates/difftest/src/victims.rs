//! Finds the processes of a search and kills them.

use std::fs;
use std::path::Path;
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

/// Kills the process group of `child` and all `ranks` at once, as when a machine loses its power.
pub fn kill_all(child: &Child, ranks: &[Pid]) {
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // The processes may have ended already, so errors do not matter.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    for &rank in ranks {
        let _ = kill_process(rank, Signal::KILL);
    }
}

/// Returns the processes that search in a run: `launcher` and its descendants, as far as they
/// execute `program`.
pub fn ranks_of(launcher: u32, program: &Path) -> Vec<Pid> {
    let mut below = vec![launcher];
    let mut at = 0;
    let all = processes();
    while let Some(&parent) = below.get(at) {
        below.extend(all.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        at += 1;
    }
    let program = fs::canonicalize(program).ok();
    let is_rank = |pid: &u32| fs::read_link(format!("/proc/{pid}/exe")).ok() == program;
    let pid = |pid: u32| i32::try_from(pid).ok().and_then(Pid::from_raw);
    below.into_iter().filter(is_rank).filter_map(pid).collect()
}

/// Returns the ids of all processes, each with that of its parent.
fn processes() -> Vec<(u32, u32)> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let process = |name: String| {
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
        // The name of the program, in parentheses, may contain anything.
        let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
        Some((name.parse().ok()?, parent))
    };
    entries.filter_map(|entry| process(entry.ok()?.file_name().into_string().ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_of_this_process_is_known() {
        let own = std::process::id();
        let parent = std::os::unix::process::parent_id();
        assert!(processes().contains(&(own, parent)));
        let program = std::env::current_exe().expect("a program");
        assert!(
            ranks_of(parent, &program)
                .iter()
                .any(|pid| pid.as_raw_nonzero().get() == own.cast_signed())
        );
    }
}
