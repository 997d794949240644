//! `fleetblast wrap`: runs another program on blocks of queries, by many ranks.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleetblast_fleet::config::{Config, Strategy};
use fleetblast_job::audience::Audience;
use fleetblast_job::error::Error;
use fleetblast_job::interrupt::DrainSignals;
use fleetblast_job::plan::{Checkpoint, Destination, OutputJoin, PLACEHOLDERS, WrappedJobPlan};
use fleetblast_stats::program::{BlastProgram, is_missing_program};

use crate::dbcheck;
use crate::hint;
use crate::messages::ExitWithError;
use crate::options::parse::GivenOptions;
use crate::options::typed::to_text;
use crate::options::wrap::{OUT, QUERY, WrapOptions};
use crate::plan::fleet::MemorySizes;
use crate::plan::{input, refuse_other_checkpoint};
use crate::terminal::Progress;

/// Options of BLAST+'s search programs that do not work in blocks. They name a file that each block
/// would overwrite, or work with only one query.
const OF_ONE_RUN: [&str; 8] = [
    "-out_pssm",
    "-out_ascii_pssm",
    "-save_pssm_after_last_round",
    "-save_each_pssm",
    "-in_pssm",
    "-in_msa",
    "-export_search_strategy",
    "-html",
];

/// Runs `fleetblast wrap`.
///
/// # Errors
/// Options that contradict each other; an error that ends the job early; blocks that failed.
pub fn run(
    given: &GivenOptions,
    command: &[OsString],
    exit_with_error: &ExitWithError,
) -> Result<(), Error> {
    let options = WrapOptions::new(given);
    let drain = DrainSignals::catch_for(options.checkpoint.is_some());
    let planned = drain.and_then(|drain| Ok((plan(&options, command)?, drain)));
    let (plan, drain) = match planned {
        Ok(planned) => planned,
        Err(error) => return exit_with_error(error),
    };
    let on_stdout = plan.out == Destination::Stdout;
    let progress: Arc<dyn Audience> = Arc::new(Progress::new("wrap", options.progress, on_stdout));
    fleetblast_job::wrap(plan, drain, &progress)
}

fn plan(options: &WrapOptions, command: &[OsString]) -> Result<WrappedJobPlan, Error> {
    let query = input::source(QUERY.name(), &options.query)?;
    hint::before_reading(QUERY.name(), &options.query, "the queries");
    let records = options.output == Strategy::Records;
    if options.compression.is_some() && !records {
        return Err(Error::query_options("-compression goes with -output records only"));
    }
    let out = match records {
        true => input::records(OUT.name(), &options.out)?,
        false => input::destination(OUT.name(), &options.out)?,
    };
    let checkpoint = options.checkpoint.as_ref().map(|directory| Checkpoint {
        directory: PathBuf::from(directory),
        resume: options.resume,
    });
    if let (true, Some(checkpoint)) = (records, &checkpoint) {
        refuse_other_checkpoint(checkpoint, &options.out)?;
    }
    let is_blast = names_blast(command);
    if is_blast {
        refuse_what_blocks_cannot(command)?;
    }
    let database = options.db.clone().unwrap_or_default();
    let files = match &options.db {
        Some(db) => {
            let named = |word: &OsString| contains_placeholder(word, PLACEHOLDERS[2]) || word == db;
            if !command.iter().any(named) {
                return Err(Error::query_options(format_args!(
                    "nothing in the command names the database: write {} where the program takes it",
                    PLACEHOLDERS[2]
                )));
            }
            files_of(db)?
        }
        None => Vec::new(),
    };
    Ok(WrappedJobPlan {
        command: command.to_vec(),
        join: options.join.map_or_else(|| join_of(command, is_blast), Ok)?,
        query,
        database,
        files,
        out,
        ranks: options.n,
        config: config(options)?,
        checkpoint,
        codec: options.compression.unwrap_or_default(),
        block_residues: options.block_residues,
        block_queries: options.block_queries,
        time_limit: Duration::from_secs(options.time_limit),
        tries: options.tries,
    })
}

fn config(options: &WrapOptions) -> Result<Config, Error> {
    MemorySizes::parse(options.write_buffer.as_deref(), options.result_memory.as_deref())?
        .complete(Config { strategy: options.output, ..Config::default() })
}

/// Returns whether a command is a search program of BLAST+, or this program under the name of one.
fn names_blast(command: &[OsString]) -> bool {
    command.iter().take(2).any(|word| {
        let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
        BlastProgram::from_name(&name).is_ok() || is_missing_program(&name)
    })
}

