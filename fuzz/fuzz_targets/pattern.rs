//! Parses arbitrary text as a pattern that a user typed, and searches for it in arbitrary
//! sequences.
#![no_main]

use fleetblast_engine::pattern::Pattern;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &[u8])| {
    let (text, letters) = input;
    let Ok(pattern) = Pattern::parse(text) else { return };
    assert!((0.0..=1.0).contains(&pattern.probability()) || pattern.probability() < 0.0);
    let letters: Vec<u8> = letters.iter().map(|letter| letter % 28).collect();
    for place in pattern.occurrences(&letters) {
        assert!(place.start < place.end && place.end as usize <= letters.len());
    }
});
