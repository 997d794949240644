//! `difftest aliastool` makes aliases and lists with `blastdb_aliastool` of both programs,
//! `difftest dbcheck` tests databases with `blastdbcheck`, and `difftest masker` masks sequences.
//! Compares the files, the messages, and what both programs find with them.
//!
//! Aliases and masks contain the second of their creation, so only the format of this date is
//! compared.
//! Binary lists contain the minute. Random samples depend on the second. With `-logfile FILE`
//! BLAST+ also makes `FILE.perf`, which is not compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cases::{alternatives, words};
use crate::compare::{compare, describe};
use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::fixtures::taxdb;
use crate::process::{Outcome, Tool, shell};
use crate::workspace::{self, Source, Workspace};

/// Time limit of one command.
const LIMIT: Duration = Duration::from_secs(600);
/// Number of runs of both programs before a difference counts: both may run in different seconds.
const ATTEMPTS: usize = 6;
/// Bytes before the date in an alias file, and in an index of masks.
const DATED: [&[u8]; 2] = [b"# Alias file created ", b"BlastDb/MaskData\x13"];
/// Length of a date.
const DATE: usize = 19;
/// Number of proteins and transcripts in the databases.
const SEQUENCES: usize = 400;
/// One protein in this many is in the lists.
const LISTED: usize = 7;
/// GI of the first protein with a GI.
const FIRST_GI: usize = 1000;

/// For each database: name, FASTA file, and options of makeblastdb.
const DATABASES: [(&str, &str, &str); 13] = [
    ("p4", "protein", "-dbtype prot -parse_seqids -blastdb_version 4"),
    ("p5", "protein", "-dbtype prot -parse_seqids -taxid_map taxid_map"),
    ("m5", "protein", "-dbtype prot -parse_seqids -taxid 9606 -max_file_sz 50KB"),
    ("m4", "protein", "-dbtype prot -parse_seqids -blastdb_version 4 -max_file_sz 50KB"),
    ("o5", "protein", "-dbtype prot"),
    ("o4", "protein", "-dbtype prot -blastdb_version 4"),
    ("g5", "gi", "-dbtype prot -parse_seqids"),
    ("g4", "gi", "-dbtype prot -parse_seqids -blastdb_version 4"),
    ("n5", "transcript", "-dbtype nucl -parse_seqids -taxid 562"),
    ("n4", "transcript", "-dbtype nucl -parse_seqids -blastdb_version 4"),
    ("t5", "transcript", "-dbtype nucl -parse_seqids -max_file_sz 50KB"),
    ("lost", "protein", "-dbtype prot -parse_seqids"),
    ("lost", "transcript", "-dbtype nucl -parse_seqids"),
];
/// Files that are removed from the databases named `lost`, so that these are incomplete.
const LOST: [&str; 2] = ["lost.pdb", "lost.ndb"];

