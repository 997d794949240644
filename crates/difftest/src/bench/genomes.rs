//! Checks that the time per HSP does not grow with the number of genomes. It is part of `difftest
//! bench --blastn`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{OUTPUT, measure, words};
use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::process::Tool;
use crate::rng::Draw;
use fastrand::Rng;

/// Numbers of genomes per sequence, ascending.
const GENOMES: [usize; 3] = [1, 2, 4];
/// The tasks that this module measures.
const TASKS: [&str; 3] = ["megablast", "dc-megablast", "blastn"];
/// In each copy of a genome, one in this many bases is replaced.
const CHANGED: usize = 50;
/// Number of measurements of each search, in turn with those of the other sizes. The fastest one
/// counts, because other programs on the machine only make a search slower.
const ROUNDS: usize = 3;
/// Maximal growth of the time per HSP when the number of genomes doubles.
const BAR: f64 = 1.2;
/// Files with the query and the subject of constant size.
const FIXED: [&str; 2] = ["q/genome-query.fa", "q/genome-subject.fa"];

/// Measures the time per HSP for growing numbers of genomes, and prints it. Returns true if no row
/// grows beyond the limit. The file `genomes.fa` in `dir` must begin with two related genomes.
pub(super) fn run(dir: &Path, tested: &Tool) -> Result<bool> {
    println!("\ngenomes as one sequence, 1 thread; a doubling: CPU time per HSP, bar: {BAR}");
    let path = dir.join("genomes.fa");
    let [query, subject] = fasta::read(&path, 2)?
        .try_into()
        .map_err(|_| Error::Usage(format!("{}: fewer than two genomes", path.display())))?;
    for (name, genome) in FIXED.into_iter().zip([&query, &subject]) {
        write(&dir.join(name), fasta::to_bytes(&[copies(genome, 1)]))?;
    }
    let [fixed_query, fixed_subject] = FIXED.map(str::to_owned);
    let mut bounded = true;
    for task in TASKS {
        let longer = write_genomes(&query, dir)?;
        let pairs = longer.map(|longer| [longer, fixed_subject.clone()]);
        bounded &= print_row(&format!("{task}, query"), task, &pairs, dir, tested)?;
        let longer = write_genomes(&subject, dir)?;
        let pairs = longer.map(|longer| [fixed_query.clone(), longer]);
        bounded &= print_row(&format!("{task}, subject"), task, &pairs, dir, tested)?;
    }
    Ok(bounded)
}

/// Writes sequences with growing numbers of copies of a genome. Returns the names of the files.
fn write_genomes(genome: &Record, dir: &Path) -> Result<[String; GENOMES.len()]> {
    let names = GENOMES.map(|count| format!("q/genomes-{count}.fa"));
    for (name, count) in names.iter().zip(GENOMES) {
        write(&dir.join(name), fasta::to_bytes(&[copies(genome, count)]))?;
    }
    Ok(names)
}

/// Repeats a genome `count` times in one sequence. Each copy is changed at other positions.
fn copies(genome: &Record, count: usize) -> Record {
    let mut rng = Rng::with_seed(1);
    let mut bases = genome.seq.repeat(count);
    for base in &mut bases {
        if rng.usize(..CHANGED) == 0 {
            *base = *rng.pick(b"ACGT");
        }
    }
    Record::new("genomes", bases)
}

/// Searches each query in its subject and prints the CPU time per HSP. Returns false if it grows
/// beyond the limit.
fn print_row(
    name: &str,
    task: &str,
    pairs: &[[String; 2]],
    dir: &Path,
    tested: &Tool,
) -> Result<bool> {
    print!("{name:<28}");
    let mut fastest = vec![(f64::INFINITY, 0); pairs.len()];
    for _ in 0..ROUNDS {
        for ([query, subject], (cpu, hsps)) in pairs.iter().zip(&mut fastest) {
            let fixed = ["-task", task, "-query", query, "-subject", subject];
            let args = words(&[&fixed[..], &["-outfmt", "6", "-num_threads", "1"]].concat());
            *cpu = cpu.min(measure(name, tested, &args, dir)?.cpu);
            *hsps = lines(&dir.join(OUTPUT))?;
        }
    }
    let mut times = Vec::new();
    for (cpu, hsps) in fastest {
        print!("{hsps:>9} HSPs {cpu:>7.2} s");
        times.push(cpu / hsps as f64);
    }
    let mut bounded = true;
    for pair in times.windows(2) {
        let growth = pair[1] / pair[0];
        bounded &= growth <= BAR;
        print!("{growth:>8.3}{}", if growth > BAR { "  TOO MUCH" } else { "" });
    }
    println!();
    Ok(bounded)
}

fn lines(path: &Path) -> Result<usize> {
    let file = File::open(path).map_err(io_error("open", path))?;
    Ok(BufReader::new(file).split(b'\n').count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_genome_are_as_long_as_it_and_differ() {
        let genome = Record::new("g", vec![b'A'; 20_000]);
        let two = copies(&genome, 2).seq;
        assert_eq!(two.len(), 40_000);
        assert_ne!(two[..20_000], two[20_000..]);
        let changed = two.iter().filter(|&&base| base != b'A').count();
        assert!((400..900).contains(&changed), "{changed}");
    }
}
