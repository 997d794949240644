//! Reads the tables of cases. A row describes a set of searches in a readable form.
//!
//! The columns are separated by TAB: id, set, queries, database, compare, options.
//! * set: `quick` (runs in CI) or `whole`.
//! * queries: a query set `NAME` (the file `q/NAME.fa`), `<NAME` for the same file on standard
//!   input, or `-` for none.
//! * database: one or more database names joined by `+`, `subject:NAME`, or `-` for none.
//! * compare: `out` (standard output and exit code) or `out+err` (also standard error, except the
//!   option synopsis, which names the program).
//! * options: words as typed in a shell, after settings of the environment (`BLASTDB=db -outfmt
//!   6`). `{a|b|c}` makes one case for each alternative, in all combinations. `%cols` stands for
//!   format 6 with every column that does not repeat another one.

use crate::error::{Error, Result};
use crate::program::Program;

/// One search to run with both programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// Unique name. Alternatives of a row have different words after a `:`.
    pub id: String,
    /// Whether the case is in the quick set.
    pub quick: bool,
    /// File to pass as standard input, if the queries are given that way.
    pub stdin: Option<String>,
    /// Whether standard error must be equal, too.
    pub stderr: bool,
    /// Additional environment variables, `NAME=value`.
    pub environment: Vec<String>,
    /// All arguments, in order.
    pub args: Vec<String>,
}

impl Case {
    /// Returns the settings of the environment, followed by the arguments.
    pub fn words(&self) -> Vec<String> {
        self.environment.iter().chain(&self.args).cloned().collect()
    }
}

/// Returns all cases of a program's tables.
///
/// # Errors
/// If a row is malformed or two cases share an id.
pub fn all(program: &Program) -> Result<Vec<Case>> {
    let mut cases: Vec<Case> = Vec::new();
    for (file, text) in program.tables {
        cases.extend(parse(file, text, program.columns)?);
    }
    let mut ids: Vec<&str> = cases.iter().map(|c| c.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|w| w[0] == w[1]) {
        return Err(Error::CaseTable {
            file: "all tables".into(),
            line: 0,
            reason: format!("the id `{}` is used twice; ids must be unique", twice[0]),
        });
    }
    Ok(cases)
}

/// Parses the cases of one table.
fn parse(file: &str, text: &str, columns: &str) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let rows = parse_row(line, columns).map_err(|reason| Error::CaseTable {
            file: file.to_string(),
            line: number + 1,
            reason,
        })?;
        cases.extend(rows);
    }
    Ok(cases)
}

fn parse_row(line: &str, columns: &str) -> std::result::Result<Vec<Case>, String> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let [id, set, queries, database, compare, options] = fields[..] else {
        return Err(format!("{} columns instead of 6 (separated by TAB)", fields.len()));
    };
    let quick = one_of("set", set, ["whole", "quick"])?;
    let stderr = one_of("compare", compare, ["out", "out+err"])?;
    let mut front = Vec::new();
    let mut stdin = None;
    if let Some(name) = queries.strip_prefix('<') {
        stdin = Some(format!("q/{name}.fa"));
    } else if queries != "-" {
        front.extend(["-query".to_string(), format!("q/{queries}.fa")]);
    }
    if let Some(name) = database.strip_prefix("subject:") {
        front.extend(["-subject".to_string(), format!("q/{name}.fa")]);
    } else if database != "-" {
        let names: Vec<String> = database.split('+').map(|n| format!("db/{n}")).collect();
        front.extend(["-db".to_string(), names.join(" ")]);
    }
    let mut cases = Vec::new();
    for (choice, options) in alternatives(options)? {
        let id = if choice.is_empty() { id.to_string() } else { format!("{id}:{choice}") };
        let mut environment = words(&options, columns)?;
        let settings = environment.iter().take_while(|word| is_setting(word)).count();
        let options = environment.split_off(settings);
        let args = [front.clone(), options].concat();
        cases.push(Case { id, quick, stdin: stdin.clone(), stderr, environment, args });
    }
    Ok(cases)
}

