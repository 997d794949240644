//! Input databases (`-input_type blastdb`): they are copied as they are stored
//! (`CRawSeqDBSource`, makeblastdb.cpp).

use std::os::unix::ffi::OsStrExt;
use std::time::Instant;

use fleetblast_db::masks::DatabaseMasks;
use fleetblast_db::{Database, DbError, SequenceKind};
use fleetblast_job::error::{Error, exit};
use fleetblast_makedb::masks::{AlgorithmRanges, SequenceMasks};
use fleetblast_makedb::{DatabaseBuilder, DatabaseSequence, MakedbError};

use super::log::{Log, warn};
use super::masks::algorithm_error;
use super::names::{open_databases, quoted, split_names};
use super::options::Options;
use super::options_error;
use crate::stored_defline::stored_defline;
use crate::stream_number::stream_number;

/// Number of the program `other`, whose masking algorithms are distinguished by name
/// (`EBlast_filter_program`, blastdb.asn).
const OTHER_PROGRAM: i64 = 100;

/// The databases of `-in`, read as one.
pub(super) struct InputDatabase {
    database: Database,
    masks: DatabaseMasks,
    /// Numbers of masking algorithms: in the input, and in the new database.
    algorithms: Vec<(i32, u32)>,
}

impl InputDatabase {
    /// Opens the databases, and adds their masking algorithms to `masks`.
    pub(super) fn open(
        options: &Options,
        masks: &mut SequenceMasks,
        log: &mut Log,
    ) -> Result<Self, Error> {
        let names = split_names(options.input.as_bytes());
        if names.is_empty() {
            return Err(options_error("No valid input FASTA file or BLAST db is found."));
        }
        let mut all = Vec::new();
        for name in &names {
            let name = name.to_string_lossy();
            if open_databases(&name, options.kind, options.release).is_err() {
                warn(format_args!("Error: [makeblastdb] Unable to open input {name} as BLAST db"));
            }
            all.push(quoted(&name));
        }
        let database = open_databases(&all.join(" "), options.kind, options.release)?;
        log.say("Keep Leaf Taxids: T");
        let old = database.masks()?;
        let mut algorithms = Vec::new();
        for algorithm in old.algorithms() {
            let program = String::from_utf8_lossy(&algorithm.program).parse().unwrap_or_default();
            let mut name = algorithm.name.clone();
            if program != OTHER_PROGRAM {
                name.extend(algorithm.id.to_string().bytes());
            }
            let added = masks.add_program_algorithm(program, &algorithm.options, &name);
            algorithms.push((algorithm.id, added.map_err(algorithm_error)?));
        }
        Ok(Self { database, masks: old, algorithms })
    }

    /// Adds all included sequences to the new database. The outer error is about reading the input,
    /// the inner error is about the new database.
    pub(super) fn add_to(
        &self,
        builder: &mut DatabaseBuilder,
        log: &mut Log,
    ) -> Result<Result<(), MakedbError>, Error> {
        let start = Instant::now();
        let mut codes = Vec::new();
        for oid in self.database.oid_cursor().walk_included() {
            if let Err(error) = builder.add_from_database(self.sequence(oid, &mut codes, builder)?)
            {
                return Ok(Err(error));
            }
        }
        for odd in self.database.unprintable_headers() {
            warn(format_args!("Warning: {odd}"));
        }
        let added = builder.sequence_count();
        if added > 0 {
            let seconds = stream_number(start.elapsed().as_secs_f64());
            let what = "Adding sequences from raw db source; added";
            log.write_after(added, &format!("{what} {added} sequences in {seconds} seconds."));
        }
        Ok(Ok(()))
    }

    /// Reads a sequence. Stores its bases in the buffer `codes` if the new database has an index of
    /// hashes.
    fn sequence<'a>(
        &'a self,
        oid: u32,
        codes: &'a mut Vec<u8>,
        builder: &DatabaseBuilder,
    ) -> Result<DatabaseSequence<'a>, Error> {
        let database = &self.database;
        database.validate(oid..oid + 1)?;
        let lines: Vec<_> = database.deflines(oid)?.iter().map(stored_defline).collect();
        if lines.is_empty() {
            let message = "BLAST Database creation error: Error: No deflines provided.";
            return Err(Error::new(exit::INPUT, message));
        }
        let (letters, ambiguities) = match database.kind() {
            SequenceKind::Nucleotide => {
                let bases = database.bases_of(oid)?;
                if builder.options().hash_index {
                    bases.decode(0..u32::MAX, codes);
                }
                (bases.packed(), bases.ambiguity_list())
            }
            _ => (database.residues_of(oid), &[][..]),
        };
        if letters.is_empty() {
            let message = "BLAST Database error: File error: could not get sequence data.";
            return Err(Error::new(exit::DATABASE, message));
        }
        let codes = if database.kind() == SequenceKind::Nucleotide { codes } else { letters };
        Ok(DatabaseSequence {
            letters,
            ambiguities,
            length: database.length_of(oid),
            codes,
            lines,
            masks: self.masks_of(oid)?,
        })
    }

    /// Returns the masks of a sequence with the numbers of the new database.
    fn masks_of(&self, oid: u32) -> Result<Vec<AlgorithmRanges>, DbError> {
        let ranges = |&(old, new): &(i32, u32)| Ok((new, self.masks.ranges(oid, old)?));
        self.algorithms.iter().map(ranges).collect()
    }
}