/// Inputs of the programs that do not depend on the sequences: name and contents of each file.
const FILES: [(&str, &str); 39] = [
    ("empty", ""),
    ("comment", "# nothing\n"),
    ("odd_gis", "5\n3\n3\nabc\n\n# c\n7x\n 8\n9 \n10\r\n+2\n0x5\n0\n99"),
    ("wide_gis", "5000000000\n3\n4294967295\n4294967296\n"),
    ("negative_gis", "-4\n3\n"),
    ("huge_gis", "99999999999999999999\n9223372036854775807\n"),
    (
        "odd_ids",
        "A0A\nsp|P0AAK7|NRFC_ECOLI\nP0AAK7\n# comment\n\ngi|55\nlcl|abc\nabc \n  lead\nABC\nref|NP_1.2|\n\
         pdb|1ABC|A\n1abc_A\ngnl|db|tag\nprf||X1\npir||S1234\n77\nQ9XYZ1.3\r\nfoo bar\n>x\na,b\nbbm|12\n\
         gnl|BL_ORD_ID|3\nlcl|\n",
    ),
    ("bad_gi", "P1\ngi|x\n"),
    ("only_gis", "gi|5\ngi|6\n"),
    ("taxids", "9606\n562\n"),
    ("no_taxids", "7\n"),
    ("names", " p5 \n\n\tm5\r\n"),
    ("old_names", "p4\nm4\n"),
    (
        "odd_aa",
        ">a x\x01b y\tz.\nMK-VLAA\nddd*tg1hi w q!\n;c\nAAAAAAAAAAAAAAAAAAAA;comment\n\
         >lcl|b:1-10 [organism=x] t \nMKVUOJBZXaa\n>gi|5|gb|AAA12345.1| some\x01gi|6|ref|NP_1.1| two\n\
         MAAAAAAAAAAAAAAAAAAAAAAAAPPPPPPPPPPPPPPPPPPPWQERT\n>ref|NP_000005.1|gi|77 x\n\
         MAAAAAAAAAAAAAAAAAAAAAAAA\n>pdb|1ABC|A ch\nMSSSSSSSSSSSSSSSSSSSSSS\n>gnl|db|tag \n\
         MAAAAAAAAAAAAAAAAAAAAAAAA\n>12\nMAAAAAAAAAAAAAAAAAAAAAAAA\n>y z\n>?10\nMM\n",
    ),
    ("id_beyond_ascii", ">b\u{e9}c one\nMAAAAAAAAAAAAAAAAAAAAAAAA\n>x#y two\nMKV\n"),
    ("id_with_bracket", ">a one\nMKV\n>x[y two\nMAAAAAAAAAAAAAAAAAAAAAAAA\n"),
    ("id_with_bar", ">x|y two\nMAAAAAAAAAAAAAAAAAAAAAAAA\n"),
    (
        "odd_nt",
        ">a x\nACGT-ACGTNNNNN\nacgtuURYKMSWBDHV1xACGT\nNNN\n>b\n\
         ACGTACGTAAAAAAAAAAAAAAAAAAAAAAAAAAA\n>?100\nACGTTTTTTTTTTTTTTTTTTTTT-\n>c\nNNNNNNNNNNNNNNNNN\n\
         CGTGAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAGCAT\n>?70\nCCATNNNNCCCCCCCCCCCCCCCCCCCCC\n>?65\n",
    ),
    (
        "prefixes",
        ">ref|WP_1.1| MULTISPECIES: protein [organism]\nMAAAAAAAAAAAAAAAAAAAAAAAA\n\
         >gb|AAA12345.1| TLS: x\nMAAAAAAAAAAAAAAAAAAAAAAAA\n>a MULTISPECIES: y\nMKVLA\n",
    ),
    (
        "prefixes_nt",
        ">ref|NZ_1.1| MULTISPECIES: x\nACGTAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n\
         >gb|AB000001.1| TLS: x\nACGTAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
    ),
    ("no_residues", ">a\nMAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n>b\n>c\nMAAA\n"),
    ("no_defline", "MAAAAAAAAAAAAAAAAAAA\n"),
    ("blanks", "\n\n# c\n"),
    (
        "lower",
        ">a x\nMKvlaaDTGhiwQERTyp-asdfghkl\nmnMNPQ\n>sp|P0AAK7|NRFC_ECOLI y\nMKVLAADTGHIWQERTYP\n>c\n\
         >?30\nmmmDTGHIW\n>?5\nqertyp\n",
    ),
    (
        "intervals",
        ">a x\n0 - 3\n 7-9 \n>sp|P0AAK7|NRFC_ECOLI y\n5 - 4\nMKvlaaDTG\n2-8\n>c\nMKVLA\n",
    ),
    ("unlike", ">a x\nmkVLA\n>b\nefefefjo\n\n>c\nmk\n"),
    ("no_end", ">a\nmkVLA\n>b\n5 - \n"),
    ("bad_end", ">a\nmkVLA\n>b\n5 - 7x\n"),
    ("large", ">a\nmkVLA\n>b\n4294967296 - 7\n"),
    ("odd1.pal", "# c\n\nTITLE x\nDBLIST p5\nFIRST_OID 1\nLAST_OID 10\nNSEQ 9\n"),
    ("odd2.pal", "DBLIST p5\nTITLE\nMAXOID\nLAST_OID 3\nSTATS_NSEQ 3\n"),
    ("odd3.pal", "DBLIST odd1 \"m5\" p4\r\nNSEQ +7 \r\nMAXLEN x\nLENGTH 5000000000\r\n"),
    ("odd4.pal", "DBLIST nosuch\n"),
    ("odd5.pal", ""),
    ("odd6.nal", "DBLIST n5\nOIDLIST n5.nin\nMAXOID 0x3\n"),
    ("odd7.pal", "DBLIST p5\nTAXIDLIST taxids\nSTATS_NSEQ 3\nSTATS_TOTLEN 5\n"),
    ("odd8.pal", "DBLIST p5\nTAXIDLIST empty nosuch\n"),
    ("odd9.pal", "DBLIST p5\nSEQIDLIST nosuch\n"),
    ("odd9.nal", "DBLIST n5\nGILIST gis nosuch\n"),
];

