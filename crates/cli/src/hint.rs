//! Words to people at a terminal, beside BLAST+'s messages: what programs read of those stays as BLAST+ has it.

use std::io::Read;

use fleetblast_db::SequenceKind;
use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::Source;
use fleetblast_seq::input;

use crate::dbcheck;
use crate::messages::{complain, somebody_reads};
use crate::options::search::program::ProgramSpec;

/// Bytes of a query file that are looked at.
const LOOKED_AT: u64 = 1 << 16;
/// A query with fewer letters may be a peptide, whatever they are.
const SURE: usize = 30;

/// Says what is odd about a query that can be searched all the same.
pub fn before_search(program: &ProgramSpec, query: &Source) {
    let Source::File(path) = query else { return };
    if program.queries != SequenceKind::Protein || !somebody_reads() || !path.is_file() {
        return;
    }
    let mut start = Vec::new();
    let read = input::open(path, |_| {}).map(|file| file.take(LOOKED_AT).read_to_end(&mut start));
    if matches!(read, Ok(Ok(_))) && is_bases(&start) {
        let name = program.name;
        complain(&format!(
            "Hint: the first query looks like nucleotides; {name} takes its letters for amino acids."
        ));
    }
}

/// The error, with what may help against it after its message.
pub fn after_error(program: &ProgramSpec, db: &str, mut error: Error) -> Error {
    let missing = error.message.contains("No alias or index file found");
    if error.exit_code != exit::DATABASE || !missing || !somebody_reads() {
        return error;
    }
    let (other, words) = if program.subjects == SequenceKind::Protein {
        (SequenceKind::Nucleotide, ["nucleotides", "proteins"])
    } else {
        (SequenceKind::Protein, ["proteins", "nucleotides"])
    };
    error.message += &match dbcheck::open(db, Some(other)) {
        Ok(_) => {
            let ([has, wants], name) = (words, program.name);
            format!("\nHint: {db} is a database of {has}; {name} searches those of {wants}.")
        }
        Err(_) => "\nHint: 'fleetblast blastdbcmd -list DIRECTORY' lists databases, and 'fleetblast makeblastdb' \
                   makes them; BLASTDB names directories to look in."
            .to_owned(),
    };
    error
}

/// Whether the first sequence of FASTA consists of letters of bases.
fn is_bases(start: &[u8]) -> bool {
    let mut letters = 0;
    let lines = start.split(|&byte| byte == b'\n').skip_while(|line| line.starts_with(b">"));
    for line in lines.take_while(|line| !line.starts_with(b">")) {
        let line = line.trim_ascii();
        if !line.iter().all(|byte| b"ACGTUN".contains(&byte.to_ascii_uppercase())) {
            return false;
        }
        letters += line.len();
    }
    letters >= SURE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_told_from_residues() {
        let bases = "ACGTTGCANNacgtacgtacgtacgtacgtuu";
        assert!(is_bases(format!(">q\n{bases}\r\n\n>next\nMKV\n").as_bytes()));
        assert!(is_bases(bases.as_bytes()));
        assert!(!is_bases(format!(">q\n{bases}\nMKV\n").as_bytes()));
        assert!(!is_bases(b">short\nACGTACGT\n"));
        assert!(!is_bases(b">q\n") && !is_bases(b""));
    }
}
