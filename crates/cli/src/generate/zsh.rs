//! Completions for zsh.

use super::{Completion, WITHOUT_COMMAND, completable_options, quote_for_shell, summary};
use crate::options::spec::{OptionSpec, Program};

const DISPATCH: &str = r#"
  local program=${words[1]:t}
  if [[ $program == fleetblast ]]; then
    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then
      _describe command commands
      return
    fi
    shift words
    (( CURRENT-- ))
    program=$words[1]
  fi
  case $program in
"#;

/// Generates the script for zsh that completes the options of these programs.
pub fn completions(programs: &[Program]) -> String {
    let links = programs.iter().filter(|program| program.is_of_blast()).map(|program| program.name);
    let called: Vec<&str> = ["fleetblast"].into_iter().chain(links).collect();
    let mut script = format!("#compdef {}\n", called.join(" "));
    script += "# Completions of fleetblast for zsh, made by 'fleetblast generate zsh'.\n\n";
    script += "_fleetblast() {\n  local -a commands=(\n";
    for program in programs {
        script +=
            &format!("    {}\n", quote_for_shell(&format!("{}:{}", program.name, program.about)));
    }
    for word in WITHOUT_COMMAND {
        script += &format!("    {}\n", quote_for_shell(word));
    }
    script += "  )";
    script += DISPATCH;
    for program in programs {
        script += &format!("    {})\n      _arguments", program.name);
        for option in completable_options(program) {
            script += &format!(" \\\n        {}", quote_for_shell(&specification(&option)));
        }
        if let Some(option) = program.positional_option.and_then(|name| program.find(name)) {
            script += &format!(" \\\n        {}", quote_for_shell(&format!("1{}", value(&option))));
        }
        script += "\n      ;;\n";
    }
    script + "  esac\n}\n\n_fleetblast \"$@\"\n"
}

/// Formats an option for `_arguments`.
fn specification(option: &OptionSpec) -> String {
    let about = summary(option).replace('[', r"\[").replace(']', r"\]");
    format!("-{}[{about}]{}", option.name, value(option))
}

/// Formats the value of an option for `_arguments`.
fn value(option: &OptionSpec) -> String {
    let label = option.label.replace(':', r"\:");
    match Completion::for_option(option) {
        Completion::Flag => String::new(),
        Completion::Files => format!(":{label}:_files"),
        Completion::Words(words) => format!(":{label}:({})", words.join(" ")),
        Completion::Nothing => format!(":{label}: "),
    }
}