/// A table of cases.
#[derive(Debug)]
pub struct ToolTable {
    /// Name of the table and of the subcommand.
    name: &'static str,
    text: &'static str,
    /// The program of the commands in the second column. `None` if each names its program.
    program: Option<&'static str>,
}

/// Cases of `blastdb_aliastool`.
pub const ALIASTOOL: ToolTable = ToolTable {
    name: "aliastool",
    text: include_str!("../cases/aliastool.tsv"),
    program: Some("blastdb_aliastool"),
};
/// Cases of `blastdbcheck`.
pub const DBCHECK: ToolTable = ToolTable {
    name: "dbcheck",
    text: include_str!("../cases/dbcheck.tsv"),
    program: Some("blastdbcheck"),
};
/// Cases of `segmasker`, `dustmasker` and `convert2blastmask`.
pub const MASKER: ToolTable =
    ToolTable { name: "masker", text: include_str!("../cases/masker.tsv"), program: None };

/// Options of `difftest aliastool`, `difftest dbcheck` and `difftest masker`.
#[derive(Debug)]
pub struct ToolOptions {
    /// The table of cases.
    pub table: &'static ToolTable,
    /// Run only cases whose id contains this text.
    pub filter: Option<String>,
    /// FleetBLAST.
    pub tested: PathBuf,
    /// Directory of BLAST+'s programs; `None` to find them.
    pub oracle: Option<PathBuf>,
    /// The release of BLAST+'s programs.
    pub release: String,
    /// Environment of FleetBLAST, `NAME=value`, with the release.
    pub environment: Vec<String>,
}

/// Commands that make files, then commands that read them. The first word of each is the program.
struct Case {
    id: String,
    commands: Vec<Vec<String>>,
}

/// The results of one program for a case: the outcome of each command, and the files made or
/// changed.
struct CommandResults {
    outcomes: Vec<Outcome>,
    files: BTreeMap<String, Vec<u8>>,
}

