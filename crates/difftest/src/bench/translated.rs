//! `difftest bench --translated`: measures searches of translated sequences, each compared with the
//! fastest way to run BLAST+. Each row also compares the peak memory.

use std::path::Path;
use std::thread;

use super::bar::{Requirement, measure_interleaved, print_head};
use super::{
    BenchOptions, Sample, data, make_database, measure, programs, rows, small_database, warm_up,
    words,
};
use crate::error::{Result, write};
use crate::fasta::{self, Record};
use crate::fixtures::Molecule;
use crate::process::Tool;
use crate::workspace::Source;

/// Number of bases of the genome that is a query.
const GENOME: usize = 4_000_000;
/// Number of bases of genomes that tblastx searches.
const BASES: usize = 10_000_000;
/// Number of genomes, which together have at least [`BASES`] bases. More would show in the measured
/// peak memory, because a child starts out with the tester's memory.
const RECORDS: usize = 3;
/// Number of proteins, and of nucleic acids, that are queries.
const PROTEINS: usize = 20;
const NUCLEIC_ACIDS: usize = 10;
/// Accessions of two genomes of *E. coli*.
const COLI: [&str; 2] = ["NC_000913.3", "NC_002695.1"];

/// A row of the table: a kind of search and its requirement.
struct Row {
    bar: Requirement,
    program: &'static str,
    query: &'static str,
    target: [&'static str; 2],
    threads: Threads,
    rounds: usize,
    /// Required speed with AVX2 relative to BLAST+, and the speed to aim for.
    avx2: (f64, f64),
}

/// The number of threads of a row.
#[derive(Clone, Copy)]
enum Threads {
    Number(u32),
    /// One thread for each core of the machine. With `-subject` BLAST+ uses one thread, whatever
    /// the value of `-num_threads`.
    All,
}

const ROWS: [Row; 6] = [
    Row {
        query: "transcripts",
        target: ["-db", "db/big"],
        ..row("blastx, transcripts, 1 thread", "blastx", [(4.0, 8.0), (3.0, 6.0)])
    },
    Row {
        query: "transcripts",
        target: ["-db", "db/big"],
        threads: Threads::Number(2),
        ..row("blastx, transcripts, 2 threads", "blastx", [(5.0, 10.0), (4.0, 7.0)])
    },
    Row {
        query: "genome",
        target: ["-db", "db/small"],
        threads: Threads::Number(2),
        ..row("blastx, genome of 4 Mb, 2 threads", "blastx", [(4.0, 8.0), (3.0, 6.0)])
    },
    Row {
        query: "proteins",
        target: ["-db", "db/genomes"],
        rounds: 3,
        ..row("tblastn, 20 proteins, 1 thread", "tblastn", [(4.0, 8.0), (3.0, 6.0)])
    },
    Row {
        query: "nucleic",
        target: ["-db", "db/bases"],
        ..row("tblastx, 10 queries, 1 thread", "tblastx", [(3.0, 6.0), (2.5, 5.0)])
    },
    Row {
        query: COLI[0],
        target: ["-subject", "q/NC_002695.1.fa"],
        threads: Threads::All,
        ..row("tblastx, E. coli, all threads", "tblastx", [(5.0, 10.0), (4.0, 8.0)])
    },
];

/// Creates a row with its requirements on speed: with all vector instructions, and with AVX2.
const fn row(
    name: &'static str,
    program: &'static str,
    [(must, goal), avx2]: [(f64, f64); 2],
) -> Row {
    Row {
        bar: Requirement { name, must, goal, memory: 1.0 },
        program,
        query: "",
        target: ["", ""],
        threads: Threads::Number(1),
        rounds: 1,
        avx2,
    }
}

/// Measures and prints the rows. Returns true if all outputs of a row were the same.
pub(super) fn run(dir: &Path, source: &Source, options: &BenchOptions) -> Result<bool> {
    let filter = options.filter.as_deref().unwrap_or_default();
    prepare(dir, source)?;
    print_head();
    let mut same = true;
    for row in ROWS.iter().filter(|row| row.bar.name.contains(filter)) {
        let (oracle, tested) = programs(&options.tools, row.program);
        let (theirs, ours) = row.measure(&oracle, &tested, dir)?;
        same &= row.bar.print(&theirs, &ours);
        let (must, goal) = row.avx2;
        let ours = row.limited(&rows::limit_kernel(&tested, "avx2"), dir)?;
        same &= Requirement { name: "  with AVX2", must, goal, ..row.bar }.print(&theirs, &[ours]);
    }
    Ok(same)
}

impl Row {
    fn args<'a>(&self, query: &'a str) -> Vec<&'a str> {
        vec!["-query", query, self.target[0], self.target[1], "-outfmt", "6"]
    }

    /// Measures the search. Returns BLAST+'s samples, and FleetBLAST's.
    fn measure(
        &self,
        oracle: &Tool,
        tested: &Tool,
        dir: &Path,
    ) -> Result<(Vec<Sample>, Vec<Sample>)> {
        let query = format!("q/{}.fa", self.query);
        let args = self.args(&query);
        match self.threads {
            Threads::Number(threads) => {
                let effort = (threads, self.rounds);
                measure_interleaved(self.bar.name, (oracle, tested), &args, effort, dir)
            }
            Threads::All => {
                let theirs = measure(self.bar.name, oracle, &words(&args), dir)?;
                Ok((vec![theirs], vec![self.limited(tested, dir)?]))
            }
        }
    }

    /// Measures the search once with FleetBLAST, whose vector instructions may be limited.
    fn limited(&self, tested: &Tool, dir: &Path) -> Result<Sample> {
        let threads = match self.threads {
            Threads::Number(threads) => threads as usize,
            Threads::All => thread::available_parallelism().map_or(1, |count| count.get()),
        };
        let (query, threads) = (format!("q/{}.fa", self.query), threads.to_string());
        let args = [self.args(&query), vec!["-num_threads", &threads]].concat();
        measure(self.bar.name, tested, &words(&args), dir)
    }
}

