//! `difftest dbcmd`: compares blastdbcmd of both programs on real databases of all kinds.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::cases::{alternatives, words};
use crate::compare::{compare, describe};
use crate::error::{Error, Result, io_error, write};
use crate::fasta;
use crate::process::{Tool, must_run, shell};
use crate::workspace::{self, Source, Workspace};

/// The releases with which rows may be compared.
const RELEASES: [&str; 3] = ["2.12.0", "2.16.0", "2.17.0"];

/// Time limit of one command.
const LIMIT: Duration = Duration::from_secs(600);
const TABLE: &str = include_str!("../cases/dbcmd.tsv");
/// One sequence in this many is looked up by its identifier.
const LOOKED_UP: usize = 37;
/// Number of genome sequences in the databases.
const GENOMES: usize = 300;

/// For each database: name, FASTA file or earlier database, and options of makeblastdb.
const DATABASES: [(&str, &str, &str); 14] = [
    ("p4", "protein", "-dbtype prot -blastdb_version 4"),
    ("p5", "protein", "-dbtype prot"),
    ("pp4", "protein", "-dbtype prot -blastdb_version 4 -parse_seqids -hash_index"),
    ("pp5", "protein", "-dbtype prot -parse_seqids -taxid 9606"),
    ("pv5", "protein", "-dbtype prot -parse_seqids -max_file_sz 500KB"),
    ("pm5", "protein", "-dbtype prot -parse_seqids -mask_data db/protein.mask"),
    ("pd5", "pm5", "-dbtype prot -parse_seqids -input_type blastdb -mask_data db/protein.mask"),
    ("n4", "genome", "-dbtype nucl -blastdb_version 4"),
    ("n5", "genome", "-dbtype nucl"),
    ("np4", "genome", "-dbtype nucl -blastdb_version 4 -parse_seqids"),
    ("np5", "genome", "-dbtype nucl -parse_seqids -taxid 562"),
    ("nv5", "genome", "-dbtype nucl -parse_seqids -max_file_sz 1MB"),
    ("t5", "transcript", "-dbtype nucl -parse_seqids"),
    ("nm5", "transcript", "-dbtype nucl -parse_seqids -mask_data db/transcript.mask"),
];

/// Options of `difftest dbcmd`.
#[derive(Debug)]
pub struct DbcmdOptions {
    /// Run only cases whose id contains this text.
    pub filter: Option<String>,
    /// FleetBLAST.
    pub tested: Tool,
    /// BLAST+.
    pub oracle: Tool,
    /// The release of BLAST+.
    pub release: String,
}

/// A command line of blastdbcmd.
struct Case {
    id: String,
    args: Vec<String>,
    /// The releases of BLAST+ with which the case is compared, separated by commas; `None` for all.
    releases: Option<&'static str>,
}

impl Case {
    fn is_compared_with(&self, release: &str) -> bool {
        self.releases.is_none_or(|releases| releases.split(',').any(|listed| listed == release))
    }
}

/// Runs the cases. Prints one line for each and a closing summary. Returns true if none failed.
///
/// # Errors
/// If databases cannot be made or a program cannot be started. Differences are not errors.
pub fn run(workspace: &Workspace, source: &Source, options: &DbcmdOptions) -> Result<bool> {
    workspace::report_source(source);
    println!("oracle: {} ({})", options.oracle.program.display(), options.oracle.version()?);
    let dir = workspace.target.join("difftest-dbcmd");
    prepare(&dir, source)?;
    let wanted = |case: &Case| options.filter.as_ref().is_none_or(|text| case.id.contains(text));
    let (cases, others): (Vec<_>, Vec<_>) = cases()?
        .into_iter()
        .filter(wanted)
        .partition(|case| case.is_compared_with(&options.release));
    if cases.is_empty() {
        return Err(Error::Usage("no case matches; a run of nothing proves nothing".into()));
    }
    let mut failed = 0;
    for Case { id, args, .. } in &cases {
        let expected = options.oracle.run(args, &dir, None, LIMIT)?;
        let actual = options.tested.run(args, &dir, None, LIMIT)?;
        let found = compare(&expected, &actual, true);
        if found.is_empty() {
            println!("ok      {id} ({:.2} s, oracle {:.2} s)", actual.cpu, expected.cpu);
            continue;
        }
        failed += 1;
        println!("FAILED  {id}\n  blastdbcmd {}", shell(args));
        found.iter().for_each(|difference| println!("  {}", describe(difference)));
    }
    others.iter().for_each(|case| println!("not compared with {}: {}", options.release, case.id));
    let (passed, others) = (cases.len() - failed, others.len());
    println!("difftest dbcmd: {passed} passed, {failed} failed, {others} not compared");
    Ok(failed == 0)
}

