//! Aligns two occurrences of a pattern with each other (`s_PHIBlastAlignPatterns`, phi_gapalign.c).
//! Letters that match the same position of the pattern are paired. Letters that match the wildcards
//! between two such positions are aligned, even if their numbers differ.

use super::find::{Finder, Variants, Words};
use super::{ANY, Pattern, Place, banded};
use crate::hits::{Edit, EditOp};
use crate::scores::{RowNumber, ScoreRows};
use crate::xdrop::GapCosts;
use crate::xdrop::traced::push;

/// An occurrence in the query and an occurrence in a subject, to be aligned. `rows` are the score
/// rows of `letters`.
pub(crate) struct Pair<'a> {
    pub letters: &'a [u8],
    pub rows: &'a [RowNumber],
    pub subject: &'a [u8],
    pub scores: &'a ScoreRows,
    pub gaps: GapCosts,
}

impl Pattern {
    /// Appends the alignment columns of two occurrences.
    pub(crate) fn append_columns(&self, pair: &Pair, edits: &mut Vec<Edit>) {
        let runs = match &self.finder {
            Finder::Variants(variants) => divide_fixed(variants, pair),
            Finder::Words(words) => long(&self.places, words, pair),
        };
        // An occurrence always matches some variant.
        let Some(runs) = runs else { return };
        let (mut q, mut s) = (0, 0);
        for [in_query, in_subject] in runs {
            if in_query == in_subject {
                push(edits, EditOp::Substitution, in_query as u32);
            } else {
                let rows = &pair.rows[q..q + in_query];
                let letters = &pair.subject[s..s + in_subject];
                banded::align(rows, letters, pair.scores, pair.gaps, edits);
            }
            q += in_query;
            s += in_subject;
        }
    }
}

/// Divides both occurrences of a pattern with variants of fixed length into runs: single positions
/// that are no wildcards, and consecutive wildcards. Returns the number of letters of each run in
/// query and subject.
fn divide_fixed(variants: &Variants, pair: &Pair) -> Option<Vec<[usize; 2]>> {
    let mut rests = [variants.matching(pair.letters)?, variants.matching(pair.subject)?];
    let mut runs = Vec::new();
    while rests.iter().any(|rest| !rest.is_empty()) {
        let wild = rests.map(|rest| rest.iter().take_while(|&&set| set == ANY).count());
        let run = if wild == [0, 0] { [1, 1] } else { wild };
        if rests.iter().zip(run).any(|(rest, run)| rest.len() < run) {
            return None;
        }
        rests = [&rests[0][run[0]..], &rests[1][run[1]..]];
        runs.push(run);
    }
    Some(runs)
}

/// Divides both occurrences of a very long pattern into runs: single positions that are no
/// wildcards, and consecutive wildcards. Returns the number of letters of each run in query and
/// subject.
fn long(places: &[Place], words: &Words, pair: &Pair) -> Option<Vec<[usize; 2]>> {
    let ends = [words.ends(pair.letters)?, words.ends(pair.subject)?];
    let length = |word: usize| words.words[word].0.len();
    // Number of letters that the variable wildcard before a word takes, in query and subject.
    let taken = |word: usize| [0, 1].map(|of| ends[of][word] - ends[of][word - 1] - length(word));
    let (mut runs, mut wild, mut word, mut left) = (Vec::new(), [0, 0], 0, length(0));
    for place in places {
        match place {
            Place::Some(_) => {
                word += 1;
                left = length(word);
                let more = taken(word);
                wild = [wild[0] + more[0], wild[1] + more[1]];
                continue;
            }
            Place::Letter(ANY) => wild = wild.map(|run| run + 1),
            Place::Letter(_) => {
                runs.extend((wild != [0, 0]).then_some(wild));
                runs.push([1, 1]);
                wild = [0, 0];
            }
        }
        left -= 1;
        // A word that got too long was cut. The next word follows without a wildcard.
        if left == 0 && word + 1 < words.words.len() && words.words[word].1 == 0 {
            word += 1;
            left = length(word);
        }
    }
    runs.extend((wild != [0, 0]).then_some(wild));
    Some(runs)
}
