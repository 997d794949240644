//! Completions for bash.

use super::{Completion, WITHOUT_COMMAND, completable_options};
use crate::options::spec::{OptionSpec, Program};

const HEAD: &str = r#"# Completions of fleetblast for bash, made by 'fleetblast generate bash'.

_fleetblast() {
    local word=$2 before=$3 program=${COMP_WORDS[0]##*/} IFS=$' \t\n'
    COMPREPLY=()
    if [ "$program" = fleetblast ]; then
        program=${COMP_WORDS[1]}
        if ((COMP_CWORD == 1)); then
            program=fleetblast
        fi
    fi
    case $program:$before in
"#;

const TAIL: &str = r#"    esac
}

_fleetblast_files() {
    local IFS=$'\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$1"))
}

"#;

/// Generates the script for bash that completes the options of these programs.
pub fn completions(programs: &[Program]) -> String {
    let names: Vec<&str> = programs.iter().map(|program| program.name).collect();
    let mut script = HEAD.to_owned();
    script += &case("fleetblast:*", &join_words(names.iter().chain(&WITHOUT_COMMAND)));
    script += &case("help:*", &join_words(&names));
    for program in programs {
        script += &program_cases(program);
    }
    script += TAIL;
    let links = programs.iter().filter(|program| program.is_of_blast()).map(|program| program.name);
    let called: Vec<&str> = ["fleetblast"].into_iter().chain(links).collect();
    script + &format!("complete -F _fleetblast {}\n", called.join(" "))
}

/// Generates the cases of one program: values after its options, and other words elsewhere.
fn program_cases(program: &Program) -> String {
    const FILES: &str = r#"_fleetblast_files "$word""#;
    let mut cases = String::new();
    let after = |option: &OptionSpec| format!("{}:-{}", program.name, option.name);
    let all = |wanted: fn(Completion) -> bool| {
        let chosen = completable_options(program)
            .filter(move |option| wanted(Completion::for_option(option)));
        chosen.map(|option| after(&option)).collect::<Vec<_>>().join(" | ")
    };
    for option in completable_options(program) {
        if let Completion::Words(offered) = Completion::for_option(&option) {
            cases += &case(&after(&option), &join_words(&offered));
        }
    }
    let files = all(|offer| matches!(offer, Completion::Files));
    if !files.is_empty() {
        cases += &case(&files, FILES);
    }
    let nothing = all(|offer| matches!(offer, Completion::Nothing));
    if !nothing.is_empty() {
        cases += &case(&nothing, ":");
    }
    let options: Vec<String> =
        completable_options(program).map(|option| format!("-{}", option.name)).collect();
    let lone = program.positional_option.and_then(|name| program.find(name));
    let rest = match lone.map(|option| Completion::for_option(&option)) {
        Some(Completion::Words(offered)) => {
            join_words(offered.iter().copied().chain(options.iter().map(String::as_str)))
        }
        Some(_) => format!("{}\n        [ \"$COMPREPLY\" ] || {FILES}", join_words(&options)),
        None => join_words(&options),
    };
    cases + &case(&format!("{}:*", program.name), &rest)
}

fn case(pattern: &str, action: &str) -> String {
    format!("    {pattern})\n        {action}\n        ;;\n")
}

fn join_words(words: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| word.as_ref().to_owned()).collect();
    format!(r#"COMPREPLY=($(compgen -W "{}" -- "$word"))"#, words.join(" "))
}
