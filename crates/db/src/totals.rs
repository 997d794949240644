//! Title, totals and OID range of an alias tree.

use std::ops::Range;

use crate::path::BasePath;
use crate::tree::AliasNode;
use crate::volume::Volume;
use crate::{DbError, MOST_SEQUENCES};

/// A source of opened volumes and their OIDs, by path.
pub(crate) trait VolumeSource {
    /// Returns the volume at `base` and the OIDs of its sequences.
    fn get(&self, base: &BasePath) -> Option<(&Volume, Range<u32>)>;
}

impl AliasNode {
    /// Returns the title of the alias. If it has none, joins the titles of its members by `; `,
    /// nested aliases before volumes.
    pub(crate) fn title(&self, volumes: &impl VolumeSource) -> Vec<u8> {
        if let Some(entry) = self.alias.get("TITLE") {
            return entry.value.clone();
        }
        let nodes = self.nodes.iter().map(|node| node.title(volumes));
        let own = self.volumes.iter().filter_map(|base| volumes.get(base));
        let titles = nodes.chain(own.map(|(volume, _)| volume.index().title.clone()));
        join_titles(titles)
    }

    /// Returns the number of sequences to report: NSEQ if the alias gives it, else the count.
    pub(crate) fn sequence_count(&self, volumes: &impl VolumeSource) -> Result<u64, DbError> {
        let total = self
            .sum("NSEQ", MOST_SEQUENCES, volumes, &|volume| volume.index().sequence_count.into())?;
        check_limit("sequences", total, MOST_SEQUENCES)
    }

    /// Returns the number of residues to report: LENGTH if the alias gives it, else the count.
    pub(crate) fn residue_count(&self, volumes: &impl VolumeSource) -> Result<u64, DbError> {
        let total =
            self.sum("LENGTH", u64::MAX, volumes, &|volume| volume.index().residue_count)?;
        check_limit("residues", total, i64::MAX as u64)
    }

    /// Returns the value of STATS_NSEQ; 0 if no alias gives it.
    pub(crate) fn stats_sequence_count(&self, volumes: &impl VolumeSource) -> Result<u64, DbError> {
        check_limit(
            "sequences",
            self.sum("STATS_NSEQ", MOST_SEQUENCES, volumes, &|_| 0)?,
            MOST_SEQUENCES,
        )
    }

    /// Returns the value of STATS_TOTLEN; 0 if no alias gives it.
    pub(crate) fn stats_residue_count(&self, volumes: &impl VolumeSource) -> Result<u64, DbError> {
        let total = self.sum("STATS_TOTLEN", u64::MAX, volumes, &|_| 0)?;
        check_limit("residues", total, i64::MAX as u64)
    }

    /// Returns the value of `key` if the alias gives it, else the sum over its members.
    fn sum(
        &self,
        key: &'static str,
        maximum: u64,
        volumes: &impl VolumeSource,
        of_volume: &dyn Fn(&Volume) -> u64,
    ) -> Result<u64, DbError> {
        if let Some(number) = self.alias.parse_number(key, maximum, &self.file)? {
            return Ok(number);
        }
        let mut total = 0u64;
        for node in &self.nodes {
            total = total.saturating_add(node.sum(key, maximum, volumes, of_volume)?);
        }
        for (volume, _) in self.volumes.iter().filter_map(|base| volumes.get(base)) {
            total = total.saturating_add(of_volume(volume));
        }
        Ok(total)
    }

    /// Returns FIRST_OID and LAST_OID as a range from 0; `None` if neither is given.
    pub(crate) fn oid_range(&self) -> Result<Option<Range<u32>>, DbError> {
        let number = |key| self.alias.parse_number(key, MOST_SEQUENCES, &self.file);
        let (first, last) = (number("FIRST_OID")?, number("LAST_OID")?);
        if first.is_none() && last.is_none() {
            return Ok(None);
        }
        // `number` limits both values, so they fit into 32 bits.
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let start = narrow(first.unwrap_or(0)).saturating_sub(1);
        Ok(Some(start..last.map_or(u32::MAX, narrow)))
    }
}

/// Joins titles by `; `. Omits empty ones.
pub(crate) fn join_titles(titles: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    titles.filter(|title| !title.is_empty()).collect::<Vec<_>>().join(&b"; "[..])
}

/// Returns `total`, or an error if it exceeds `maximum`. `what` names the counted items in the
/// error.
pub(crate) fn check_limit(what: &'static str, total: u64, maximum: u64) -> Result<u64, DbError> {
    if total > maximum {
        return Err(DbError::TooLarge { what, found: total, maximum });
    }
    Ok(total)
}
