//! Makes files of patterns: some of a query's own letters, so that they occur in it, and invalid
//! ones.

use crate::program::NamedFile;

/// Returns names and contents of the files for a query of these letters.
pub fn files(letters: &[u8]) -> Vec<NamedFile> {
    let own = |place: usize| char::from(letters[place % letters.len()]);
    let text = |range: std::ops::Range<usize>| range.map(own).collect::<String>();
    let line = |pattern: &str| format!("PA   {pattern}\n");
    let (a, b, c, d, e) = (own(10), own(13), own(20), own(25), own(31));
    let files = [
        ("pattern_prosite", format!("ID   OWN; PATTERN.\nPA   [{a}AG]-x(2)-{b}.\nHI   1\n")),
        ("pattern_two", line(&text(20..22).to_lowercase())),
        ("pattern_variable", line(&format!("{a}-x(0,4)-{b}"))),
        ("pattern_variants", line(&format!("{a}-x(0,5)-{b}-x(3,9)-{c}"))),
        ("pattern_fixed", line(&text(5..45))),
        ("pattern_words", line(&format!("{a}-x(0,20)-{b}-x(0,20)-{c}-x(2,30)-{d}-x-{e}"))),
        ("pattern_others", line(&format!("{{PW}}-{c}-{{{a}{b}}}(2)"))),
        ("pattern_ends", line(&format!("x(1,3)-{a}-x(2)-{b}-x(0,2)"))),
        ("pattern_often", line("[LIVM]-x-[LIVM]-[AGSTK]")),
        ("pattern_missing", line("W-W-W-H-W")),
        ("pattern_number", line("G-K-[S1]")),
        ("pattern_long", line(&"A".repeat(330))),
        ("pattern_many", line("A-x(200)-x(200,201)-A")),
        ("pattern_unread", "[AG]-x(4)-G-K-[ST]\n".to_owned()),
        ("pattern_short", "PA\n".to_owned()),
        ("pattern_blank", line("")),
        ("pattern_last", line("W-W-W-H-W") + &line(&format!("{a}-x(2)-{b}."))),
        ("pattern_whole", line(&format!("{}.", text(0..letters.len().min(300))))),
    ];
    files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect()
}
