//! The CPUs that a process may run on.

/// Returns the list of allowed CPUs, such as `0-3,8`, from the text of a `/proc/PID/status`; `None`
/// if the text has no such list.
pub fn allowed_cpus(status: &str) -> Option<&str> {
    Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_taken_and_not_the_bits() {
        let status = "Cpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed:\t1\n";
        assert_eq!(allowed_cpus(status), Some("0-7"));
        assert_eq!(allowed_cpus("Cpus_allowed:\tff\n"), None);
    }
}
