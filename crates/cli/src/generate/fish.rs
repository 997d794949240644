//! Completions for fish.

use super::{Completion, WITHOUT_COMMAND, completable_options, quote_for_shell, summary};
use crate::options::spec::Program;

/// Generates the script for fish that completes the options of these programs.
pub fn completions(programs: &[Program]) -> String {
    let mut script = String::from(
        "# Completions of fleetblast for fish, made by 'fleetblast generate fish'.\n\n",
    );
    let names: Vec<&str> = programs.iter().map(|program| program.name).collect();
    let names = names.join(" ");
    script += &format!("set -l commands {names}\n");
    let first = quote_for_shell(&format!("not __fish_seen_subcommand_from {names} help"));
    script += "complete -c fleetblast -f\n";
    for program in programs {
        let (name, about) = (program.name, quote_for_shell(program.about));
        script += &format!("complete -c fleetblast -n {first} -a {name} -d {about}\n");
    }
    for word in WITHOUT_COMMAND {
        script += &format!("complete -c fleetblast -n {first} -a {}\n", quote_for_shell(word));
    }
    script += "complete -c fleetblast -n '__fish_seen_subcommand_from help' -a \"$commands\"\n";
    for program in programs {
        // Only the second word counts: the command `generate` takes names of commands as values.
        let chosen = format!("contains -- {} (commandline -opc)[2]", program.name);
        script += &options(&format!("fleetblast -n {}", quote_for_shell(&chosen)), program);
        if program.is_of_blast() {
            script += &format!("\ncomplete -c {} -f\n", program.name);
            script += &options(program.name, program);
        }
    }
    script
}

/// Generates a line for each option of a program that is run as `called`.
fn options(called: &str, program: &Program) -> String {
    let mut lines = String::from("\n");
    for option in completable_options(program) {
        let value = match Completion::for_option(&option) {
            Completion::Flag => String::new(),
            Completion::Files => " -r -F".to_owned(),
            Completion::Words(words) => format!(" -x -a {}", quote_for_shell(&words.join(" "))),
            Completion::Nothing => " -x".to_owned(),
        };
        let (name, about) = (option.name, quote_for_shell(summary(&option)));
        lines += &format!("complete -c {called} -o {name}{value} -d {about}\n");
    }
    let lone = program.positional_option.and_then(|name| program.find(name));
    match lone.map(|option| Completion::for_option(&option)) {
        Some(Completion::Words(words)) => {
            lines += &format!("complete -c {called} -a {}\n", quote_for_shell(&words.join(" ")));
        }
        Some(Completion::Files) => lines += &format!("complete -c {called} -F\n"),
        _ => {}
    }
    lines
}
