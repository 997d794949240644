//! The tests of sequences (`CTestAction::TestOID`).

use std::collections::{BTreeSet, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

use fleetblast_db::DbError;
use fleetblast_job::error::Error;
use fleetblast_seq::nucleotide::random::Random;

use super::log::{Log, describe};
use super::options::{Level, Options, Selection};
use super::volume::OpenVolume;
use crate::exceptions::{Exception, Place};

const NO_OID: Exception = Exception::of_database(
    Place { file: "objtools/blast/seqdb_reader/seqdbimpl.cpp", lines: [815, 817, 813] },
    "eArgErr",
    "CSeqDBImpl::GetSeqIDs",
);

/// A fault of a sequence.
enum Fault {
    /// An error of the database, and the step of the test that found it.
    Database(&'static str, DbError),
    /// A contradiction that this text describes, and the step that found it.
    Contradiction(&'static str, String),
}

/// The tests of sequences.
pub(super) struct SequenceCheck<'a> {
    options: &'a Options,
    random: Random,
    /// OIDs tested so far, in any volume. Like BLAST+, the program tests an OID in one volume only.
    tested: HashSet<i64>,
}

impl<'a> SequenceCheck<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // The seed is the time in seconds.
        Self { options, random: Random::new(now.as_secs() as u32), tested: HashSet::new() }
    }

    /// Tests the selected sequences of a volume. Returns the number of tests with a fault.
    pub(super) fn check(&mut self, volume: &OpenVolume<'_>, log: &mut Log) -> Result<usize, Error> {
        let mut faults = 0;
        for &test in &self.options.tests {
            faults += usize::from(!self.check_selection(test, volume, log)?);
        }
        Ok(faults)
    }

    /// Tests the sequences of a selection up to the first fault. Returns whether all are sound.
    fn check_selection(
        &mut self,
        selection: Selection,
        volume: &OpenVolume<'_>,
        log: &mut Log,
    ) -> Result<bool, Error> {
        let (name, count) = (volume.name.as_bytes(), volume.database.oid_count());
        let minutiae = Level::Minutiae;
        let (test, oids): (_, Box<dyn Iterator<Item = i64>>) = match selection {
            Selection::All | Selection::Stride(_) => {
                let stride = if let Selection::Stride(stride) = selection { stride } else { 1 };
                let test = (name, "Stride");
                log.result(minutiae, test, format!("<testing every {stride}th OID>"))?;
                (test, Box::new((0..i64::from(count)).step_by(stride as usize)))
            }
            Selection::Sample(size) => {
                let test = (name, "Sample");
                if count == 0 {
                    log.result(Level::Brief, test, "  [ERROR] empty volume")?;
                    return Ok(false);
                }
                let sample = self.draw_sample(size, count);
                let unique = sample.len();
                let text = format!("<testing {size} randomly selected OIDs ({unique} unique)>");
                log.result(minutiae, test, text)?;
                (test, Box::new(sample.into_iter()))
            }
            Selection::Ends(size) => {
                let test = (name, "EndPoints");
                log.result(minutiae, test, format!("<testing {size} OIDs at each end>"))?;
                (test, Box::new(ends(size.into(), count.into())))
            }
        };
        for oid in oids {
            if self.tested.insert(oid) && !self.check_oid(oid, volume, test, log)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Draws a sample of `size` OIDs; some may be drawn several times.
    fn draw_sample(&mut self, size: i32, count: u32) -> BTreeSet<i64> {
        (0..size).map(|_| i64::from(self.random.draw_below(count))).collect()
    }

    /// Tests a sequence. Returns whether it is sound.
    fn check_oid(
        &self,
        oid: i64,
        volume: &OpenVolume<'_>,
        test: (&[u8], &str),
        log: &mut Log,
    ) -> Result<bool, Error> {
        let fault = match u32::try_from(oid).ok().filter(|&oid| oid < volume.database.oid_count()) {
            Some(oid) => self.find_fault(oid, volume).err().map(|fault| match fault {
                Fault::Database(step, error) => {
                    let what = describe(self.options.release, error);
                    format!("Failed during {step}, oid {oid}: {what}")
                }
                Fault::Contradiction(step, what) => format!("{step} failed; oid={oid}: {what}"),
            }),
            None => {
                let text = NO_OID.format(self.options.release, "OID not found");
                Some(format!("Failed during headers, oid {oid}: {text}"))
            }
        };
        if let Some(text) = &fault {
            log.result(Level::Details, test, format!("    {text}"))?;
        }
        let status = if fault.is_none() { "PASS" } else { "FAIL" };
        log.result(Level::Minutiae, test, format!("      Status for OID {oid}: {status}"))?;
        Ok(fault.is_none())
    }

    /// Reads the definition lines and the letters of a sequence, and looks up its identifiers.
    /// Returns the first fault as an error.
    fn find_fault(&self, oid: u32, volume: &OpenVolume<'_>) -> Result<(), Fault> {
        let OpenVolume { database, lookup, .. } = volume;
        let lines = database.deflines(oid).map_err(|error| Fault::Database("headers", error))?;
        let in_sequence = |error| Fault::Database("sequence", error);
        database.validate(oid..oid + 1).map_err(in_sequence)?;
        if database.length_of(oid) == 0 {
            return Err(Fault::Contradiction("sequence", "sequence data is empty".to_owned()));
        }
        if self.options.requires_taxids && lines.iter().all(|line| line.taxid <= 0) {
            return Err(Fault::Contradiction("taxid", "no taxid set".to_owned()));
        }
        const LOOKUP: &str = "isam lookups";
        let ids = lines.iter().flat_map(|line| &line.ids);
        for id in ids.filter(|_| self.options.looks_up_ids) {
            let found = lookup.oids_of_stored_id(id);
            let found = found.map_err(|error| Fault::Database(LOOKUP, error))?;
            let id = String::from_utf8_lossy(&id.fasta()).into_owned();
            match found.first() {
                Some(&found) if found == oid => {}
                Some(found) => {
                    let text = format!("oid1={oid} oid2={found} seqid={id}");
                    return Err(Fault::Contradiction(LOOKUP, text));
                }
                None => return Err(Fault::Contradiction(LOOKUP, format!("seqid={id}"))),
            }
        }
        Ok(())
    }
}

/// Returns the first and the last `size` OIDs of `count`. For numbers below 1, BLAST+ tests an OID
/// that does not exist.
fn ends(size: i64, count: i64) -> impl Iterator<Item = i64> {
    let rest = size.max(0)..count;
    let last = rest.start.max(count - size);
    let beyond = (size < 1 && count > 0).then_some(count - size);
    (0..size.min(count)).chain(last..count).chain(beyond)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected OIDs are those of `blastdbcheck -ends N -verbosity 4`.
    #[test]
    fn the_ends_meet_in_short_databases() {
        let ends = |size, count| ends(size, count).collect::<Vec<_>>();
        assert_eq!(ends(1, 5), [0, 4]);
        assert_eq!(ends(2, 3), [0, 1, 2]);
        assert_eq!(ends(9, 3), [0, 1, 2]);
        assert_eq!(ends(0, 3), [3]);
        assert_eq!(ends(-5, 3), [8]);
        assert_eq!(ends(1, 0), Vec::<i64>::new());
    }
}
