//! The texts of `-h` and `-help`, laid out as BLAST+ does (`ncbiargs.cpp`).

use super::spec::{Group, OptionSpec};
use super::table;

/// Width of usage and help lines in columns.
const WIDTH: usize = 78;

/// Under which name the program runs, which decides whether its usage text speaks of FleetBLAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// As `blastp`: the usage text is that of BLAST+ to the byte.
    Blast,
    /// As `fleetblast blastp`: the usage text lists FleetBLAST's options too.
    FleetBlast,
}

impl Name {
    /// What is typed to run the program.
    pub fn command(self) -> &'static str {
        match self {
            Name::Blast => "blastp",
            Name::FleetBlast => "fleetblast blastp",
        }
    }
}

/// Adds words to a text, breaking lines of more than `WIDTH` columns; lines after the first start with `indent`.
fn wrap<'a>(out: &mut String, start: &str, indent: &str, words: impl Iterator<Item = &'a str>) {
    let mut line = start.to_owned();
    let mut empty = true;
    for word in words {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = format!("{indent}{word}");
        } else {
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
        }
        empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}

/// USAGE and DESCRIPTION.
fn synopsis(name: Name) -> String {
    let mut out = String::from("USAGE\n");
    let shown =
        table::all().filter(|option| name == Name::FleetBlast || option.group != Group::FleetBlast);
    let words: Vec<String> = shown
        .map(|option| match option.label {
            "" => format!("[-{}]", option.name),
            label => format!("[-{} {label}]", option.name),
        })
        .collect();
    let words = std::iter::once(name.command()).chain(words.iter().map(String::as_str));
    wrap(&mut out, "  ", "    ", words);
    out.push_str("\nDESCRIPTION\n   Protein-Protein BLAST 2.12.0+\n");
    out
}

/// The text of `-h`.
pub fn brief(name: Name) -> String {
    synopsis(name) + "\nUse '-help' to print detailed descriptions of command line arguments\n"
}

/// The text of `-help`.
pub fn full(name: Name) -> String {
    let mut out = synopsis(name);
    out.push_str("\nOPTIONAL ARGUMENTS\n");
    for group in Group::ALL {
        if let Some(title) = group.title() {
            out.push_str(&format!(" *** {title}\n"));
        }
        for option in table::all().filter(|option| option.group == group) {
            describe(&mut out, option);
        }
        out.push('\n');
    }
    out
}

fn describe(out: &mut String, option: &OptionSpec) {
    let constraint = option.constraint.usage().map(|usage| format!(", {usage}"));
    let value = option
        .kind
        .title()
        .map(|title| format!(" <{title}{}>", constraint.unwrap_or_default()))
        .unwrap_or_default();
    out.push_str(&format!(" -{}{value}\n", option.name));
    for line in option.help {
        out.push_str(&format!("   {line}\n"));
    }
    if let Some(default) = option.default {
        out.push_str(&format!("   Default = `{default}'\n"));
    }
    ties(out, "    * Requires: ", option.requires);
    ties(out, "    * Incompatible with: ", option.excludes);
}

/// One list of other options.
fn ties(out: &mut String, title: &str, names: &[&str]) {
    if !names.is_empty() {
        let list = names.join(", ");
        wrap(out, "", "   ", std::iter::once(title).chain(list.split(' ')));
    }
}
