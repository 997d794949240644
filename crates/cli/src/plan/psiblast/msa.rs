//! The PSSM of the first iteration, computed from a multiple alignment in a file
//! (`CPsiBlastInputClustalW`, msa_pssm_input.cpp).

use std::ffi::OsStr;
use std::sync::Arc;

use fleetblast_engine::pssm::alignment::QueryAlignment;
use fleetblast_engine::pssm::typed::{self, UserAlignmentError};
use fleetblast_engine::pssm::{AlignmentRules, PssmMaker};
use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::InitialPssm;
use fleetblast_report::scoremat::PssmDescription;
use fleetblast_seq::id::{Molecule, ObjectId, SeqId};
use fleetblast_seq::msa::{self, AlignedSequence, MsaError};
use fleetblast_stats::scoring::{ScoringError, ScoringSystem};

use crate::options::search::psi::{IN_MSA, PsiOptions};
use crate::options::typed::to_text;
use crate::plan::contents::bytes;

/// BLAST+'s message about a file that is no alignment.
const NONE: &str = "CAlnReader::GetSeqEntry(): Seq_entry is not available until after Read()";
/// BLAST+'s message about a sequence with both `T` and `U` among its bases.
const MIXED: &str = "Invalid Mol Type: U and T cannot appear in the same nucleotide sequence. Reinterpreting as protein.";

/// An alignment, with positions relative to its query.
pub struct InputAlignment {
    alignment: QueryAlignment,
    id: ObjectId,
    title: Option<Vec<u8>>,
}

impl InputAlignment {
    /// Reads the multiple alignment of `-in_msa`.
    pub fn read(file: &OsStr, options: &PsiOptions) -> Result<Self, Error> {
        let name = to_text(file);
        let rows =
            msa::read(&bytes(IN_MSA.name(), file)?).map_err(|error| refusal(&name, &error))?;
        let columns: Vec<&[u8]> = rows.iter().map(|row| &row.columns[..]).collect();
        let master = options.msa_master_idx.map_or(0, |number| number - 1);
        let alignment =
            typed::align_rows(&columns, master).map_err(|error| no_query(&name, error))?;
        let query = find_query_row(&name, &rows, &rows[master])?;
        let [SeqId::Local(id)] = &query.ids[..] else {
            let what = "-in_msa with a query whose identifier is not local";
            return Err(Error::unsupported("psiblast", what));
        };
        let title = (!query.title.is_empty()).then(|| query.title.clone());
        Ok(InputAlignment { alignment, id: id.clone(), title })
    }

    /// Computes the PSSM of the first iteration. `-pseudocount` has an effect on later PSSMs only.
    pub fn start(
        self,
        scoring: &ScoringSystem,
        options: &PsiOptions,
    ) -> Result<InitialPssm, Error> {
        let maker = PssmMaker::new(scoring, 0).ok_or_else(|| {
            Error::engine("No matrix frequency ratios were found for requested matrix")
        })?;
        let rules = AlignmentRules {
            allows_unaligned_columns: true,
            without_query: options.ignore_msa_master,
            keeps_observed: true,
        };
        let pssm = Arc::new(maker.make(self.alignment, rules).map_err(Error::engine)?);
        let description = PssmDescription {
            id: self.id,
            title: self.title,
            has_text_residues: true,
            has_intermediate_data: options.out_ascii_pssm.is_some(),
            matrix_name: scoring.name.to_owned(),
            // BLAST+ does not set these values in a PSSM of an alignment.
            gap_costs: None,
            pseudocount: 0,
        };
        Ok(InitialPssm { pssm, lacks_ungapped: false, description })
    }
}

/// Returns the sequence that gives the query its identifier and title: the first one with the
/// query's letters. BLAST+ compares letter by letter, and bases only with bases.
fn find_query_row<'a>(
    name: &str,
    rows: &'a [AlignedSequence],
    query: &AlignedSequence,
) -> Result<&'a AlignedSequence, Error> {
    let letters: Vec<u8> = query.letters().collect();
    for row in rows.iter().filter(|row| row.letters().count() == letters.len()) {
        if row.molecule == Molecule::Nucleotide {
            let line = row.line;
            let what = "is one of bases, not a protein";
            let message = format!("Error: {name}: the sequence that begins in line {line} {what}");
            return Err(Error::new(exit::UNKNOWN, message));
        }
        if row.letters().eq(letters.iter().copied()) {
            return Ok(row);
        }
    }
    Err(Error::engine(format_args!("{name}: the query is not in the alignment")))
}

/// Returns the error for an unusable file: BLAST+'s message, if it has one, and the position in the
/// file.
fn refusal(name: &str, error: &MsaError) -> Error {
    match error {
        MsaError::Unsupported(what) => {
            Error::unsupported("psiblast", format_args!("-in_msa with {what}"))
        }
        MsaError::MixedBases { .. } => Error::query(format_args!("{MIXED}\n({name}: {error})")),
        MsaError::Malformed { .. } => Error::query(format_args!("{NONE}\n({name}, {error})")),
        MsaError::NoAlignment(_) => Error::query(format_args!("{NONE}\n({name}: {error})")),
    }
}

fn no_query(name: &str, error: UserAlignmentError) -> Error {
    match error {
        UserAlignmentError::NoRow(_) => {
            Error::new(exit::INPUT, format!("BLAST options error: {error}"))
        }
        UserAlignmentError::Empty => Error::engine(error),
        UserAlignmentError::Stop(_) | UserAlignmentError::Longer(_) => {
            Error::engine(format_args!("{name}: {error}"))
        }
    }
}

/// Returns the error for a matrix or gap costs without statistics. With `-in_msa`, BLAST+ reports
/// it before it checks other options.
pub fn unscored(error: &ScoringError) -> Error {
    match error {
        ScoringError::UnknownMatrix { .. } => Error::engine("Unknown error code -1"),
        ScoringError::UnknownGapCosts { matrix, gap_open, gap_extend } => {
            Error::engine(format_args!(
                "Gap existence and extension values of {gap_open} and {gap_extend} not supported for {matrix}"
            ))
        }
    }
}
