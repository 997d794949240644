//! The indexed words of a query, and the subject words that match them (rules 4.1, 4.2).

use fleetblast_seq::alphabet::{self, SIZE};
use fleetblast_stats::frequencies::{self, MatrixFrequencies};
use fleetblast_stats::matrix::SENTINEL_SCORE;
use fleetblast_stats::release::Release;
use fleetblast_stats::scoring::ScoringSystem;

use super::context::ChunkContext;
use crate::params::truncate_to_i32;
use crate::scores::{RowNumber, ScoreRows};

/// The rule of the standard table: a subject word matches if it scores `threshold` or more, or if
/// it equals a query word that scores less than that with itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct WordRule {
    pub size: usize,
    /// Threshold T, truncated. With 0 only equal words match.
    pub threshold: i32,
}

/// Least score of a subject word that matches the word at an offset of a context, or one of the
/// special limits [`NEVER_MATCHES`] and [`OR_EQUAL`].
pub(super) type Limit = i16;
/// Limit where no word starts: at the end of the context or in a mask.
const NEVER_MATCHES: Limit = Limit::MAX;
/// Limit of a word that scores less than the threshold with itself. The same word also matches,
/// whatever its score.
const OR_EQUAL: Limit = Limit::MIN;

impl WordRule {
    /// Returns the limit of the word at each offset of a context.
    pub fn limits(&self, context: &ChunkContext, scores: &ScoreRows) -> Vec<Limit> {
        let mut limits = vec![NEVER_MATCHES; context.len()];
        // The special limits are outside the range of thresholds.
        let range = (i32::from(OR_EQUAL) + 1, i32::from(NEVER_MATCHES));
        let threshold = self.threshold.clamp(range.0, range.1) as Limit;
        for start in word_starts(context, self.size) {
            let letters = &context.residues()[start..start + self.size];
            let own: i32 = own_scores(context, start, self.size, scores).sum();
            let equal = !context.by_score && (self.threshold == 0 || own < self.threshold);
            let usable = !letters.contains(&alphabet::SENTINEL);
            // Without a threshold only equal words match.
            let scores = self.threshold != 0 || context.by_score;
            let scored = if scores { threshold } else { NEVER_MATCHES };
            limits[start] = if equal && usable { OR_EQUAL } else { scored };
        }
        limits
    }

    /// Returns whether a subject word matches. `sum` is its score, which is at least `limit`.
    /// `equal` compares the two words.
    #[inline]
    pub fn matches(&self, limit: Limit, sum: i32, equal: impl FnOnce() -> bool) -> bool {
        limit > OR_EQUAL || self.threshold != 0 && sum >= self.threshold || equal()
    }
}

/// Returns the offsets of a context at which a word may start.
pub(super) fn word_starts(context: &ChunkContext, size: usize) -> impl Iterator<Item = usize> {
    context.regions.iter().flat_map(move |region| {
        let (start, end) = (region.start as usize, region.end as usize);
        start..(end + 1).saturating_sub(size).max(start)
    })
}

/// Returns whether some word of a context scores nothing with itself at any of its positions, such
/// as `XXX`. A one-hit extension from such a word continues on both sides, and leaves out the pairs
/// between. So the score of the HSP is no sum along the diagonal.
pub(super) fn has_scoreless_word(context: &ChunkContext, size: usize, scores: &ScoreRows) -> bool {
    word_starts(context, size).any(|at| own_scores(context, at, size, scores).all(|own| own <= 0))
}

/// Returns the score of each position of the word at an offset of a context against its own
/// residue.
fn own_scores(
    context: &ChunkContext,
    start: usize,
    size: usize,
    scores: &ScoreRows,
) -> impl Iterator<Item = i32> {
    let places = start..start + size;
    let (rows, letters) = (&context.rows()[places.clone()], &context.residues()[places]);
    rows.iter().zip(letters).map(|(&row, &letter)| scores.score(row, letter))
}

/// Letter groups of the compressed alphabet for words of 6 letters. `GROUPS_7` is for words of 7
/// letters (`blast_aalookup.c`).
const GROUPS_6: &str = "ST IJV LM KR EQZ A G BD P N F Y H C W";
const GROUPS_7: &str = "IJLMV AST BDENZ KQR G FY P H C W";
/// Factor by which scores of the compressed alphabet are multiplied before they are rounded.
const COMPRESSED_SCALE: f64 = 100.0;

/// Digit of a residue that no word contains.
const NO_DIGIT: u8 = u8::MAX;

/// The letters of words in the look-up table, and their scores against query letters.
#[derive(Clone, Debug)]
pub(super) struct Alphabet {
    /// Digit of each residue code; [`NO_DIGIT`] for residues that no word contains.
    digits: [u8; SIZE],
    radix: usize,
    /// Score of each row of the query against each digit.
    scores: Vec<[i32; SIZE]>,
    /// For each row of the query, the scores and digits of letters that words may contain, the best
    /// first.
    ranked: Vec<Vec<(i32, usize)>>,
    /// Threshold T, scaled and truncated.
    threshold: i32,
}

