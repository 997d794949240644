//! `difftest bench --peers`: compares time and sensitivity of DIAMOND and MMseqs2 with those of
//! FleetBLAST, which finds the same hits as BLAST+.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::{OUTPUT, Sample, measure, members, warm_up, words};
use crate::error::{Error, Result, io_error, write};
use crate::fasta;
use crate::process::{Tool, Tools, must_run};
use crate::workspace::Source;
use fastrand::Rng;

/// Number of proteins of the smaller set that form the larger set of queries.
const MEMBERS: usize = 2_000;
/// Number of subjects that each program reports per query: BLAST+'s default.
const SUBJECTS: &str = "500";
/// Number of threads of each program.
const THREADS: &str = "2";
/// E-values up to which hits are counted.
const LIMITS: [f64; 2] = [1e-3, 10.0];
/// Columns that are compared, under the names that BLAST+ and DIAMOND share.
const COLUMNS: [&str; 3] = ["qseqid", "sseqid", "evalue"];

/// The best E-value of each pair of query and subject.
type Pairs = HashMap<(String, String), f64>;

/// Measures and prints the tables. Returns true if BLAST+ and FleetBLAST have the same output.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    fs::create_dir_all(dir.join("peers")).map_err(io_error("create", &dir.join("peers")))?;
    let made = |program: &str, args: &[&str]| must_run(program, &words(args), dir);
    made("diamond", &["makedb", "--in", "big.fa", "--db", "peers/diamond", "--quiet"])?;
    made("mmseqs", &["createdb", "big.fa", "peers/mmseqs", "-v", "1"])?;
    let members = members(&mut Rng::with_seed(1), source, MEMBERS);
    write(&dir.join("q/members.fa"), fasta::to_bytes(&members))?;
    for directory in ["db", "peers"] {
        warm_up(&dir.join(directory))?;
    }
    let peers = Peers { dir, tools };
    // BLAST+ is not measured with the larger set, which would take an hour.
    let few = Set { name: "100 queries", query: "q/all.fa", oracle: true, must: 1.0, goal: 1.0 };
    let many =
        Set { name: "2,000 queries", query: "q/members.fa", oracle: false, must: 3.0, goal: 1.5 };
    Ok(peers.table(&few)? && peers.table(&many)?)
}

/// A set of queries, and the required and the desired time of FleetBLAST relative to DIAMOND's
/// `--ultra-sensitive`.
struct Set {
    name: &'static str,
    query: &'static str,
    /// Whether the time of BLAST+ is measured, too.
    oracle: bool,
    must: f64,
    goal: f64,
}

/// The directory of the searches, and the programs FleetBLAST and BLAST+.
struct Peers<'a> {
    dir: &'a Path,
    tools: &'a Tools,
}