/// Makes the queries and the databases, and reads the databases once.
fn prepare(dir: &Path, source: &Source) -> Result<()> {
    let read = |name: &str, count| fasta::read(&data(source, name, "translated")?, count);
    let transcripts = read("transcripts.fa", usize::MAX)?;
    let nucleic = read("queries_nt.fa", NUCLEIC_ACIDS)?;
    let genomes = read("genomes.fa.gz", RECORDS)?;
    let proteins = &source.queries[..PROTEINS.min(source.queries.len())];
    let mut sets = vec![
        ("transcripts", transcripts),
        ("nucleic", nucleic),
        ("proteins", proteins.to_vec()),
        ("genome", truncate(&genomes, GENOME)),
    ];
    for name in COLI {
        sets.push((name, read(&format!("annotated/{name}.fa.gz"), 1)?));
    }
    for (name, records) in sets {
        write(&dir.join(format!("q/{name}.fa")), fasta::to_bytes(&records))?;
    }
    small_database(dir, source)?;
    write(&dir.join("bases.fa"), fasta::to_bytes(&truncate(&genomes, BASES)))?;
    fasta::unpack(&data(source, "genomes.fa.gz", "translated")?, &dir.join("genomes.fa"))?;
    for name in ["bases", "genomes"] {
        make_database(dir, Molecule::Nucleotide, &format!("{name}.fa"), &format!("db/{name}"))?;
    }
    warm_up(&dir.join("db"))
}

/// Returns the first records, up to a number of letters. The last one may be cut.
fn truncate(records: &[Record], letters: usize) -> Vec<Record> {
    let mut rest = letters;
    let mut taken = Vec::new();
    for record in records {
        if rest == 0 {
            break;
        }
        let mut record = record.clone();
        record.seq.truncate(rest);
        rest -= record.seq.len();
        taken.push(record);
    }
    taken
}