impl Alphabet {
    /// Creates the alphabet for words of `word_size` letters. Returns `None` if the matrix has no
    /// frequencies from which to derive compressed scores.
    pub fn new(
        release: &Release,
        scoring: &ScoringSystem,
        rows: &ScoreRows,
        word_size: usize,
        threshold: f64,
    ) -> Option<Alphabet> {
        match word_size {
            _ if word_size < release.compressed_alphabet_min_word_size => {
                Some(Alphabet::standard(rows, threshold))
            }
            ..=6 => Alphabet::compressed(scoring, GROUPS_6, threshold),
            _ => Alphabet::compressed(scoring, GROUPS_7, threshold),
        }
    }

    fn standard(rows: &ScoreRows, threshold: f64) -> Alphabet {
        let mut digits = std::array::from_fn(|code| code as u8);
        digits[usize::from(alphabet::SENTINEL)] = NO_DIGIT;
        let scores = rows.all().iter().map(|row| std::array::from_fn(|code| row[code])).collect();
        Alphabet::ranked(digits, SIZE, scores, truncate_to_i32(threshold))
    }

    fn compressed(scoring: &ScoringSystem, groups: &str, threshold: f64) -> Option<Alphabet> {
        let ratios = MatrixFrequencies::for_matrix(scoring.name)?.frequency_ratios;
        let background = frequencies::background_frequencies();
        let mut digits = [NO_DIGIT; SIZE];
        let mut scores = vec![[SENTINEL_SCORE; SIZE]; SIZE];
        let mut radix = 0;
        for (digit, group) in groups.split(' ').enumerate() {
            let codes: Vec<usize> =
                group.bytes().filter_map(alphabet::encode).map(usize::from).collect();
            let total: f64 = codes.iter().map(|&code| background[code]).sum();
            for &code in &codes {
                digits[code] = digit as u8;
            }
            for (row, ratios) in scores.iter_mut().zip(&ratios) {
                let ratio: f64 =
                    codes.iter().map(|&code| ratios[code] * (background[code] / total)).sum();
                if ratio >= 1e-8 {
                    let score = ratio.ln() * COMPRESSED_SCALE / scoring.ungapped_statistics.lambda;
                    row[digit] = score.round() as i32;
                }
            }
            radix = digit + 1;
        }
        let threshold = truncate_to_i32(COMPRESSED_SCALE * threshold);
        Some(Alphabet::ranked(digits, radix, scores, threshold))
    }

    fn ranked(
        digits: [u8; SIZE],
        radix: usize,
        scores: Vec<[i32; SIZE]>,
        threshold: i32,
    ) -> Alphabet {
        let mut alphabet = Alphabet { digits, radix, scores, ranked: Vec::new(), threshold };
        let rank = |row: &[i32; SIZE]| {
            let usable = (0..radix).filter(|&digit| alphabet.usable(digit));
            let mut ranked: Vec<(i32, usize)> = usable.map(|digit| (row[digit], digit)).collect();
            ranked.sort_unstable_by_key(|&(score, digit)| (-score, digit));
            ranked
        };
        alphabet.ranked = alphabet.scores.iter().map(rank).collect();
        alphabet
    }

    /// Returns whether words may contain the digit. They never contain the sentinel, which is a
    /// digit of the standard alphabet.
    fn usable(&self, digit: usize) -> bool {
        self.radix != SIZE || digit != alphabet::SENTINEL as usize
    }

    /// Returns the number of different digits.
    pub fn radix(&self) -> usize {
        self.radix
    }

    /// Returns the digit of a residue code, if words may contain the residue.
    #[inline]
    pub fn digit(&self, code: u8) -> Option<usize> {
        Some(self.digits[usize::from(code)]).filter(|&digit| digit != NO_DIGIT).map(usize::from)
    }

    /// Writes the digit of each residue.
    fn write_digits(&self, residues: &[u8], digits: &mut Vec<u8>) {
        digits.clear();
        if self.radix == SIZE {
            // The digits are the codes, except for one: the compiler makes vectors of it.
            let digit = |&code: &u8| if code == alphabet::SENTINEL { NO_DIGIT } else { code };
            digits.extend(residues.iter().map(digit));
        } else {
            digits.extend(residues.iter().map(|&code| self.digits[usize::from(code)]));
        }
    }

    /// Returns the score of a row against a digit, limited to 16 bits.
    pub fn score(&self, row: RowNumber, digit: usize) -> i16 {
        self.scores[row as usize][digit].clamp(SENTINEL_SCORE, i32::from(i16::MAX)) as i16
    }

    /// Returns the score that a matching word must reach. With 0 only equal words match.
    pub fn threshold(&self) -> i32 {
        self.threshold
    }