/// Whether the word is a setting of the environment, `NAME=value`.
fn is_setting(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Parses one of two words: false for the first, true for the second.
fn one_of(column: &str, value: &str, words: [&str; 2]) -> std::result::Result<bool, String> {
    match words.iter().position(|w| *w == value) {
        Some(index) => Ok(index == 1),
        None => Err(format!("column {column} is `{value}`; use `{}` or `{}`", words[0], words[1])),
    }
}

/// Expands the `{a|b}` groups of the column `options`. Returns for each combination the chosen
/// words, and the options with these words.
pub(crate) fn alternatives(options: &str) -> std::result::Result<Vec<(String, String)>, String> {
    let Some(open) = options.find('{') else {
        return Ok(vec![(String::new(), options.to_string())]);
    };
    let close = options[open..].find('}').ok_or("`{` without `}`")? + open;
    let rest = alternatives(&options[close + 1..])?;
    let mut all = Vec::new();
    for choice in options[open + 1..close].split('|') {
        for (later, tail) in &rest {
            let both = !choice.is_empty() && !later.is_empty();
            let label = format!("{choice}{}{later}", if both { "," } else { "" });
            all.push((label, format!("{}{choice}{tail}", &options[..open])));
        }
    }
    Ok(all)
}

/// Splits text into words as a shell does: blanks separate words, and `'...'` and `"..."` quote.
/// Replaces `%cols` by `-outfmt` with `columns`.
pub(crate) fn words(text: &str, columns: &str) -> std::result::Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in text.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c == ' ' => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("a quote is not closed".to_string());
    }
    words.extend(word);
    let filled = words.into_iter().flat_map(|w| match w.as_str() {
        "%cols" => vec!["-outfmt".to_string(), columns.to_string()],
        _ => vec![w],
    });
    Ok(filled.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::PROGRAMS;

    /// A value of `-outfmt` that `%cols` stands for.
    const COLUMNS: &str = "6 qseqid sseqid";

    #[test]
    fn a_row_becomes_one_case_per_alternative() {
        let row = "m\tquick\tfew\ta+b\tout\t-matrix {X|Y} -seg '{no|10 1 2}'";
        let cases = parse("t", row, COLUMNS).unwrap();
        let ids: Vec<&str> = cases.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["m:X,no", "m:X,10 1 2", "m:Y,no", "m:Y,10 1 2"]);
        let expected = ["-query", "q/few.fa", "-db", "db/a db/b", "-matrix", "X", "-seg", "10 1 2"];
        assert_eq!(cases[1].args, expected);
        assert!(cases[1].quick && !cases[1].stderr);
    }

    #[test]
    fn stdin_subject_and_columns_are_understood() {
        let cases =
            parse("t", "s\twhole\t<few\tsubject:tiny\tout+err\t%cols -html", COLUMNS).unwrap();
        assert_eq!(cases[0].stdin.as_deref(), Some("q/few.fa"));
        assert_eq!(cases[0].args, ["-subject", "q/tiny.fa", "-outfmt", COLUMNS, "-html"]);
    }

    #[test]
    fn bad_rows_are_named_by_line() {
        let error =
            parse("t.tsv", "# comment\nx\tquick\tonly three", COLUMNS).unwrap_err().to_string();
        assert_eq!(error, "t.tsv, line 2: 3 columns instead of 6 (separated by TAB)");
        assert!(parse("t", "x\tsoon\ta\tb\tout\t-html", COLUMNS).is_err());
        assert!(parse("t", "x\tquick\ta\tb\tout\t-seg 'open", COLUMNS).is_err());
        assert!(parse("t", "x\tquick\ta\tb\tout\t-seg {a|b", COLUMNS).is_err());
    }

    #[test]
    fn the_tables_are_sound_and_large_enough() {
        for program in PROGRAMS {
            let cases = all(program).unwrap();
            let quick = cases.iter().filter(|c| c.quick).count();
            assert!(quick >= 500 && quick < cases.len(), "{}: {quick} quick cases", program.name);
        }
    }
}