impl Peers<'_> {
    fn table(&self, set: &Set) -> Result<bool> {
        println!(
            "\n{}, {THREADS} threads, one round; hits found of FleetBLAST's (the same as BLAST+'s)",
            set.name
        );
        println!("{:<34}{:>10}{:>10}{:>12}{:>12}", "", "wall s", "CPU s", "e <= 1e-3", "e <= 10");
        let ours = self.blast("FleetBLAST", &self.tools.tested, set)?;
        let all = pairs(&self.dir.join(OUTPUT))?;
        line("FleetBLAST", &ours, &all, &all);
        let mut same = true;
        if set.oracle {
            let theirs = self.blast("BLAST+", &self.tools.oracle, set)?;
            line("BLAST+", &theirs, &all, &pairs(&self.dir.join(OUTPUT))?);
            same = theirs.output == ours.output;
        }
        self.diamond("--very-sensitive", set, &all)?;
        let ultra = self.diamond("--ultra-sensitive", set, &all)?;
        self.mmseqs(set, &all)?;
        let ratio = ours.wall / ultra;
        println!(
            "FleetBLAST takes {ratio:.2} times as long as DIAMOND --ultra-sensitive (must: {}, goal: {}){}",
            set.must,
            set.goal,
            if ratio > set.must { "  TOO SLOW" } else { "" }
        );
        Ok(same)
    }

    fn blast(&self, name: &'static str, tool: &Tool, set: &Set) -> Result<Sample> {
        let columns = ["6", COLUMNS[0], COLUMNS[1], COLUMNS[2]].join(" ");
        let args = ["-query", set.query, "-db", "db/big", "-num_threads", THREADS, "-outfmt"];
        self.sample(name, tool, &[&args[..], &[&columns]].concat())
    }

    /// Runs DIAMOND in a mode and prints its row. Returns the wall-clock seconds.
    fn diamond(&self, mode: &str, set: &Set, all: &Pairs) -> Result<f64> {
        let fixed = ["blastp", "--query", set.query, "--db", "peers/diamond", mode];
        let more = ["--evalue", "10", "--max-target-seqs", SUBJECTS, "--threads", THREADS];
        let format = ["--quiet", "--outfmt", "6"];
        let args = [&fixed[..], &more, &format, &COLUMNS].concat();
        let sample = self.sample("DIAMOND", &Tool::plain("diamond".into()), &args)?;
        line(&format!("DIAMOND {mode}"), &sample, all, &pairs(&self.dir.join(OUTPUT))?);
        Ok(sample.wall)
    }

    fn mmseqs(&self, set: &Set, all: &Pairs) -> Result<()> {
        let fixed = ["easy-search", set.query, "peers/mmseqs", "peers/out", "peers/work"];
        let more = ["-s", "7.5", "-e", "10", "--max-seqs", SUBJECTS, "--threads", THREADS];
        let format = ["-v", "1", "--format-output", "query,target,evalue"];
        let args = [&fixed[..], &more, &format].concat();
        let sample = self.sample("MMseqs2", &Tool::plain("mmseqs".into()), &args)?;
        line("MMseqs2 -s 7.5", &sample, all, &pairs(&self.dir.join("peers/out"))?);
        Ok(())
    }

    fn sample(&self, name: &'static str, tool: &Tool, args: &[&str]) -> Result<Sample> {
        measure(name, tool, &words(args), self.dir)
    }
}

fn line(name: &str, sample: &Sample, all: &Pairs, found: &Pairs) {
    let shares = LIMITS.map(|limit| 100.0 * share(all, found, limit));
    println!(
        "{name:<34}{:>10.2}{:>10.2}{:>10.1} %{:>10.1} %",
        sample.wall, sample.cpu, shares[0], shares[1]
    );
}

/// Returns the fraction of the pairs in `all` with an E-value up to `limit` that `found` has with
/// any E-value.
fn share(all: &Pairs, found: &Pairs, limit: f64) -> f64 {
    let counted = all.iter().filter(|(_, evalue)| **evalue <= limit).map(|(pair, _)| pair);
    let hits = counted.clone().filter(|pair| found.contains_key(*pair)).count();
    hits as f64 / counted.count() as f64
}

fn pairs(path: &Path) -> Result<Pairs> {
    let text = fs::read_to_string(path).map_err(io_error("read", path))?;
    parse(&text).map_err(|line| {
        let reason = format!("{}: not a hit: {line}", path.display());
        Error::Tool { program: "peers".to_owned(), reason }
    })
}

/// Parses tabular output with the columns of [`COLUMNS`]. The error is the line that is not a hit.
fn parse(text: &str) -> std::result::Result<Pairs, &str> {
    let mut pairs = Pairs::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let evalue = fields.get(2).and_then(|text| text.parse::<f64>().ok());
        let ([query, subject, ..], Some(evalue)) = (&fields[..], evalue) else { return Err(line) };
        let best = pairs.entry((accession(query), accession(subject))).or_insert(evalue);
        *best = best.min(evalue);
    }
    Ok(pairs)
}

/// Returns the accession of a sequence. Some programs print UniProt's `tr|accession|name`, others
/// the accession alone.
fn accession(id: &str) -> String {
    let parts: Vec<&str> = id.split('|').collect();
    match parts[..] {
        ["sp" | "tr", accession, _] => accession.to_owned(),
        _ => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_counted_by_pair() {
        let all = parse("q\ttr|A|A_B\t1e-9\nq\ttr|A|A_B\t3\nq\tC\t5\nq\tD\t20\n").expect("hits");
        let found = parse("q\tA\t0.1\n").expect("hits");
        assert_eq!(all[&("q".to_owned(), "A".to_owned())], 1e-9);
        assert_eq!((share(&all, &found, 1e-3), share(&all, &found, 10.0)), (1.0, 0.5));
        assert_eq!(parse("q\tA\n"), Err("q\tA"));
    }
}
