//! The rules that differ between releases of BLAST+.
//!
//! Code whose results depend on the release reads the [`Release`] that it is given: no other module
//! has a number of a release. Values that are the same in all releases stay where they are used.

/// The rules of a release of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Release {
    /// Number of the release, such as `2.12.0`. Banners and `-version` print a `+` after it.
    pub version: &'static str,
    /// Word size, in residues, of the tasks whose names end in `-fast`.
    pub fast_word_size: usize,
    /// Lowest score of a neighbouring word in the tasks whose names end in `-fast`.
    pub fast_word_threshold: f64,
    /// Shortest word, in residues, that is looked up in a compressed alphabet.
    pub compressed_alphabet_min_word_size: usize,
    /// Default gap costs of PAM250: to open a gap, and for each residue of it.
    pub pam250_gap_costs: (i32, i32),
    /// Fraction of identical residues above which two aligned sequences are nearly identical.
    pub near_identical_fraction: f64,
    /// Default of `makeblastdb -max_file_sz`, the maximal size of a database file.
    pub default_max_file_size: &'static str,
}

impl Release {
    /// All releases whose rules are known.
    pub const ALL: [&'static Self; 1] = [&Self::V2_12_0];

    /// BLAST+ 2.12.0, of June 2021.
    pub const V2_12_0: Self = Self {
        version: "2.12.0",
        fast_word_size: 6,
        fast_word_threshold: 21.0,
        compressed_alphabet_min_word_size: 6,
        pam250_gap_costs: (14, 2),
        near_identical_fraction: 0.96,
        default_max_file_size: "1GB",
    };

    /// Returns the first words of a program's reports, such as `BLASTP 2.12.0+`.
    pub fn banner(&self, program: &str) -> String {
        format!("{} {}+", program.to_uppercase(), self.version)
    }
}

/// Encodes a release as its number, for `serde`.
pub mod by_version {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use super::Release;

    /// Encodes the number of a release.
    ///
    /// # Errors
    /// Returns an error of the serializer.
    pub fn serialize<S: Serializer>(
        release: &&'static Release,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(release.version)
    }

    /// Decodes the release with an encoded number.
    ///
    /// # Errors
    /// Returns an error for an unknown release, or an error of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<&'static Release, D::Error> {
        let version = String::deserialize(deserializer)?;
        let known = Release::ALL.into_iter().find(|release| release.version == version);
        known.ok_or_else(|| D::Error::custom(format!("unknown release of BLAST+: {version}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banners_have_the_name_and_the_release() {
        assert_eq!(Release::V2_12_0.banner("blastp"), "BLASTP 2.12.0+");
    }
}
