use super::{Pattern, PatternError};
use fleetblast_seq::alphabet::encode;

fn codes(text: &str) -> Vec<u8> {
    text.bytes().map(|letter| encode(letter).unwrap()).collect()
}

fn find_all(pattern: &str, text: &str) -> Vec<(u32, u32)> {
    let pattern = Pattern::parse(pattern).unwrap();
    pattern.occurrences(&codes(text)).into_iter().map(|place| (place.start, place.end)).collect()
}

/// Checks values from the oracle: `psiblast -phi_pattern` prints probability and least length.
#[test]
fn patterns_are_read() {
    let pattern = Pattern::parse(" [AG]-x(4)-G-K-[ST].").unwrap();
    assert_eq!(pattern.least_length(), 8);
    assert_eq!(format!("{:.4e}", pattern.probability()), "8.3380e-5");
    assert_eq!(pattern.report_text(), " [AG]-X(4)-G-K-[ST].");
    let pattern = Pattern::parse(" G-A-[AG]").unwrap();
    assert_eq!(format!("{:.9}", pattern.probability()), "0.000874141");
}

#[test]
fn letters_sets_and_wildcards_are_found() {
    assert_eq!(find_all("[AG]-x(2)-K", "MAWWKGGGK"), [(1, 5), (5, 9)]);
    assert_eq!(find_all("{AG}-K", "AKWKGK"), [(2, 4)]);
    assert_eq!(find_all("g(2)", "GGG"), [(0, 2), (1, 3)]);
    assert_eq!(find_all("G-x(0,2)-K", "GWKGKGWWWK"), [(0, 3), (3, 5)]);
    assert_eq!(find_all("", "GWK"), []);
    assert_eq!(find_all("x(2,4)-G", "AAAAG"), [(2, 5)], "wildcards at the start are fixed");
    assert_eq!(find_all("G-x(1,4)", "GAAAA"), [(0, 2)], "and those at the end");
}

#[test]
fn at_an_end_one_letter_for_a_wildcard_comes_first() {
    assert_eq!(find_all("G-x(0,2)-K", "GGGK"), [(1, 4)]);
    assert_eq!(find_all("G-x(0,3)-K", "GAAAK"), [(0, 5)]);
}

#[test]
fn many_variants_are_searched_for_by_words() {
    let long = "G-x(0,30)-K-x(0,30)-H";
    let text = format!("MG{}K{}HA", "A".repeat(29), "A".repeat(30));
    assert_eq!(find_all(long, &text), [(1, 63)]);
    let text = format!("MG{}K{}HA", "A".repeat(31), "A".repeat(30));
    assert_eq!(find_all(long, &text), []);
}

#[test]
fn invalid_patterns_are_reported() {
    let reported = |text: &str| Pattern::parse(text).unwrap_err();
    assert_eq!(reported(&"A".repeat(330)), PatternError::TooLong { length: 330 });
    assert_eq!(reported("G-K-[s1]"), PatternError::NoLetter);
    assert_eq!(reported("G-K-[ST"), PatternError::NoLetter);
    assert_eq!(reported("A-x(400,401)-A"), PatternError::TooManyPlaces);
    for text in ["G-{ST", "G-x(2", "G-x(4,2)-K", "G(400)", "x(,)"] {
        assert!(!reported(text).is_reported(), "{text}");
    }
}
