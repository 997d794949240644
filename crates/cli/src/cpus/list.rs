//! Lists of CPUs as Linux writes them: `0-3,8`.

use std::collections::BTreeSet;

use fleetblast_job::allowed_cpus;

/// Upper bound of CPU numbers: a damaged file must not fill the memory.
const MOST: u32 = 1 << 16;

/// Parses a list of CPUs; `None` for malformed text.
pub fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let mut cpus = BTreeSet::new();
    for range in text.split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last >= MOST {
            return None;
        }
        cpus.extend(first..=last);
    }
    (!cpus.is_empty()).then_some(cpus)
}

/// Reads the CPUs that a process may run on from its `/proc/PID/status`.
pub fn parse_status(status: &str) -> Option<BTreeSet<u32>> {
    parse(allowed_cpus(status)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_nothing_else() {
        let count = |text| parse(text).map(|cpus| cpus.len());
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3,8,10-11"), Some(7));
        for bad in ["", "x", "3-", "0-4294967295", "-1"] {
            assert_eq!(count(bad), None, "{bad}");
        }
        assert_eq!(parse_status("Cpus_allowed:\tff\n"), None);
    }
}
