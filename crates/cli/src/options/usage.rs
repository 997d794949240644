//! The texts of `-h` and `-help`, in BLAST+'s layout (`ncbiargs.cpp`).

use super::constraint::Kind;
use super::refused::Refused;
use super::spec::{Group, OptionSpec, Program};
use super::wrapping::{self, wrap};

/// The name under which the program runs; it decides whether the usage text mentions FleetBLAST.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramName {
    /// A name like `blastp`: the usage text is BLAST+'s, byte for byte.
    Blast,
    /// A name like `fleetblast blastp`: the usage text lists FleetBLAST's options too.
    FleetBlast,
}

impl ProgramName {
    /// Returns the words that run the program.
    pub fn command(self, program: &Program) -> String {
        match self {
            ProgramName::Blast => program.name.to_owned(),
            ProgramName::FleetBlast => format!("fleetblast {}", program.name),
        }
    }
}

/// The set of options in a help text under the name of a program of BLAST+.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Visibility {
    /// The options that are not hidden.
    Shown,
    /// Also hidden options that BLAST+ describes in `-xmlhelp`. BLAST+ removes all other hidden
    /// options from its table.
    Hidden,
}

impl Visibility {
    fn has(self, option: &OptionSpec) -> bool {
        let is_described = self == Self::Hidden && !option.xml_flags.is_empty();
        !option.is_hidden || is_described
    }
}

/// Formats USAGE and DESCRIPTION.
fn synopsis(program: &Program, name: ProgramName, visibility: Visibility) -> String {
    let mut out = String::from("USAGE\n");
    let shown = program.all().filter(|option| match name {
        ProgramName::Blast => option.group != Group::FLEETBLAST && visibility.has(option),
        ProgramName::FleetBlast => !option.refused.is_whole(),
    });
    let words = shown.map(|option| {
        let word = match option.kind {
            Kind::Flag => format!("-{}", option.name),
            _ => format!("-{} {}", option.name, option.label),
        };
        if option.mandatory { word } else { format!("[{word}]") }
    });
    let words: Vec<String> = std::iter::once(name.command(program)).chain(words).collect();
    wrap(&mut out, "  ", "    ", words.iter().map(String::as_str));
    out.push_str("\nDESCRIPTION\n");
    for line in wrapping::lines(&program.describe()) {
        out.push_str(&format!("   {line}\n"));
    }
    out
}

/// Formats the text of `-h`.
pub fn brief(program: &Program, name: ProgramName) -> String {
    synopsis(program, name, Visibility::Shown)
        + "\nUse '-help' to print detailed descriptions of command line arguments\n"
}

/// Formats the text of `-help`.
pub fn full(program: &Program, name: ProgramName) -> String {
    help(program, name, Visibility::Shown)
}

/// Formats the text of `-help-full`.
pub fn full_with_hidden(program: &Program, name: ProgramName) -> String {
    help(program, name, Visibility::Hidden)
}

fn help(program: &Program, name: ProgramName, visibility: Visibility) -> String {
    let mut out = synopsis(program, name, visibility);
    if program.all().any(|option| option.mandatory) {
        out.push_str("\nREQUIRED ARGUMENTS\n");
        let mandatory = program.all().filter(|option| option.mandatory);
        mandatory.for_each(|option| describe(&mut out, program, &option, name));
    }
    out.push_str("\nOPTIONAL ARGUMENTS\n");
    for &group in [Group::TOP].iter().chain(program.groups) {
        let is_listed = |option: &OptionSpec| {
            let is_hidden = name == ProgramName::Blast && !visibility.has(option);
            option.group == group && !option.mandatory && !is_hidden
        };
        let mut options = program.all().filter(is_listed).peekable();
        if group != Group::TOP {
            if options.peek().is_none() {
                continue;
            }
            out.push_str(&format!(" *** {}\n", group.0));
        }
        options.for_each(|option| describe(&mut out, program, &option, name));
        out.push('\n');
    }
    if name == ProgramName::Blast && program.all().any(|option| option.group == Group::FLEETBLAST) {
        out += &refusals(program);
    }
    out
}

/// Lists the options of BLAST+ that FleetBLAST refuses, if any. The help texts under BLAST+'s name
/// need this list, since they do not mark these options.
fn refusals(program: &Program) -> String {
    let mut out = String::new();
    let options = program.all().filter(|option| option.group != Group::FLEETBLAST);
    for option in options.filter(|option| option.refused != Refused::Nothing) {
        let (values, mark) = (option.refused.values(), option.refused.mark());
        let values = values.iter().map(|value| format!(" `{value}'")).collect::<Vec<_>>().join(",");
        let when = mark.strip_prefix("not supported").unwrap_or_default();
        let line = format!("-{}{values}{when}", option.name);
        wrap(&mut out, " ", "   ", line.split(' '));
    }
    if out.is_empty() { out } else { format!(" *** Not supported by FleetBLAST\n{out}\n") }
}

/// Formats the description of an option. Under BLAST+'s name, only FleetBLAST's own options have
/// marks.
fn describe(out: &mut String, program: &Program, option: &OptionSpec, name: ProgramName) {
    let is_marked = name == ProgramName::FleetBlast || option.group == Group::FLEETBLAST;
    let value = option.attributes().map(|text| format!(" <{text}>")).unwrap_or_default();
    let mark = match option.refused.is_whole() && is_marked {
        true => format!(" ({})", option.refused.mark()),
        false => String::new(),
    };
    let line = format!("-{}{value}{mark}", option.name);
    // Text after the type is aligned below the first such text.
    let indent = " ".repeat(line.find(", ").map_or(0, |at| at + 3));
    wrap(out, " ", &indent, line.split(' '));
    for line in if is_marked { option.marked_help() } else { option.help_lines() } {
        out.push_str(&format!("   {line}\n"));
    }
    if let Some(default) = option.default {
        out.push_str(&format!("   Default = `{default}'\n"));
    }
    ties(out, "    * Requires: ", option.requires);
    ties(out, "    * Incompatible with: ", &program.excluded_by(option));
}

/// Formats a list of other options below a title; nothing for an empty list.
fn ties(out: &mut String, title: &str, names: &[&str]) {
    if !names.is_empty() {
        let list = names.join(", ");
        wrap(out, "", "   ", std::iter::once(title).chain(list.split(' ')));
    }
}
