//! Retrieval of the sequences that the options select, in the order of BLAST+.

use std::ffi::OsStr;

use fleetblast_db::DbError;
use fleetblast_job::output::Output;

use super::config::Config;
use super::messages;
use super::options::{Options, Selection, Taxids};
use super::source::Source;
use super::{Format, Stop};
use crate::options::blastdbcmd::retrieval;
use crate::options::number;
use crate::text_file::read_text_file;

/// A line of `-entry_batch`: its key, the rest of the line, and the OID of the key if it was found.
type BatchEntry<'t> = (Vec<u8>, &'t [u8], Option<u32>);

/// A retrieval of sequences: its options, database and output format.
pub(super) struct Retrieval<'a> {
    pub(super) options: &'a Options,
    pub(super) source: &'a Source,
    pub(super) format: &'a Format,
}

impl Retrieval<'_> {
    /// Writes the selected sequences. Returns whether all of them exist.
    pub(super) fn run(
        &self,
        wanted: &Selection,
        taxids: Option<&Taxids>,
        config: Config,
        out: &mut Output,
    ) -> Result<bool, Stop> {
        match wanted {
            Selection::Taxids(_) | Selection::TaxidFile(_) => {
                let none = Taxids::new();
                let oids = self.source.oids_of_taxids(taxids.unwrap_or(&none))?;
                if oids.is_empty() {
                    messages::error("No seq found in db for taxonomy list");
                    return Ok(false);
                }
                self.write_all(oids, &config, out)
            }
            Selection::All => {
                self.write_all(self.source.database.oid_cursor().walk_included(), &config, out)
            }
            Selection::Batch(path) => {
                let text = read_batch(retrieval::ENTRY_BATCH.name(), path)?;
                if self.options.get_dups {
                    self.batch_with_duplicates(&text, config, out)
                } else {
                    self.batch(&text, config, out)
                }
            }
            Selection::Ids(list) => self.entries(list, &config, out),
            Selection::Pig(pig) => {
                let oid = self.source.lookup.oid_of_pig((*pig).into())?;
                let oid = oid.ok_or_else(|| self.no_such_oid())?;
                self.write_all([oid], &config, out)
            }
            Selection::PigBatch(path) => {
                self.batch_of_pigs(&read_batch(retrieval::IPG_BATCH.name(), path)?, config, out)
            }
            Selection::Nothing => Err(Stop::Message(
                "Must specify query type: one of 'entry', 'entry_batch', or 'pig'".to_owned(),
            )),
        }
    }

    /// Returns BLAST+'s error for a PIG that does not exist. If BLAST+ knows none of the fields of
    /// the format, it reports the first field instead of the PIG.
    fn no_such_oid(&self) -> Stop {
        let unknown = match self.format {
            Format::Fields(fields) => fields.unknown_field(self.source),
            Format::Fasta(_) | Format::Bioseq | Format::Deflines => None,
        };
        Stop::Message(unknown.unwrap_or_else(|| "OID not found".to_owned()))
    }

    fn write_all(
        &self,
        oids: impl IntoIterator<Item = u32>,
        config: &Config,
        out: &mut Output,
    ) -> Result<bool, Stop> {
        let mut buffer = Vec::new();
        for oid in oids {
            self.write(oid, config, None, &mut buffer, out)?;
        }
        Ok(true)
    }

    /// Writes one sequence. After an error it still writes the text from before the error.
    fn write(
        &self,
        oid: u32,
        config: &Config,
        target: Option<&[u8]>,
        buffer: &mut Vec<u8>,
        out: &mut Output,
    ) -> Result<(), Stop> {
        buffer.clear();
        let target = target.filter(|_| self.options.target_only);
        let written = self.format.write(self.source, oid, config, target, buffer);
        out.write(buffer)?;
        written
    }

    /// Writes the sequences of `-entry`, whose value `list` is identifiers separated by commas.
    /// Returns whether all of them exist.
    fn entries(&self, list: &[u8], config: &Config, out: &mut Output) -> Result<bool, Stop> {
        let mut buffer = Vec::new();
        let (mut found, mut missing) = (false, false);
        for id in list.split(|&b| b == b',') {
            let oids = self.oids_of(id)?;
            match oids.is_empty() {
                true => missing = true,
                false => found = true,
            }
            for oid in oids {
                self.write(oid, config, Some(id), &mut buffer, out)?;
            }
        }
        if !found {
            let message = "Entry or entries not found in BLAST database";
            return Err(Stop::Message(message.to_owned()));
        }
        Ok(!missing)
    }

    /// Looks up the OIDs of an identifier. If there are none, prints a message and returns an empty
    /// list.
    fn oids_of(&self, id: &[u8]) -> Result<Vec<u32>, Stop> {
        let oids = self.source.oids_of_id(id)?;
        if oids.is_empty() {
            let key = self.source.lookup.key_of_typed_id(id);
            messages::error(&format!("Entry not found: {}", String::from_utf8_lossy(&key)));
        }
        Ok(oids)
    }

    fn warn_skipped(&self, id: &[u8]) {
        messages::error(&format!("Skipped {}", String::from_utf8_lossy(id)));
    }

    /// Writes the sequence of each PIG in the text of `-ipg_batch`. Returns whether all exist.
    fn batch_of_pigs(
        &self,
        text: &[u8],
        mut config: Config,
        out: &mut Output,
    ) -> Result<bool, Stop> {
        let mut buffer = Vec::new();
        let mut good = true;
        for (id, rest) in text.split(|&b| b == b'\n').filter_map(id_and_rest) {
            let shown = String::from_utf8_lossy(id);
            if !config.read_specifiers(rest, self.source)? {
                messages::error(&format!("Skipped IPG : {shown}"));
                good = false;
                continue;
            }
            // BLAST+ takes a word that is no number for 0.
            let pig = number::parse_int4(id).unwrap_or(0);
            match self.source.lookup.oid_of_pig(pig.into())? {
                Some(oid) => self.write(oid, &config, None, &mut buffer, out)?,
                None if !self.source.lookup.has_pig_index() => return Err(self.no_such_oid()),
                None => {
                    messages::error(&format!("Skipped IPG: {shown}"));
                    good = false;
                }
            }
        }
        Ok(good)
    }

    /// Writes all sequences of each identifier in the text of `-entry_batch`, for `-get_dups`.
    /// Returns whether all identifiers exist.
    fn batch_with_duplicates(
        &self,
        text: &[u8],
        mut config: Config,
        out: &mut Output,
    ) -> Result<bool, Stop> {
        let mut buffer = Vec::new();
        let mut complete = true;
        for (id, specifiers) in text.split(|&b| b == b'\n').filter_map(id_and_rest) {
            let usable = config.read_specifiers(specifiers, self.source)?;
            let oids = if usable { self.oids_of(id)? } else { Vec::new() };
            if oids.is_empty() {
                complete = false;
                self.warn_skipped(id);
            }
            for oid in oids {
                self.write(oid, &config, Some(id), &mut buffer, out)?;
            }
        }
        Ok(complete)
    }

    /// Writes one sequence of each identifier in the text of `-entry_batch`. Returns whether all of
    /// them exist.
    fn batch(&self, text: &[u8], mut config: Config, out: &mut Output) -> Result<bool, Stop> {
        let mut buffer = Vec::new();
        let mut complete = true;
        for (key, specifiers, found) in self.look_up(text)? {
            match found.map_or_else(|| self.oid_of_number(&key), |oid| Ok(Some(oid)))? {
                Some(oid) if config.read_specifiers(specifiers, self.source)? => {
                    self.write(oid, &config, Some(&key), &mut buffer, out)?;
                }
                _ => {
                    complete = false;
                    self.warn_skipped(&key);
                }
            }
        }
        Ok(complete)
    }

    /// Looks up all keys in the text of `-entry_batch`, before the first sequence is written.
    fn look_up<'t>(&self, text: &'t [u8]) -> Result<Vec<BatchEntry<'t>>, Stop> {
        let lines = text.split(|&b| b == b'\n').filter_map(id_and_rest);
        let look_up = |(id, specifiers)| {
            let key = self.source.lookup.key_of_typed_id(id);
            let mut cursor = self.source.cursor.borrow_mut();
            let found = match self.source.lookup.oid_of_batch_key(&key, &mut cursor) {
                // The database has no identifiers.
                Err(DbError::MissingAccessionTable) => None,
                found => found?,
            };
            Ok((key, specifiers, found))
        };
        lines.map(look_up).collect()
    }

    /// Looks up the OID of a key that is a GI. Returns `None` if the key is no number.
    fn oid_of_number(&self, key: &[u8]) -> Result<Option<u32>, Stop> {
        Ok(self.source.lookup.blastdbcmd_oid_of_gi(key, &mut self.source.cursor.borrow_mut())?)
    }
}

/// Reads a file of `-entry_batch` or `-ipg_batch`.
fn read_batch(option: &str, path: &OsStr) -> Result<Vec<u8>, Stop> {
    read_text_file(option, path).map_err(|error| {
        // BLAST+ reports this as an error of the retrieval, not of the command line.
        let prefix = "Command line argument error: ";
        Stop::Message(error.message.trim_start_matches(prefix).to_owned())
    })
}

/// Splits a line of a batch into the identifier and the rest; `None` for a blank line.
fn id_and_rest(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let blank = |b: &u8| b" \t".contains(b);
    let start = line.iter().position(|b| !blank(b))?;
    let line = &line[start..];
    let end = line.iter().position(blank).unwrap_or(line.len());
    Some((&line[..end], &line[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_begin_with_an_identifier() {
        assert_eq!(id_and_rest(b"  a\t 3-5 minus"), Some((&b"a"[..], &b"\t 3-5 minus"[..])));
        assert_eq!((id_and_rest(b"a"), id_and_rest(b" \t")), (Some((&b"a"[..], &b""[..])), None));
    }
}