/// Runs the cases. Prints one line for each and a closing summary. Returns true if none failed.
///
/// # Errors
/// If databases cannot be made or a program cannot be started. Differences are not errors.
pub fn run(workspace: &Workspace, source: &Source, options: &ToolOptions) -> Result<bool> {
    workspace::report_source(source);
    let dir = workspace.target.join("difftest-tools");
    let oracle = |name: &str| Tool::oracle(name, options.oracle.as_deref(), &options.release);
    let stage = Stage { base: dir.join("base"), run: dir.join("run") };
    stage.prepare(source, &oracle("makeblastdb")?)?;
    let wanted = |case: &Case| options.filter.as_ref().is_none_or(|text| case.id.contains(text));
    let cases: Vec<_> = cases(options.table)?.into_iter().filter(wanted).collect();
    if cases.is_empty() {
        return Err(Error::Usage("no case matches; a run of nothing proves nothing".into()));
    }
    let names = cases.iter().flat_map(|case| &case.commands).map(|command| command[0].as_str());
    let names: BTreeSet<&str> = names.collect();
    let oracles = names.into_iter().map(|name| Ok((name, oracle(name)?)));
    let oracles = oracles.collect::<Result<BTreeMap<&str, Tool>>>()?;
    let mut failed = 0;
    for case in &cases {
        let mut differences = Vec::new();
        for _ in 0..ATTEMPTS {
            let expected = stage.make(case, |name| oracles[name].clone())?;
            let tested = |name: &str| {
                Tool::fleetblast_as(options.tested.clone(), name)
                    .with_environment(&options.environment)
            };
            let actual = stage.make(case, tested)?;
            differences = differing(case, &expected, &actual);
            if differences.is_empty() {
                break;
            }
        }
        if differences.is_empty() {
            println!("ok      {}", case.id);
            continue;
        }
        failed += 1;
        println!("FAILED  {}", case.id);
        differences.iter().for_each(|difference| println!("  {difference}"));
    }
    let (name, passed) = (options.table.name, cases.len() - failed);
    println!("difftest {name}: {passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// Returns descriptions of the differences between the two programs.
fn differing(case: &Case, expected: &CommandResults, actual: &CommandResults) -> Vec<String> {
    let mut differences = Vec::new();
    for ((command, old), new) in case.commands.iter().zip(&expected.outcomes).zip(&actual.outcomes)
    {
        let found = compare(old, new, true);
        differences.extend(found.iter().map(|it| format!("{}: {}", shell(command), describe(it))));
    }
    let names = expected
        .files
        .keys()
        .chain(actual.files.keys().filter(|name| !expected.files.contains_key(*name)));
    for name in names {
        if expected.files.get(name) != actual.files.get(name) {
            let text = |files: &BTreeMap<String, Vec<u8>>| match files.get(name) {
                Some(bytes) => bytes.escape_ascii().to_string(),
                None => "no such file".to_owned(),
            };
            differences.push(format!(
                "file {name}\n    oracle: {}\n    tested: {}",
                text(&expected.files),
                text(&actual.files)
            ));
        }
    }
    differences
}

/// The directory of databases and lists (`base`), and the directory in which both programs run in
/// turn (`run`), because error messages contain its path.
struct Stage {
    base: PathBuf,
    run: PathBuf,
}

impl Stage {
    /// Makes the databases and lists unless they exist.
    fn prepare(&self, source: &Source, makeblastdb: &Tool) -> Result<()> {
        let (base, made) = (&self.base, self.base.with_extension("made"));
        let sign = format!("{} {SEQUENCES} {DATABASES:?} {LOST:?} {FILES:?}", source.name);
        if fs::read_to_string(&made).is_ok_and(|old| old == sign) {
            return Ok(());
        }
        clear(base)?;
        let data = source.big.parent().unwrap_or(Path::new("."));
        let transcripts = fasta::read(&data.join("transcripts.fa"), SEQUENCES)?;
        let proteins = &source.proteins[..SEQUENCES.min(source.proteins.len())];
        let with_gi = |(n, record): (usize, &Record)| Record {
            header: format!("gi|{}|ref|NP_{n:06}.1| {}", FIRST_GI + n, record.header),
            ..record.clone()
        };
        let gis: Vec<Record> = proteins.iter().enumerate().map(with_gi).collect();
        let inputs = [("protein", proteins), ("gi", &gis), ("transcript", &transcripts)];
        for (name, records) in inputs {
            write(&base.join(format!("{name}.fa")), fasta::to_bytes(records))?;
            let queries = &records[..3.min(records.len())];
            write(&base.join(format!("{name}.query")), fasta::to_bytes(queries))?;
        }
        for (name, text) in FILES {
            write(&base.join(name), text)?;
        }
        for (name, bytes) in taxdb::files() {
            write(&base.join(name), bytes)?;
        }
        for (name, text) in lists(proteins, &transcripts) {
            write(&base.join(name), text)?;
        }
        for (name, input, arguments) in DATABASES {
            let line = format!("-in {input}.fa -title {name} -out {name} {arguments}");
            makeblastdb.must_run(&words(&line, "").map_err(Error::Usage)?, base)?;
        }
        for name in LOST {
            let path = base.join(name);
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
        }
        write(&made, sign.as_bytes())
    }

    /// Runs the commands of a case in a fresh directory.
    fn make(&self, case: &Case, tool: impl Fn(&str) -> Tool) -> Result<CommandResults> {
        clear(&self.run)?;
        let mut base = BTreeMap::new();
        for (name, bytes) in read_all(&self.base)? {
            write(&self.run.join(&name), &bytes)?;
            base.insert(name, bytes);
        }
        let mut outcomes = Vec::new();
        for command in &case.commands {
            outcomes.push(tool(&command[0]).run(&command[1..], &self.run, None, LIMIT)?);
        }
        let mut files = read_all(&self.run)?;
        files.retain(|name, bytes| base.get(name) != Some(bytes) && !name.ends_with(".perf"));
        files.values_mut().for_each(|bytes| hide_date(bytes));
        Ok(CommandResults { outcomes, files })
    }
}

/// Returns names and contents of the lists that depend on the sequences.
fn lists(proteins: &[Record], transcripts: &[Record]) -> Vec<(&'static str, String)> {
    let word = |record: &Record| record.header.split(' ').next().unwrap_or_default().to_owned();
    let accession = |id: String| id.split('|').nth(1).unwrap_or(&id).to_owned();
    let lines =
        |words: &mut dyn Iterator<Item = String>| words.map(|word| word + "\n").collect::<String>();
    let listed = || proteins.iter().step_by(LISTED);
    let gis = (FIRST_GI..FIRST_GI + proteins.len()).step_by(LISTED).rev();
    let taxid =
        |(n, record): (usize, &Record)| format!("{} {}", word(record), [9606, 562, 10][n % 3]);
    vec![
        ("ids", lines(&mut listed().map(word))),
        ("accessions", lines(&mut listed().map(word).map(accession))),
        (
            "references",
            lines(&mut (0..proteins.len()).step_by(LISTED).map(|n| format!("NP_{n:06}"))),
        ),
        ("gis", lines(&mut gis.map(|gi| gi.to_string()))),
        ("transcripts", lines(&mut transcripts.iter().step_by(LISTED).map(word))),
        ("taxid_map", lines(&mut proteins.iter().enumerate().map(taxid))),
    ]
}

/// Replaces the digits in the date of an alias file or an index of masks.
fn hide_date(file: &mut [u8]) {
    for before in DATED {
        let start = file.windows(before.len()).position(|window| window == before);
        let date = start.and_then(|start| file[start + before.len()..].get_mut(..DATE));
        let digits = date.into_iter().flatten().filter(|byte| byte.is_ascii_digit());
        digits.for_each(|digit| *digit = b'0');
    }
}

/// Makes a directory empty.
fn clear(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).map_err(io_error("remove", dir))?;
    }
    fs::create_dir_all(dir).map_err(io_error("create", dir))
}

