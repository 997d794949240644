//! Guesses which name was meant when an unknown one was typed.

/// Least similarity of a guess to the typed name.
const LIKE: f64 = 0.8;

/// Returns the name most similar to `word`, if any is similar enough. Of equally similar names, it
/// is the first.
pub fn nearest(word: &str, names: impl IntoIterator<Item = &'static str>) -> Option<&'static str> {
    let mut best = None;
    let mut likest = LIKE;
    for name in names {
        let like = strsim::jaro(word, name);
        if like > likest {
            (best, likest) = (Some(name), like);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::blastp::BLASTP;

    #[test]
    fn typing_errors_are_guessed_and_nothing_else() {
        let guess = |word| nearest(word, BLASTP.all().map(|option| option.name));
        assert_eq!(guess("evalu"), Some("evalue"));
        assert_eq!(guess("eval"), Some("evalue"));
        assert_eq!(guess("num-threads"), Some("num_threads"));
        assert_eq!(guess("threads"), Some("num_threads"));
        assert_eq!(guess("max_targets"), Some("max_target_seqs"));
        assert_eq!(guess("qurey"), Some("query"));
        assert_eq!(guess("outfm"), Some("outfmt"));
        assert_eq!((guess("i"), guess("zzz"), guess("")), (None, None, None));
    }
}
