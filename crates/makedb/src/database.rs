//! Adds the sequences of an existing database as they are stored
//! (`CBuildDatabase::AddSequences`, build_db.cpp).

use crate::builder::{DatabaseBuilder, NewSequence};
use crate::encode::hash;
use crate::error::MakedbError;
use crate::header::{self, StoredDefline, encode_header};
use crate::masks::AlgorithmRanges;
use crate::options::DatabaseOptions;
use crate::taxids::TaxidSource;

/// A sequence of an existing database.
#[derive(Debug)]
pub struct DatabaseSequence<'a> {
    /// Residues or packed bases as stored, without a sentinel.
    pub letters: &'a [u8],
    /// List of ambiguous bases as stored.
    pub ambiguities: &'a [u8],
    /// Number of letters.
    pub length: u32,
    /// Code of each letter: NCBIstdaa or ncbi4na. Used for the hash index only.
    pub codes: &'a [u8],
    /// Definition lines, each with an identifier.
    pub lines: Vec<StoredDefline>,
    /// Masked ranges by the number of the algorithm in the new database.
    pub masks: Vec<AlgorithmRanges>,
}

impl DatabaseBuilder {
    /// Adds a sequence of an existing database. The taxonomy ids of the builder's options, if their
    /// source is known, replace those of the sequence. The masks of the options are added to those
    /// of the sequence.
    ///
    /// # Errors
    /// [`MakedbError`]; the builder cannot be used afterwards.
    pub fn add_from_database(&mut self, old: DatabaseSequence<'_>) -> Result<(), MakedbError> {
        let DatabaseSequence { letters, ambiguities, length, codes, mut lines, mut masks } = old;
        masks.retain(|(_, ranges)| !ranges.is_empty());
        let options = self.options();
        let has_taxid = set_taxids(&mut lines, options);
        let stored = masks.len();
        masks.extend(lines.iter().flat_map(|line| options.masks.ranges_of(&line.ids)));
        let has_found_mask = masks.len() > stored;
        let hash = if options.hash_index { hash(codes) } else { 0 };
        let pig = lines.first().and_then(|line| line.other_info.first()).copied().unwrap_or(0);
        let (header, taxids) = (encode_header(&lines), header::taxids(&lines));
        let ids: Vec<_> = lines.into_iter().flat_map(|line| line.ids).collect();
        self.add(&NewSequence {
            letters,
            ambiguities,
            header: &header,
            ordinal_offset: None,
            length,
            ids: &ids,
            taxids: &taxids,
            pig,
            hash,
            masks,
            has_taxid,
            has_found_mask,
        })?;
        Ok(())
    }
}

/// Sets the taxonomy id of each definition line (`CTaxIdSet::FixTaxId`). Returns whether any line
/// has a known one.
fn set_taxids(lines: &mut [StoredDefline], options: &DatabaseOptions) -> bool {
    let mut found = false;
    for line in lines {
        let taxid = match options.taxids {
            TaxidSource::Unknown => Some(line.taxid.unwrap_or(0)),
            _ => options.taxids.taxid_of_ids(&line.ids).map(i64::from),
        };
        found |= taxid.is_some();
        line.taxid = Some(taxid.unwrap_or(0));
    }
    found
}
