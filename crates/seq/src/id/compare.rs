//! Compares identifiers that can name the same sequence (`CSeq_id::Match`, Seq_id.cpp).

use super::{ObjectId, SeqId, TextKind};

impl SeqId {
    /// Returns whether both identifiers name the same sequence. An accession without version
    /// matches every version. A PDB entry without chain matches every chain.
    pub fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Local(a), Self::Local(b)) => a.matches(b),
            (Self::General { db: db_a, tag: a }, Self::General { db: db_b, tag: b }) => {
                db_a.eq_ignore_ascii_case(db_b) && a.matches(b)
            }
            (Self::Pdb { mol: mol_a, chain: a }, Self::Pdb { mol: mol_b, chain: b }) => {
                mol_a == mol_b && (a.is_empty() || b.is_empty() || a == b)
            }
            (Self::Text { .. }, Self::Text { .. }) => {
                self.is_comparable(other) && self.matches_text(other)
            }
            (a, b) => a == b,
        }
    }

    /// Returns whether both identifiers are of the same type, or of databases that share
    /// accessions. If they are and do not match, BLAST+ takes their sequences for different ones
    /// (`CSeq_id::Compare`).
    pub fn is_comparable(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::General { db: a, .. }, Self::General { db: b, .. }) => a.eq_ignore_ascii_case(b),
            (Self::Numbered(a, _), Self::Numbered(b, _)) => a == b,
            (Self::Text { kind: a, .. }, Self::Text { kind: b, .. }) => {
                a == b || a.shares_accessions() && b.shares_accessions()
            }
            (a, b) => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }

    /// Compares two accessions, or else two names, without regard to case. Also compares the
    /// versions if both have one.
    fn matches_text(&self, other: &Self) -> bool {
        let (Self::Text { accession, name, version, .. }, Self::Text { .. }) = (self, other) else {
            return false;
        };
        let Self::Text { accession: accession_b, name: name_b, version: version_b, .. } = other
        else {
            return false;
        };
        let is_same = match (accession.is_empty(), accession_b.is_empty()) {
            (false, false) => accession.eq_ignore_ascii_case(accession_b),
            _ => !name.is_empty() && name.eq_ignore_ascii_case(name_b),
        };
        is_same && (version.is_none() || version_b.is_none() || version == version_b)
    }
}

impl ObjectId {
    /// Returns whether two Object-ids are equal, without regard to case. A number equals its text.
    fn matches(&self, other: &Self) -> bool {
        self.text().eq_ignore_ascii_case(&other.text())
    }
}

impl TextKind {
    /// Returns whether accessions of this database are compared with those of the other nucleotide
    /// databases.
    fn shares_accessions(self) -> bool {
        use TextKind::*;
        matches!(
            self,
            GenBank | Embl | Ddbj | TpaGenBank | TpaEmbl | TpaDdbj | Gpipe | NamedAnnotTrack
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::id::parse_list_entry;

    fn matches(a: &str, b: &str) -> bool {
        let parse = |word: &str| parse_list_entry(word.as_bytes()).unwrap();
        let found = parse(a).matches(&parse(b));
        assert_eq!(parse(b).matches(&parse(a)), found, "{a} {b}");
        found
    }

    #[test]
    fn what_is_missing_matches_everything() {
        for (a, b) in [
            ("AF000002.1", "AF000002"),
            ("af000002.1", "gb|AF000002|"),
            ("emb|AF000002.1|", "dbj|AF000002.1|"),
            ("1ABC_A", "pdb|1ABC|"),
            ("sp|P12345|A_B", "P12345.2"),
            ("sp||A_B", "sp||a_b"),
            ("lcl|Loc", "loc"),
            ("gnl|DB|a", "gnl|db|A"),
            ("12", "gi|12"),
        ] {
            assert!(matches(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("AF000002.1", "AF000002.2"),
            ("ref|AF000002.1|", "gb|AF000002.1|"),
            ("1ABC_A", "1ABC_a"),
            ("sp|P12345|A_B", "P12346"),
            ("lcl|12", "gi|12"),
        ] {
            assert!(!matches(a, b), "{a} {b}");
        }
    }
}
