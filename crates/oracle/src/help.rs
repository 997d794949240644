//! The part of a help text that BLAST+ has, too.

/// Titles of the sections that follow BLAST+'s help.
const OWN_SECTIONS: [&str; 2] = [" *** FleetBLAST options\n", " *** Not supported by FleetBLAST\n"];

/// Returns the output of FleetBLAST up to the first section of help that BLAST+ does not have.
#[must_use]
pub fn without_own_sections(output: &[u8]) -> &[u8] {
    let place = |title: &str| output.windows(title.len()).position(|at| at == title.as_bytes());
    let end = OWN_SECTIONS.into_iter().filter_map(place).min();
    &output[..end.unwrap_or(output.len())]
}

#[cfg(test)]
mod tests {
    use super::without_own_sections;

    #[test]
    fn own_sections_end_the_help() {
        for (output, kept) in [
            ("USAGE\n", "USAGE\n"),
            ("a\n *** FleetBLAST options\n b\n *** Not supported by FleetBLAST\n c\n", "a\n"),
            ("a\n *** Not supported by FleetBLAST\n c\n", "a\n"),
            ("", ""),
        ] {
            assert_eq!(without_own_sections(output.as_bytes()), kept.as_bytes());
        }
    }
}
