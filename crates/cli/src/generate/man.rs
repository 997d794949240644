//! Pages of the manual, in the language of `man` (see man(7)).

use crate::options::RELEASE;
use crate::options::spec::{Group, OptionSpec, Program};

/// The end of the page about the whole program.
const REST: &str = r#".SH EXIT STATUS
Those of BLAST+:
.TP
.B 0
The report is complete.
.TP
.B 1
A query, or an option.
.TP
.B 2
The database.
.TP
.B 3
The search itself.
.TP
.B 4
Memory, threads or open files: allow the process more of them.
.TP
.B 6
The report cannot be written.
.TP
.B 65
Not of BLAST+: \fBfleetblast dbcheck\fR found a database doubtful, but not damaged for sure.
.TP
.B 75
Not of BLAST+: a search with \fB\-checkpoint\fR was told to end; run it again with \fB\-resume\fR.
.TP
.B 255
Anything else.
.SH ENVIRONMENT
.TP
.B BLASTDB
Directories in which databases are looked for, parted by colons, after the current one.
.TP
.B FLEETBLAST_THREADS
Number of threads of every command without \fB\-num_threads\fR. Without this variable,
\fBOMP_NUM_THREADS\fR and \fBSLURM_CPUS_PER_TASK\fR count, and else all CPUs that the process may use.
.SH EXAMPLES
.nf
fleetblast makeblastdb \-in proteins.fa \-dbtype prot \-out proteins
fleetblast blastp \-query queries.fa \-db proteins \-outfmt 6 \-out hits.txt
mpirun \-n 64 fleetblast blastp \-query queries.fa \-db proteins \-out hits.txt
.fi
"#;

/// Generates the page about the whole program.
pub fn overview(programs: &[Program]) -> String {
    let mut page = head("fleetblast", "a drop-in parallel BLAST");
    page += ".SH SYNOPSIS\n.B fleetblast\n\\fIcommand\\fR \\fIoptions\\fR ...\n.br\n";
    page += ".B fleetblast help\n[\\fIcommand\\fR]\n.br\n.B fleetblast \\-\\-version\n";
    let release = RELEASE.version;
    page += &format!(
        ".SH DESCRIPTION\nThe commands, databases and bytes of output of NCBI BLAST+ {release}, faster, on all CPUs, \
         and on many processes over MPI. Run through a link named like a command, the program is that command.\n"
    );
    for (title, blast) in [("COMMANDS OF BLAST+", true), ("FURTHER COMMANDS", false)] {
        page += &format!(".SH {title}\n");
        for program in programs.iter().filter(|program| program.is_of_blast() == blast) {
            let (name, about) = (escape(program.name), escape(program.about));
            page += &format!(".TP\n\\fB{name}\\fR\n{about}: see fleetblast\\-{name}(1).\n");
        }
    }
    page + REST
}

/// Generates the page about a command.
pub fn page(program: &Program) -> String {
    let name = program.name;
    let mut page = head(&format!("fleetblast-{name}"), program.about);
    page += &format!(".SH SYNOPSIS\n.B fleetblast {}\n", escape(name));
    for option in program.all().filter(|option| option.mandatory) {
        let optional_name = program.positional_option == Some(option.name);
        let typed = command_line_form(&option);
        page += &if optional_name { value(&option) + "\n" } else { typed + "\n" };
    }
    page += "[\\fIoptions\\fR]\n.SH DESCRIPTION\n";
    for line in program.describe() {
        page += &escape_line(&line);
    }
    page += ".SH OPTIONS\n";
    for &group in [Group::TOP].iter().chain(program.groups) {
        if group != Group::TOP {
            page += &format!(".SS \"{}\"\n", escape(group.0));
        }
        program
            .all()
            .filter(|o| o.group == group)
            .for_each(|o| page += &format_option(program, &o));
    }
    page + ".SH SEE ALSO\nfleetblast(1)\n"
}

fn head(name: &str, about: &str) -> String {
    let (title, version) = (escape(&name.to_uppercase()), env!("CARGO_PKG_VERSION"));
    let (name, about) = (escape(name), escape(about));
    format!(".TH {title} 1 \"\" \"FleetBLAST {version}\"\n.SH NAME\n{name} \\- {about}\n")
}

/// Formats an option and its value as on a command line.
fn command_line_form(option: &OptionSpec) -> String {
    let name = format!("\\fB\\-{}\\fR", escape(option.name));
    let whole = if option.label.is_empty() { name } else { format!("{name} {}", value(option)) };
    if option.refused.is_whole() { format!("{whole} ({})", option.refused.mark()) } else { whole }
}

fn value(option: &OptionSpec) -> String {
    format!("\\fI{}\\fR", escape(option.label))
}

fn format_option(program: &Program, option: &OptionSpec) -> String {
    let mut out = format!(".TP\n{}\n", command_line_form(option));
    // Help with indented lines has a layout of its own, which stays.
    let help = option.marked_help();
    let by_hand = help.iter().any(|line| line.starts_with(char::is_whitespace));
    if by_hand {
        out += ".nf\n";
    }
    for line in &help {
        if line.starts_with("Default = ") && !by_hand {
            out += ".br\n";
        }
        out += &escape_line(line);
    }
    if by_hand {
        out += ".fi\n";
    }
    let mut more = |line: String| out += &format!(".br\n{}", escape_line(&line));
    if let Some(usage) = option.constraint.usage() {
        more(format!("Values: {}", usage.trim_start_matches("Permissible values: ").trim_end()));
    }
    if let Some(default) = option.default {
        more(format!("Default = `{default}'"));
    }
    if !option.requires.is_empty() {
        more(format!("Requires: {}", option.requires.join(", ")));
    }
    let excluded = program.excluded_by(option);
    if !excluded.is_empty() {
        more(format!("Incompatible with: {}", excluded.join(", ")));
    }
    out
}

/// Escapes a line of text. Dots and quotes at its start would be commands.
fn escape_line(line: &str) -> String {
    let line = line.trim_end().replace('\t', "    ");
    format!("\\&{}\n", escape(&line))
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::blastn::BLASTN;
    use crate::options::blastp::BLASTP;
    use crate::options::report::REPORT;

    #[test]
    fn a_page_has_every_option() {
        let page = page(&BLASTP);
        let lines: Vec<&str> = page.lines().collect();
        let mut options = 0;
        for option in BLASTP.all() {
            let typed = command_line_form(&option.clone());
            assert_eq!(lines.iter().filter(|line| **line == typed).count(), 1, "{typed}");
            options += 1;
        }
        assert_eq!(lines.iter().filter(|line| **line == ".TP").count(), options);
        assert!(page.contains("\\fB\\-remote\\fR (not supported)\n"));
        assert!(page.contains(".SS \"FleetBLAST options\"\n"));
    }

    #[test]
    fn refused_values_are_marked() {
        let page = page(&BLASTN);
        assert!(page.contains("weight (not supported by blastn): at the start"));
    }

    #[test]
    fn no_text_is_a_command() {
        let commands = [".TH", ".SH", ".SS", ".TP", ".B", ".br", ".nf", ".fi"];
        let page = page(&BLASTP) + &overview(&[BLASTP, REPORT]);
        for line in page.lines().filter(|line| line.starts_with(['.', '\''])) {
            let command = line.split(' ').next().unwrap_or_default();
            assert!(commands.contains(&command), "{line}");
        }
    }

    #[test]
    fn a_value_that_needs_no_name_is_shown_without() {
        assert!(page(&REPORT).contains(".B fleetblast report\n\\fIinput_file\\fR\n[\\fIoptions"));
    }
}
