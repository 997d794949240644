//! Options of a search as a part of its metadata. The search site encodes them, and the I/O site
//! combines them with its own options.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use std::path::Path;

use fleetblast_job::error::{Error, exit};
use fleetblast_metadata::Header;
use fleetblast_metadata::header::OptionValue;

use crate::options::compat::{self, COMPAT};
use crate::options::expand::{ExpandOptions, is_of_format};
use crate::options::parse::{GivenOptions, Value, accepts};
use crate::options::search::database::{
    DB, GILIST, NEGATIVE_GILIST, NEGATIVE_SEQIDLIST, NEGATIVE_TAXIDLIST, NEGATIVE_TAXIDS,
    NO_TAXID_EXPANSION, SEQIDLIST, SUBJECT, TAXIDLIST, TAXIDS,
};
use crate::options::search::files::{OUT, QUERY};
use crate::options::search::filtering::{FILTERING_DB, WINDOW_MASKER_DB};
use crate::options::search::formatting::{MAX_TARGET_SEQS, NUM_ALIGNMENTS, NUM_DESCRIPTIONS};
use crate::options::search::psi::{
    IN_MSA, IN_PSSM, OUT_ASCII_PSSM, OUT_PSSM, PHI_PATTERN, SAVE_EACH_PSSM,
    SAVE_PSSM_AFTER_LAST_ROUND,
};
use crate::options::search::resources::MEMORY;
use crate::options::search::threads::NUM_THREADS;
use crate::options::spec::{CONFFILE, Group, LOGFILE, Program};

/// Environment variables that change the results of a search.
pub const VARIABLES: [&str; 2] = ["BATCH_SIZE", "OLD_FSC"];

/// Options that stay at the search site, mostly because they name its files. For some files the
/// contents are sent instead. The I/O site opens no file that a header names: the sender could
/// otherwise read files there.
const OF_SITE: [&str; 25] = [
    LOGFILE.name,
    CONFFILE.name,
    DB.name(),
    SUBJECT.name(),
    QUERY.name(),
    OUT.name(),
    NUM_THREADS.name(),
    GILIST.name(),
    NEGATIVE_GILIST.name(),
    SEQIDLIST.name(),
    NEGATIVE_SEQIDLIST.name(),
    TAXIDLIST.name(),
    NEGATIVE_TAXIDLIST.name(),
    TAXIDS.name(),
    NEGATIVE_TAXIDS.name(),
    NO_TAXID_EXPANSION.name(),
    // PSSMs are saved at the search site.
    OUT_PSSM.name(),
    OUT_ASCII_PSSM.name(),
    SAVE_PSSM_AFTER_LAST_ROUND.name(),
    SAVE_EACH_PSSM.name(),
    // A search with one of these sends its report, or is refused.
    IN_PSSM.name(),
    IN_MSA.name(),
    PHI_PATTERN.name(),
    FILTERING_DB.name(),
    WINDOW_MASKER_DB.name(),
];

/// Encodes the options that the search site sends to the I/O site.
pub fn encode_options(program: &Program, given: &GivenOptions) -> Vec<(String, OptionValue)> {
    let crossing = given.iter().filter(|(name, _)| crosses(program, name));
    crossing.map(|(name, value)| ((*name).to_owned(), encode(value))).collect()
}

/// Returns whether an option is sent to the I/O site.
fn crosses(program: &Program, name: &str) -> bool {
    let own = program.find(name).is_some_and(|option| option.group == Group::FLEETBLAST);
    let changes_report = !own || name == COMPAT.name();
    changes_report && !OF_SITE.contains(&name)
}

fn encode(value: &Value) -> OptionValue {
    match value {
        Value::Flag => OptionValue::Flag,
        Value::Text(text) => OptionValue::Text(text.as_bytes().to_vec()),
        Value::Integer(value) => OptionValue::Integer(*value),
        Value::Real(value) => OptionValue::Real(*value),
        Value::Boolean(value) => OptionValue::Boolean(*value),
    }
}

fn decode(value: &OptionValue) -> Value {
    match value {
        OptionValue::Flag => Value::Flag,
        OptionValue::Text(text) => Value::Text(OsString::from_vec(text.clone())),
        OptionValue::Integer(value) => Value::Integer(*value),
        OptionValue::Real(value) => Value::Real(*value),
        OptionValue::Boolean(value) => Value::Boolean(*value),
    }
}

/// Returns the error for metadata whose header has values that no search writes.
pub fn damaged_header_error(path: &Path, what: impl fmt::Display) -> Error {
    let path = path.display();
    Error::new(exit::INPUT, format!("{path} is damaged: its header has {what}; send it again"))
}

/// Decodes the options of a search from the header of the metadata in `path`.
///
/// # Errors
/// Options that this program does not have, or that no search sends.
pub fn decode_options(
    program: &Program,
    (header, path): (&Header, &Path),
) -> Result<GivenOptions, Error> {
    let mut all = GivenOptions::new();
    let compat = header.options.iter().find(|(name, _)| name == COMPAT.name());
    let release = compat.and_then(|(_, value)| compat::released(&decode(value)));
    let program = &program.in_release(release);
    for (name, value) in &header.options {
        let Some(option) = program.find(name) else {
            return Err(Error::unsupported(program.name, format_args!("-{name}")));
        };
        // The option may name files of this site, to be read or written.
        if !crosses(program, name) {
            return Err(damaged_header_error(
                path,
                format_args!("-{name}, which stays at the search site"),
            ));
        }
        let value = decode(value);
        if !accepts(&option, &value) {
            return Err(damaged_header_error(
                path,
                format_args!("a value of -{name} that it cannot have"),
            ));
        }
        all.insert(option.name, value);
    }
    Ok(all)
}

/// Merges decoded options of a search with those given here, which take precedence.
pub fn merge_options(
    decoded: &GivenOptions,
    options: &ExpandOptions,
    given: &GivenOptions,
) -> GivenOptions {
    let mut all = decoded.clone();
    let numbers = [NUM_DESCRIPTIONS.name(), NUM_ALIGNMENTS.name()];
    for (&name, value) in given.iter().filter(|(name, _)| is_of_format(name)) {
        // These options exclude each other.
        if name == MAX_TARGET_SEQS.name() {
            numbers.iter().for_each(|number| drop(all.remove(number)));
        } else if numbers.contains(&name) {
            all.remove(MAX_TARGET_SEQS.name());
        }
        all.insert(name, value.clone());
    }
    let named = [
        (DB.name(), &options.db),
        (SUBJECT.name(), &options.subject),
        (MEMORY.name(), &options.memory),
    ];
    for (name, path) in named.into_iter().filter_map(|(name, path)| Some((name, path.clone()?))) {
        all.insert(name, Value::Text(path));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::blastp::BLASTP;

    #[test]
    fn what_names_files_stays_and_the_rest_crosses() {
        let text = |text: &str| Value::Text(text.into());
        let given: GivenOptions = [
            ("query", text("q.fa")),
            ("db", text("db")),
            ("seqidlist", text("ids")),
            ("metadata_out", text("m")),
            ("evalue", Value::Real(0.1)),
            ("lcase_masking", Value::Flag),
            ("num_threads", Value::Integer(3)),
        ]
        .into_iter()
        .collect();
        let encoded = encode_options(&BLASTP, &given);
        let names: Vec<&str> = encoded.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["evalue", "lcase_masking"]);
        for (name, value) in &encoded {
            assert_eq!(Some(&decode(value)), given.get(name.as_str()));
        }
    }
}
