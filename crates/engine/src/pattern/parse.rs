//! Parses the text of a pattern (`SPHIPatternSearchBlkNew`, phi_lookup.c).

use fleetblast_seq::alphabet;
use fleetblast_stats::frequencies::background_frequencies;

use super::find::Finder;
use super::{ANY, MAX_POSITIONS, Pattern, PatternError, Place};

/// State of the parser of a pattern.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    places: Vec<Place>,
    least: usize,
    probability: f64,
    background: [f64; alphabet::SIZE],
}

impl Pattern {
    /// Parses a pattern in PROSITE syntax, in upper or lower case.
    ///
    /// # Errors
    /// If the text is too long or malformed.
    ///
    /// ```
    /// use fleetblast_engine::pattern::Pattern;
    /// let pattern = Pattern::parse("[AG]-x(4)-G-K-[ST].")?;
    /// assert_eq!(pattern.least_length(), 8);
    /// # Ok::<(), fleetblast_engine::pattern::PatternError>(())
    /// ```
    pub fn parse(typed: &str) -> Result<Pattern, PatternError> {
        if typed.len() >= MAX_POSITIONS {
            return Err(PatternError::TooLong { length: typed.len() });
        }
        let upper = typed.to_ascii_uppercase();
        let mut reading = Parser {
            text: upper.as_bytes(),
            at: 0,
            places: Vec::new(),
            least: 0,
            probability: 1.0,
            background: background_frequencies(),
        };
        reading.all()?;
        let Parser { places, least, probability, .. } = reading;
        let places = fixed_ends(places);
        let finder = Finder::new(&places).ok_or(PatternError::Malformed { at: 1 })?;
        let probability = probability.min(1.0);
        Ok(Pattern { typed: typed.to_owned(), places, least, probability, finder })
    }
}

impl Parser<'_> {
    fn all(&mut self) -> Result<(), PatternError> {
        while let Some(letter) = self.next() {
            match letter {
                b'\r' | b'\n' => break,
                b'-' | b'.' | b'>' | b'<' | b' ' => {}
                b'X' if self.variable()? => {}
                b'X' => self.add_positions(ANY, 1.0)?,
                b'U' => self.add_positions(ANY << 1 | 1, 1.0)?,
                b'[' => {
                    let (set, probability) = self.set()?;
                    self.add_positions(set, probability)?;
                }
                b'{' => {
                    let (set, probability) = self.others()?;
                    self.add_positions(set, probability)?;
                }
                letter => {
                    let code = self.code(letter)?;
                    self.add_positions(1 << code, self.background[code])?;
                }
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<u8> {
        let letter = self.text.get(self.at).copied();
        self.at += usize::from(letter.is_some());
        letter
    }

    fn malformed_error(&self) -> PatternError {
        PatternError::Malformed { at: self.at + 1 }
    }

    /// Returns the code of a letter. Other characters become a gap, which no sequence contains.
    fn code(&self, letter: u8) -> Result<usize, PatternError> {
        if !letter.is_ascii() {
            return Err(PatternError::Malformed { at: self.at });
        }
        Ok(usize::from(alphabet::encode(letter).unwrap_or_default()))
    }

    /// Reads the text in parentheses at the current position, if there is any.
    fn parentheses(&mut self) -> Result<Option<&str>, PatternError> {
        if self.text.get(self.at) != Some(&b'(') {
            return Ok(None);
        }
        let rest = &self.text[self.at + 1..];
        let Some(end) = rest.iter().position(|&c| c == b')') else {
            return Err(self.malformed_error());
        };
        self.at += end + 2;
        Ok(Some(std::str::from_utf8(&rest[..end]).unwrap_or_default()))
    }

    /// Reads the range of a wildcard of variable length, such as `(2,5)` in `x(2,5)`. Returns
    /// whether there is one.
    fn variable(&mut self) -> Result<bool, PatternError> {
        let before = self.at;
        let malformed = self.malformed_error();
        let Some((least, most)) = self.parentheses()?.and_then(|inner| inner.split_once(','))
        else {
            self.at = before;
            return Ok(false);
        };
        let number = |text: &str| text.trim_start().parse::<usize>().ok();
        let (Some(least), Some(most)) = (number(least), number(most)) else {
            return Err(malformed);
        };
        let more = most.checked_sub(least).ok_or(malformed)?;
        if self.places.len() + least >= MAX_POSITIONS {
            return Err(PatternError::TooManyPlaces);
        }
        self.least += least;
        self.places.extend(std::iter::repeat_n(Place::Letter(ANY), least));
        if more > 0 {
            self.probability *= more as f64;
            self.places.push(Place::Some(more));
        }
        Ok(true)
    }

    /// Reads the letters of a set and its closing bracket. Returns the set and its probability.
    fn set(&mut self) -> Result<(u32, f64), PatternError> {
        let (mut set, mut probability) = (0, 0.0);
        loop {
            match self.next() {
                Some(b']') => return Ok((set, probability)),
                Some(letter) if letter.is_ascii_uppercase() => {
                    let code = self.code(letter)?;
                    set |= 1 << code;
                    probability += self.background[code];
                }
                _ => return Err(PatternError::NoLetter),
            }
        }
    }

    /// Reads excluded letters and the closing brace. Returns the set of all other letters and its
    /// probability.
    fn others(&mut self) -> Result<(u32, f64), PatternError> {
        let (mut set, mut probability) = (ANY, 1.0);
        loop {
            match self.next() {
                Some(b'}') => return Ok((set, probability)),
                Some(letter) => {
                    let code = self.code(letter)?;
                    set &= !(1 << code);
                    probability -= self.background[code];
                }
                None => return Err(self.malformed_error()),
            }
        }
    }

    /// Adds positions that match a set of letters. A number in parentheses says how many; the
    /// default is one.
    fn add_positions(&mut self, set: u32, probability: f64) -> Result<(), PatternError> {
        let malformed = self.malformed_error();
        let count = match self.parentheses()? {
            // Characters after the number are ignored.
            Some(inner) => {
                let digits = inner.trim_start();
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                digits[..end].parse().map_err(|_| malformed)?
            }
            None => 1,
        };
        // With more positions BLAST+ writes beyond its array.
        if self.places.len().saturating_add(count) > MAX_POSITIONS {
            return Err(PatternError::Malformed { at: self.at });
        }
        self.least += count;
        for _ in 0..count {
            self.places.push(Place::Letter(set));
            self.probability *= probability;
        }
        Ok(())
    }
}

/// Removes wildcards of variable length at either end. At the start it also removes those that
/// follow wildcards of fixed length.
fn fixed_ends(mut places: Vec<Place>) -> Vec<Place> {
    while let Some(Place::Some(_)) = places.last() {
        places.pop();
    }
    let first = places.iter().take_while(|place| **place == Place::Letter(ANY)).count();
    let is_variable = |place: &&Place| matches!(place, Place::Some(_));
    let variable = places[first..].iter().take_while(is_variable).count();
    places.drain(first..first + variable);
    places
}
