//! `fleetblast generate`: the manual and the completions of shells, from the tables of options.

mod bash;
mod fish;
mod man;
mod zsh;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::standard::print;

use crate::options::constraint::Kind;
use crate::options::generate::{GenerateOptions, GeneratedText, WHAT};
use crate::options::parse::GivenOptions;
use crate::options::spec::{OptionSpec, Program};

/// First arguments that are not commands.
const WITHOUT_COMMAND: [&str; 3] = ["help", "--help", "--version"];

/// Runs `fleetblast generate`; `programs` are all commands.
///
/// # Errors
/// An unknown command; output that cannot be written.
pub fn run(given: &GivenOptions, programs: &[Program]) -> Result<(), Error> {
    let GenerateOptions { what, command } = GenerateOptions::new(given);
    if command.is_some() && what != GeneratedText::Man {
        let what = WHAT.word_for_value(&what).unwrap_or_default();
        let message = format!("Error: -command goes with 'man' only, not with '{what}'");
        return Err(Error::new(exit::INPUT, message));
    }
    let made = match what {
        GeneratedText::Bash => bash::completions(programs),
        GeneratedText::Fish => fish::completions(programs),
        GeneratedText::Zsh => zsh::completions(programs),
        GeneratedText::Links => lines(programs.iter().filter(|program| program.is_of_blast())),
        GeneratedText::Pages => lines(programs.iter()),
        GeneratedText::Man => match command {
            None => man::overview(programs),
            Some(name) => man::page(find(programs, &name.to_string_lossy())?),
        },
    };
    print(&made)
}

fn lines<'a>(programs: impl Iterator<Item = &'a Program>) -> String {
    programs.map(|program| format!("{}\n", program.name)).collect()
}

fn find<'a>(programs: &'a [Program], name: &str) -> Result<&'a Program, Error> {
    programs.iter().find(|program| program.name == name).ok_or_else(|| {
        let message =
            format!("Error: there is no command '{name}' (-command); 'fleetblast help' lists them");
        Error::new(exit::INPUT, message)
    })
}

/// The completion that a shell offers for the value of an option.
enum Completion {
    /// The option has no value.
    Flag,
    /// File names.
    Files,
    /// One of these words.
    Words(Vec<&'static str>),
    /// No completion, as for numbers.
    Nothing,
}

impl Completion {
    fn for_option(option: &OptionSpec) -> Self {
        // The value of a text option may name a file, too: a list of identifiers, a database.
        let named = |part: &str| option.label.contains(part);
        let file = ["file", "database", "dbname", "directory"].into_iter().any(named);
        let words = |words: &[&'static str]| {
            let refused = option.refused.values();
            let words = words.iter().copied().filter(|word| !refused.contains(word));
            Completion::Words(words.collect())
        };
        match (option.kind, option.words()) {
            (Kind::Flag, _) => Completion::Flag,
            (_, all) if !all.is_empty() => words(all),
            (Kind::Boolean, _) => words(&["false", "true"]),
            (Kind::InputFile | Kind::OutputFile, _) => Completion::Files,
            (Kind::Text, _) if file => Completion::Files,
            _ => Completion::Nothing,
        }
    }
}

/// Returns the options that a shell completes: all that the program does not refuse as a whole.
fn completable_options(program: &Program) -> impl Iterator<Item = OptionSpec> + use<> {
    program.all().filter(|option| !option.refused.is_whole())
}

/// Returns the first line of an option's help, without punctuation that announces further lines.
fn summary(option: &OptionSpec) -> &'static str {
    let line = option.help.first().copied().unwrap_or_default();
    line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ','))
}

/// Quotes a word for a shell script.
fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::blastn::BLASTN;
    use crate::options::blastp::BLASTP;
    use crate::options::doctor::DOCTOR;
    use crate::options::psiblast::PSIBLAST;

    #[test]
    fn what_is_offered_follows_the_table() {
        let offer = |name| Completion::for_option(&BLASTP.find(name).expect("an option"));
        assert!(matches!(offer("html"), Completion::Flag));
        assert!(matches!(offer("query"), Completion::Files));
        assert!(matches!(offer("db"), Completion::Files));
        assert!(matches!(offer("gilist"), Completion::Files));
        assert!(matches!(offer("checkpoint"), Completion::Files));
        let words = |offer| match offer {
            Completion::Words(words) => words,
            _ => panic!("no words"),
        };
        assert_eq!(words(offer("soft_masking")), ["false", "true"]);
        assert!(matches!(offer("evalue"), Completion::Nothing));
        assert!(matches!(offer("outfmt"), Completion::Nothing));
        assert_eq!(words(offer("task")), ["blastp", "blastp-fast", "blastp-short"]);
        let of_blastn =
            |name| words(Completion::for_option(&BLASTN.find(name).expect("an option")));
        assert_eq!(of_blastn("task"), ["blastn", "blastn-short", "dc-megablast", "megablast"]);
        assert_eq!(
            (of_blastn("use_index"), of_blastn("schedule")),
            (vec!["false"], vec!["dynamic"])
        );
        assert!(completable_options(&BLASTN).all(|option| option.name != "segment_size"));
        assert!(completable_options(&PSIBLAST).all(|option| option.name != "plan"));
        assert!(completable_options(&BLASTP).all(|option| option.name != "remote"));
        assert!(completable_options(&BLASTP).any(|option| option.name == "ranks"));
    }

    #[test]
    fn no_text_ends_a_string_of_the_script() {
        assert_eq!(quote_for_shell("a 'b' c"), r"'a '\''b'\'' c'");
        let programs = [BLASTP, DOCTOR];
        for script in [fish::completions(&programs), zsh::completions(&programs)] {
            let quotes = script.replace(r"'\''", "").matches('\'').count();
            assert!(quotes > 100 && quotes.is_multiple_of(2), "{quotes} quotes");
        }
    }
}