/// Reads all files of a directory.
fn read_all(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).map_err(io_error("read", dir))? {
        let entry = entry.map_err(io_error("read", dir))?;
        let bytes = fs::read(entry.path()).map_err(io_error("read", dir))?;
        files.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
    }
    Ok(files)
}

/// Returns the cases of a table.
fn cases(table: &ToolTable) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in table.text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let bad = |reason| Error::CaseTable {
            file: format!("{}.tsv", table.name),
            line: number + 1,
            reason,
        };
        let fields: Vec<&str> = line.split('\t').collect();
        let (id, making, reading) = match fields[..] {
            [id, making] => (id, making, ""),
            [id, making, reading] => (id, making, reading),
            _ => return Err(bad(format!("{} columns (separated by TAB)", fields.len()))),
        };
        for (choice, line) in alternatives(making).map_err(bad)? {
            let program = table.program.map(|name| format!("{name} ")).unwrap_or_default();
            let making = line.split(" ; ").map(|line| format!("{program}{line}"));
            let reading = reading.split(" ; ").filter(|line| !line.is_empty()).map(str::to_owned);
            let commands = making.chain(reading).map(|line| words(&line, "").map_err(bad));
            let commands = commands.collect::<Result<Vec<_>>>()?;
            cases.push(Case { id: format!("{id}:{choice}"), commands });
        }
    }
    Ok(cases)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        for table in [ALIASTOOL, DBCHECK, MASKER] {
            let cases = cases(&table).unwrap();
            assert!(cases.len() > 100, "{} cases", cases.len());
            assert!(cases.iter().all(|case| case.commands.iter().all(|words| !words.is_empty())));
        }
    }
}
