//! `difftest bench --peers`: heuristic programs beside exact search, what they take and what they find.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::{Contender, Sample, measure, members, warm_up};
use crate::error::{Error, Result, io_error, write};
use crate::fasta;
use crate::process::{Tool, Tools, must_run};
use crate::rng::Rng;
use crate::workspace::Source;

/// Members of the smaller set of proteins that are the larger set of queries.
const MEMBERS: usize = 2_000;
/// Subjects reported for each query, by all programs: BLAST+'s default.
const SUBJECTS: &str = "500";
/// Threads of all programs.
const THREADS: &str = "2";
/// Hits are counted up to these E-values.
const LIMITS: [f64; 2] = [1e-3, 10.0];
/// FleetBLAST may take so many times DIAMOND's `--ultra-sensitive` time, by sets of queries: must, goal.
const BARS: [(f64, f64); 2] = [(1.0, 1.0), (3.0, 1.5)];
/// Columns that are compared, in the words of BLAST+ and DIAMOND.
const COLUMNS: [&str; 3] = ["qseqid", "sseqid", "evalue"];

/// The best E-value of each pair of query and subject.
type Pairs = HashMap<(String, String), f64>;

/// Measures and prints the tables; true if BLAST+ finds the pairs that FleetBLAST does.
pub(super) fn run(dir: &Path, source: &Source, tools: &Tools) -> Result<bool> {
    fs::create_dir_all(dir.join("peers")).map_err(io_error("create", &dir.join("peers")))?;
    let made = |program: &str, args: &[&str]| must_run(program, &words(args), dir);
    made("diamond", &["makedb", "--in", "big.fa", "--db", "peers/diamond", "--quiet"])?;
    made("mmseqs", &["createdb", "big.fa", "peers/mmseqs", "-v", "1"])?;
    let members = members(&mut Rng::new(1), source, MEMBERS);
    write(&dir.join("q/members.fa"), fasta::to_bytes(&members))?;
    for directory in ["db", "peers"] {
        warm_up(&dir.join(directory))?;
    }
    // BLAST+ would take an hour for the larger set.
    let few = table(dir, tools, "100 queries", "q/all.fa", true, BARS[0])?;
    let many = table(dir, tools, "2,000 queries", "q/members.fa", false, BARS[1])?;
    Ok(few && many)
}

fn table(
    dir: &Path,
    tools: &Tools,
    name: &str,
    query: &str,
    with_oracle: bool,
    (must, goal): (f64, f64),
) -> Result<bool> {
    println!(
        "\n{name}, {THREADS} threads, one round; hits found of FleetBLAST's (the same as BLAST+'s)"
    );
    println!("{:<34}{:>10}{:>10}{:>12}{:>12}", "", "wall s", "CPU s", "e <= 1e-3", "e <= 10");
    let columns = ["6", COLUMNS[0], COLUMNS[1], COLUMNS[2]].join(" ");
    let blast =
        words(&["-query", query, "-db", "db/big", "-num_threads", THREADS, "-outfmt", &columns]);
    let sample = |name, tool: &Tool, args: &[String]| {
        let args = args.to_vec();
        measure(&Contender { name, tool, args, samples: Vec::new() }, dir)
    };
    let ours = sample("FleetBLAST", &tools.tested, &blast)?;
    let all = pairs(&dir.join("bench.out"))?;
    line("FleetBLAST", &ours, &all, &all);
    let mut same = true;
    if with_oracle {
        let theirs = sample("BLAST+", &tools.oracle, &blast)?;
        line("BLAST+", &theirs, &all, &pairs(&dir.join("bench.out"))?);
        same = theirs.output == ours.output;
    }
    let mut ultra = f64::NAN;
    for mode in ["--very-sensitive", "--ultra-sensitive"] {
        let fixed = ["blastp", "--query", query, "--db", "peers/diamond", mode, "--evalue", "10"];
        let more =
            ["--max-target-seqs", SUBJECTS, "--threads", THREADS, "--quiet", "--outfmt", "6"];
        let args = words(&[&fixed[..], &more, &COLUMNS].concat());
        let sample = sample("DIAMOND", &Tool::oracle("diamond".into()), &args)?;
        line(&format!("DIAMOND {mode}"), &sample, &all, &pairs(&dir.join("bench.out"))?);
        ultra = sample.wall;
    }
    let fixed = ["easy-search", query, "peers/mmseqs", "peers/out", "peers/work", "-s", "7.5"];
    let more = ["-e", "10", "--max-seqs", SUBJECTS, "--threads", THREADS, "-v", "1"];
    let format = ["--format-output", "query,target,evalue"];
    let args = words(&[&fixed[..], &more, &format].concat());
    let mmseqs = sample("MMseqs2", &Tool::oracle("mmseqs".into()), &args)?;
    line("MMseqs2 -s 7.5", &mmseqs, &all, &pairs(&dir.join("peers/out"))?);
    let ratio = ours.wall / ultra;
    println!(
        "FleetBLAST takes {ratio:.2} times as long as DIAMOND --ultra-sensitive (must: {must}, goal: {goal}){}",
        if ratio > must { "  TOO SLOW" } else { "" }
    );
    Ok(same)
}

fn line(name: &str, sample: &Sample, all: &Pairs, found: &Pairs) {
    let shares = LIMITS.map(|limit| 100.0 * share(all, found, limit));
    println!(
        "{name:<34}{:>10.2}{:>10.2}{:>10.1} %{:>10.1} %",
        sample.wall, sample.cpu, shares[0], shares[1]
    );
}

/// Of the pairs with an E-value up to the limit, those that were found with whatever E-value.
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

/// The error is the line that has no hit.
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

/// What all programs call a sequence: some have UniProt's `tr|accession|name`, some the accession alone.
fn accession(id: &str) -> String {
    let parts: Vec<&str> = id.split('|').collect();
    match parts[..] {
        ["sp" | "tr", accession, _] => accession.to_owned(),
        _ => id.to_owned(),
    }
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|arg| arg.to_string()).collect()
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
