//! Formats the name of a rank for messages.

use std::fmt::Display;

/// Formats the number of a rank and, if known, its host.
pub fn name_rank(rank: impl Display, host: Option<&str>) -> String {
    match host {
        Some(host) => format!("rank {rank} on host {host}"),
        None => format!("rank {rank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::name_rank;

    #[test]
    fn a_rank_is_named_with_the_host_that_is_known() {
        assert_eq!(name_rank(3, Some("n1")), "rank 3 on host n1");
        assert_eq!(name_rank(3, None), "rank 3");
    }
}