/// Makes the FASTA files and the databases unless they exist.
fn prepare(dir: &Path, source: &Source) -> Result<()> {
    let made = dir.join("made");
    let sign = format!("{} {DATABASES:?}", source.name);
    if fs::read_to_string(&made).is_ok_and(|old| old == sign) {
        return Ok(());
    }
    let data = source.big.parent().unwrap_or(Path::new("."));
    let db = dir.join("db");
    fs::create_dir_all(&db).map_err(io_error("create", &db))?;
    let genomes = fasta::read(&data.join("genomes.fa.gz"), GENOMES)?;
    let transcripts = fasta::read(&data.join("transcripts.fa"), usize::MAX)?;
    let inputs =
        [("protein", &source.proteins), ("genome", &genomes), ("transcript", &transcripts)];
    for (name, records) in inputs {
        write(&db.join(format!("{name}.fa")), fasta::to_bytes(records))?;
        let mut batch = String::new();
        for (i, record) in records.iter().step_by(LOOKED_UP).enumerate() {
            let id = record.header.split(' ').next().unwrap_or_default();
            let rest = ["", " 3-40", " minus", " 20- minus", " 7 x-y"][i % 5];
            batch.push_str(&format!("{id}{rest}\n"));
        }
        write(&db.join(format!("{name}.batch")), batch.as_bytes())?;
    }
    for (program, name) in [("segmasker", "protein"), ("dustmasker", "transcript")] {
        let line = format!(
            "-in db/{name}.fa -infmt fasta -parse_seqids -outfmt maskinfo_asn1_bin -out db/{name}.mask"
        );
        must_run(program, &words(&line, "").map_err(Error::Usage)?, dir)?;
    }
    for (name, input, arguments) in DATABASES {
        let fasta = db.join(format!("{input}.fa"));
        let input = if fasta.exists() { format!("{input}.fa") } else { input.to_owned() };
        let line = format!("-in db/{input} -title {name} -out db/{name} {arguments}");
        must_run("makeblastdb", &words(&line, "").map_err(Error::Usage)?, dir)?;
    }
    write(&made, sign.as_bytes())
}

fn cases() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in TABLE.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = |reason| Error::CaseTable { file: "dbcmd.tsv".into(), line: number + 1, reason };
        let fields: Vec<&str> = line.split('\t').collect();
        let [id, databases, options] = fields[..] else {
            return Err(bad(format!("{} columns instead of 3 (separated by TAB)", fields.len())));
        };
        let (id, releases) = match id.split_once('@') {
            Some((id, releases)) => match releases.split(',').find(|name| !RELEASES.contains(name))
            {
                Some(unknown) => return Err(bad(format!("no release is named {unknown}"))),
                None => (id, Some(releases)),
            },
            None => (id, None),
        };
        for (choice, options) in alternatives(options).map_err(bad)? {
            for database in databases.split('+') {
                let mut args = Vec::new();
                if database != "-" {
                    args.extend(["-db".to_string(), format!("db/{database}")]);
                }
                args.extend(words(&options, "").map_err(bad)?);
                cases.push(Case { id: format!("{id}:{database}:{choice}"), args, releases });
            }
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound_and_names_databases_that_are_made() {
        let cases = cases().unwrap();
        assert!(cases.len() > 150, "{} cases", cases.len());
        let known = |name: &str| DATABASES.iter().any(|(database, ..)| *database == name);
        for Case { id, args, .. } in &cases {
            let database = id.split(':').nth(1).unwrap();
            assert!(database == "-" || known(database), "{id}: {args:?}");
        }
    }
}
