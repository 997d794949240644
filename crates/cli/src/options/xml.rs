//! The text of `-xmlhelp`: the options for programs that call this one
//! (`CArgDescriptions::PrintUsageXml`, ncbiargs.cpp).
//!
//! A library that writes XML would not give these bytes: each element is on a line of its own,
//! without indentation, and line ends within texts are entities.

use fleetblast_report::append_escaped_xml_byte;

use super::constraint::{Constraint, Kind};
use super::spec::{Group, OptionSpec, Program};
use super::version;

const HEAD: &str = "\
<?xml version=\"1.0\"?>
<ncbi_application xmlns=\"ncbi:application\"
 xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"
 xs:schemaLocation=\"ncbi:application ncbi_application.xsd\"
>
<program type=\"regular\">
";

/// Formats the text. It has neither FleetBLAST's own options nor marks at refused ones: programs
/// that read the text offer the options of BLAST+, as they do with BLAST+.
pub fn xml_text(program: &Program) -> String {
    let mut out = String::from(HEAD);
    element(&mut out, "name", program.name);
    element(&mut out, "version", version::version_number(program));
    element(&mut out, "description", &program.describe().join("\n"));
    element(&mut out, "detailed_description", "");
    out.push_str("</program>\n<arguments>\n");
    let options: Vec<OptionSpec> = program.all().filter(is_shown).collect();
    let mut sorted: Vec<&OptionSpec> = options.iter().collect();
    sorted.sort_by_key(|option| (option.kind == Kind::Flag, option.name));
    sorted.iter().for_each(|option| describe(&mut out, program, option));
    dependencies(&mut out, program, &options);
    out.push_str("</arguments>\n</ncbi_application>\n");
    out
}

fn is_shown(option: &OptionSpec) -> bool {
    let is_described = !option.is_hidden || !option.xml_flags.is_empty();
    option.group != Group::FLEETBLAST && is_described
}

/// Formats an option.
fn describe(out: &mut String, program: &Program, option: &OptionSpec) {
    let role = if option.kind == Kind::Flag { "flag" } else { "key" };
    let kind = option.kind.title().map_or(String::new(), |title| format!(" type=\"{title}\""));
    let optional = if option.mandatory { "" } else { " optional=\"true\"" };
    out.push_str(&format!("<{role} name=\"{}\"{kind}{optional}>\n", option.name));
    element(out, "description", &option.help.join("\n"));
    if let Some(number) = program.group_number(option) {
        element(out, "group", &number.to_string());
    }
    if !option.label.is_empty() {
        element(out, "synopsis", option.label);
    }
    constraint(out, option.constraint);
    if !option.xml_flags.is_empty() {
        let flags = option.xml_flags.iter().map(|flag| format!("<{flag}/>"));
        out.push_str(&format!("<flags>{}</flags>\n", flags.collect::<String>()));
    }
    if let Some(default) = option.default {
        element(out, "default", default);
    }
    out.push_str(&format!("</{role}>\n"));
}

/// Formats the values that an option accepts, if they are constrained.
fn constraint(out: &mut String, constraint: Constraint) {
    let Some(usage) = constraint.usage() else { return };
    out.push_str("<constraint>\n");
    element(out, "description", &usage);
    match constraint {
        Constraint::Percent => range(out, "Doubles", (0, 100)),
        Constraint::Between(from, to) => range(out, "Integers", (from, to)),
        Constraint::Word(words) => {
            out.push_str("<Strings case_sensitive=\"true\">\n");
            words.iter().for_each(|word| element(out, "value", word));
            out.push_str("</Strings>\n");
        }
        _ => {}
    }
    out.push_str("</constraint>\n");
}

fn range(out: &mut String, name: &str, (from, to): (i32, i32)) {
    out.push_str(&format!("<{name}>\n"));
    element(out, "min", &from.to_string());
    element(out, "max", &to.to_string());
    out.push_str(&format!("</{name}>\n"));
}

/// Formats the required and the excluded options of all options, sorted by the option that requires
/// or excludes another one; nothing if there are none.
fn dependencies(out: &mut String, program: &Program, options: &[OptionSpec]) {
    let mut required = Vec::new();
    let mut excluded = Vec::new();
    for option in options {
        required.extend(option.requires.iter().map(|&other| (option.name, other)));
        excluded.extend(program.excluded_by(option).into_iter().map(|other| (option.name, other)));
    }
    excluded.extend(exclusions_by_missing(program, options, &excluded));
    if required.is_empty() && excluded.is_empty() {
        return;
    }
    out.push_str("<dependencies>\n");
    for (name, mut pairs) in
        [("first_requires_second", required), ("first_excludes_second", excluded)]
    {
        pairs.sort_by_key(|(first, _)| *first);
        pairs.iter().for_each(|pair| dependency(out, name, *pair));
    }
    out.push_str("</dependencies>\n");
}

/// Returns the exclusions by options that do not exist. In BLAST+ an exclusion goes both ways, even
/// if only one of the two options exists (`CArgDescriptions::SetDependency`).
fn exclusions_by_missing(
    program: &Program,
    options: &[OptionSpec],
    excluded: &[(&'static str, &'static str)],
) -> Vec<(&'static str, &'static str)> {
    let missing = |(_, other): &&(_, &str)| program.find(other).is_none();
    let mut pairs: Vec<_> =
        excluded.iter().filter(missing).map(|&(first, other)| (other, first)).collect();
    // BLAST+ sets these exclusions together with those of other options, in the same order.
    let is_whole =
        |option: &&OptionSpec| pairs.iter().all(|(_, first)| option.excludes.contains(first));
    let order = options.iter().find(is_whole).map_or(&[][..], |option| option.excludes);
    pairs.sort_by_key(|(_, first)| order.iter().position(|name| name == first));
    pairs
}

fn dependency(out: &mut String, name: &str, (first, second): (&str, &str)) {
    out.push_str(&format!("<{name}>\n"));
    element(out, "arg1", first);
    element(out, "arg2", second);
    out.push_str(&format!("</{name}>\n"));
}

/// Formats an element with a text.
fn element(out: &mut String, name: &str, text: &str) {
    let mut escaped = Vec::new();
    text.bytes().for_each(|byte| append_escaped_xml_byte(byte, &mut escaped));
    out.push_str(&format!("<{name}>{}</{name}>\n", String::from_utf8_lossy(&escaped)));
}