/// Refuses options with which blocks of queries give other results than all queries at once.
fn refuse_what_blocks_cannot(command: &[OsString]) -> Result<(), Error> {
    let name = |word: &OsString| {
        word.to_string_lossy().split('=').next().map(str::to_owned).unwrap_or_default()
    };
    if let Some(word) = command.iter().map(name).find(|name| OF_ONE_RUN.contains(&name.as_str())) {
        return Err(Error::query_options(format_args!(
            "the program cannot be given {word} here: it runs once for each block of queries"
        )));
    }
    for (option, place) in [("-query", PLACEHOLDERS[0]), ("-out", PLACEHOLDERS[1])] {
        let at = command.iter().position(|word| name(word) == option);
        let Some(at) = at else { continue };
        let given = [Some(&command[at]), command.get(at + 1)];
        if !given.into_iter().flatten().any(|word| contains_placeholder(word, place) || word == "-")
        {
            return Err(Error::query_options(format_args!(
                "the program's {option} would be the same for each block: leave it out, or give it {place}"
            )));
        }
    }
    Ok(())
}

/// Returns how to join the outputs of a program, by their format.
fn join_of(command: &[OsString], is_blast: bool) -> Result<OutputJoin, Error> {
    if !is_blast {
        return Ok(OutputJoin::Plain);
    }
    let given = command.iter().enumerate().find_map(|(at, word)| {
        let text = to_text(word);
        match text.strip_prefix("-outfmt") {
            Some("") => command.get(at + 1).map(|word| to_text(word)),
            Some(rest) => rest.strip_prefix('=').map(str::to_owned),
            None => None,
        }
    });
    let format = given.unwrap_or_else(|| "0".to_owned());
    match format.split_whitespace().next().unwrap_or_default() {
        "0" | "1" | "2" | "3" | "4" => Ok(OutputJoin::Report),
        "5" => Ok(OutputJoin::Xml),
        "6" | "10" => Ok(OutputJoin::Plain),
        "7" => Ok(OutputJoin::Comments),
        other => Err(Error::query_options(format_args!(
            "outputs with -outfmt {other} cannot be joined to one; -join plain concatenates them"
        ))),
    }
}

/// Returns the files of a database: all files of each volume, or those whose names begin with `db`.
fn files_of(db: &OsStr) -> Result<Vec<PathBuf>, Error> {
    let found = match dbcheck::open(&to_text(db), None) {
        Ok(database) => {
            database.volume_summaries().flat_map(|outline| files_with_name(&outline.path)).collect()
        }
        Err(_) => files_with_name(Path::new(db)),
    };
    match found.is_empty() {
        true => Err(Error::database(format_args!(
            "{}: no such database, and no file whose name begins with this",
            to_text(db)
        ))),
        false => Ok(found),
    }
}

/// Returns the file of this name, and those with the same name and an extension.
fn files_with_name(path: &Path) -> Vec<PathBuf> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| {
            let other = entry.file_name().to_string_lossy().into_owned();
            other.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

fn contains_placeholder(word: &OsStr, place: &str) -> bool {
    word.to_string_lossy().contains(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn outputs_are_joined_by_format() {
        for (line, join) in [
            ("psiblast -db {db}", OutputJoin::Report),
            ("/usr/bin/blastp -db {db} -outfmt 5", OutputJoin::Xml),
            ("fleetblast blastp -outfmt=7 -db {db}", OutputJoin::Comments),
            ("rpsblast -outfmt 6 -db {db}", OutputJoin::Plain),
            ("diamond blast -outfmt 5", OutputJoin::Plain),
        ] {
            let command = words(line);
            assert_eq!(join_of(&command, names_blast(&command)), Ok(join), "{line}");
        }
        let with_columns = [OsString::from("blastn"), "-outfmt".into(), "7 qseqid".into()];
        assert_eq!(join_of(&with_columns, true), Ok(OutputJoin::Comments));
        for format in ["11", "17", "15", "x"] {
            assert!(
                join_of(&words(&format!("blastn -outfmt {format}")), true).is_err(),
                "{format}"
            );
        }
    }

    #[test]
    fn what_each_block_would_write_anew_is_refused() {
        for line in [
            "psiblast -out_pssm p",
            "blastp -out o",
            "blastp -query q",
            "blastp -html",
            "psiblast -in_pssm=p",
        ] {
            assert!(refuse_what_blocks_cannot(&words(line)).is_err(), "{line}");
        }
        for line in ["blastp -query {query} -out {out}", "blastp -query - -db d", "blastp -db d"] {
            assert_eq!(refuse_what_blocks_cannot(&words(line)), Ok(()), "{line}");
        }
    }
}