    /// Calls `emit` with the number of each word that starts with the digit `first` and matches the
    /// query word.
    pub fn matches(&self, first: usize, query: QueryWord, mut emit: impl FnMut(usize)) {
        // Without a threshold only equal words match, except for query words that match by score
        // alone.
        let only_equal = self.threshold == 0 && !query.by_score;
        let (mut own, mut own_first, mut own_score) = (0, None, 0);
        for (&code, &row) in query.letters.iter().zip(query.rows) {
            let Some(digit) = self.digit(code) else { return };
            own = own * self.radix + digit;
            own_first = own_first.or(Some(digit));
            own_score += self.scores[row as usize][digit];
        }
        let below = only_equal || own_score < self.threshold;
        if own_first == Some(first) && below && !query.by_score {
            emit(own);
        }
        let Some((&row, rest)) = query.rows.split_first() else { return };
        if only_equal || !self.usable(first) {
            return;
        }
        let needed = self.threshold.saturating_sub(self.scores[row as usize][first]);
        let best = rest.iter().map(|&row| self.ranked[row as usize][0].0).sum();
        if best >= needed {
            self.neighbours(rest, first, needed, best, &mut emit);
        }
    }

    /// Extends the word `prefix` by digits that can still reach the score `needed`. `best` is the
    /// highest score that `rows` can add. Calls `emit` with each complete word.
    fn neighbours(
        &self,
        rows: &[RowNumber],
        prefix: usize,
        needed: i32,
        best: i32,
        emit: &mut impl FnMut(usize),
    ) {
        let Some((&row, rest)) = rows.split_first() else {
            emit(prefix);
            return;
        };
        let ranked = &self.ranked[row as usize];
        let best_rest = best - ranked[0].0;
        for &(score, digit) in ranked.iter().take_while(|(score, _)| score + best_rest >= needed) {
            let needed = needed.saturating_sub(score);
            self.neighbours(rest, prefix * self.radix + digit, needed, best_rest, emit);
        }
    }
}

/// A word of the query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueryWord<'a> {
    /// Residues of the word.
    pub letters: &'a [u8],
    /// Row numbers of its positions.
    pub rows: &'a [RowNumber],
    /// Whether words match by their score alone ([`ChunkContext::by_score`]).
    pub by_score: bool,
}

/// The words of a group of contexts.
#[derive(Debug)]
pub(super) struct Words {
    pub alphabet: Alphabet,
    /// Number of letters of a word.
    pub size: usize,
    /// The concatenated contexts, with a sentinel after each.
    pub residues: Vec<u8>,
    /// Row numbers of the residues.
    pub rows: Vec<RowNumber>,
    /// Start positions of words, ascending.
    pub starts: Vec<u32>,
    /// Whether words match by their score alone ([`ChunkContext::by_score`]); the same for all
    /// contexts.
    pub by_score: bool,
}

impl Words {
    /// Returns the word at a position.
    pub fn word_at(&self, position: u32) -> QueryWord<'_> {
        let places = position as usize..position as usize + self.size;
        let (letters, rows) = (&self.residues[places.clone()], &self.rows[places]);
        QueryWord { letters, rows, by_score: self.by_score }
    }

    /// Returns the number of different words. Words are numbered by the digits of their letters,
    /// the first digit being the highest.
    pub fn different(&self) -> usize {
        self.alphabet.radix().pow(self.size as u32)
    }

    /// Writes the number of the word at each offset of a subject. Where a residue has no digit,
    /// there is no word, and the number is [`Words::different`].
    pub fn numbers(&self, subject: &[u8], digits: &mut Vec<u8>, numbers: &mut Vec<u32>) {
        self.alphabet.write_digits(subject, digits);
        match self.size {
            2 => self.numbers_of::<2>(digits, numbers),
            3 => self.numbers_of::<3>(digits, numbers),
            4 => self.numbers_of::<4>(digits, numbers),
            5 => self.numbers_of::<5>(digits, numbers),
            6 => self.numbers_of::<6>(digits, numbers),
            _ => self.numbers_of::<7>(digits, numbers),
        }
    }

    /// Does the work of [`Words::numbers`] for words of `SIZE` letters.
    fn numbers_of<const SIZE: usize>(&self, digits: &[u8], numbers: &mut Vec<u32>) {
        let (radix, none) = (self.alphabet.radix as u32, self.different() as u32);
        let number = |word: &[u8]| {
            let word: &[u8; SIZE] = word.try_into().expect("a window of this size");
            let number = word.iter().fold(0u32, |n, &d| n.wrapping_mul(radix) + u32::from(d));
            let invalid = word.iter().fold(0, |most, &digit| most.max(digit)) == NO_DIGIT;
            if invalid { none } else { number }
        };
        numbers.clear();
        numbers.extend(digits.windows(SIZE).map(number));
    }
}
