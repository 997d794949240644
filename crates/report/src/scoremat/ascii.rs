//! Writes a PSSM as a table for people (`CBlastFormatUtil::PrintAsciiPssm`, blastfmtutil.cpp).

use fleetblast_engine::pssm::{ColumnResults, Pssm};
use fleetblast_seq::alphabet::{X, decode};
use fleetblast_stats::frequencies::AMINO_ACID_CODES;
use fleetblast_stats::karlin::KarlinParameters;
use fleetblast_stats::matrix::SENTINEL_SCORE;

/// The statistics below the table of a PSSM, from the previous search. Each field has those of
/// ungapped, then of gapped alignments.
#[derive(Clone, Copy, Debug)]
pub struct PssmStatistics {
    /// Statistics for the query's letters, if the table shows them.
    pub standard: Option<[KarlinParameters; 2]>,
    /// Statistics for the PSSM that the search used, if the table shows them.
    pub psi: Option<[KarlinParameters; 2]>,
}

/// Appends the table of a PSSM and its statistics.
pub fn write_ascii_pssm(pssm: &Pssm, statistics: &PssmStatistics, out: &mut Vec<u8>) {
    let observed = pssm.observed.as_ref();
    let mut text = String::from("\nLast position-specific scoring matrix computed");
    if observed.is_some() {
        text += ", weighted observed percentages rounded down, information per position, and relative \
                 weight of gapless real matches to pseudocounts";
    }
    text += "\n         ";
    let width = width(pssm);
    let letters = AMINO_ACID_CODES.map(|code| decode(code as u8) as char);
    letters.iter().for_each(|letter| text += &format!("{letter:>width$}"));
    if observed.is_some() {
        letters.iter().for_each(|letter| text += &format!("   {letter}"));
    }
    for position in 0..pssm.query.len() {
        write_row(pssm, observed, position, width, &mut text);
    }
    text += "\n\n                      K         Lambda\n";
    let mut line = |name: &str, block: &KarlinParameters| {
        text += &format!("{name:<21}{:.4}     {:.4}\n", block.k, block.lambda);
    };
    for (name, blocks) in [("Standard", &statistics.standard), ("PSI", &statistics.psi)] {
        if let Some([ungapped, gapped]) = blocks {
            line(&format!("{name} Ungapped"), ungapped);
            line(&format!("{name} Gapped"), gapped);
        }
    }
    out.extend_from_slice(text.as_bytes());
}

/// Returns the width of a column of scores: the digits of the largest absolute score, plus two
/// blanks.
fn width(pssm: &Pssm) -> usize {
    let scores = pssm.scores.iter().flatten().filter(|&&score| score > SENTINEL_SCORE);
    let largest = scores.map(|score| score.unsigned_abs()).max().unwrap_or(0);
    2 + if largest == 0 { 0 } else { largest.to_string().len() }
}

fn write_row(
    pssm: &Pssm,
    observed: Option<&ColumnResults>,
    position: usize,
    width: usize,
    text: &mut String,
) {
    let letter = pssm.query[position];
    *text += &format!("\n{:>5} {}  ", position + 1, decode(letter) as char);
    let scores = AMINO_ACID_CODES.map(|code| pssm.scores[position][code]);
    for score in scores {
        match score {
            SENTINEL_SCORE => *text += "-I ",
            score => *text += &format!("{score:>width$}"),
        }
    }
    text.push(' ');
    let Some(observed) = observed else { return };
    for (code, _) in
        AMINO_ACID_CODES.iter().zip(scores).filter(|&(_, score)| score != SENTINEL_SCORE)
    {
        let share = 100.0 * observed.weighted[position][*code];
        *text += &format!("{:>4}", (share + if share > 0.0 { 0.5 } else { -0.5 }) as i32);
    }
    *text += &format!("  {:.2} ", observed.information[position]);
    if observed.matching[position] > 1 && letter != X {
        *text += &format!("{:.2}", observed.gapless[position]);
    } else {
        *text += "    0.00";
    }
}
