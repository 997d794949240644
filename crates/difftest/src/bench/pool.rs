//! Runs several processes of BLAST+ on parts of the queries at the same time and joins the outputs,
//! as people do without FleetBLAST.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use wait4::Wait4;

use super::{Sample, hash_file, words};
use crate::error::{Error, Result, io_error, write};
use crate::fasta::{self, Record};
use crate::process::{Tool, exit_code};

/// Splits a file of queries into parts with about equal numbers of residues. The measured time does
/// not include this.
pub(super) fn split(dir: &Path, query: &str, parts: usize) -> Result<()> {
    let records = fasta::read(&dir.join(query), usize::MAX)?;
    let residues = |records: &[Record]| records.iter().map(|r| r.seq.len()).sum::<usize>();
    let (total, mut from) = (residues(&records), 0);
    for part in 0..parts {
        let end = total * (part + 1) / parts;
        let count = (from..records.len()).take_while(|&n| residues(&records[..n]) < end).count();
        let to = if part + 1 == parts { records.len() } else { from + count };
        write(&dir.join(part_name(part)), fasta::to_bytes(&records[from..to]))?;
        from = to;
    }
    Ok(())
}

/// Runs `oracle` with these arguments on all parts at the same time. The memory of the sample is
/// the sum of the processes' peaks.
pub(super) fn run(dir: &Path, oracle: &Tool, args: &[&str], parts: usize) -> Result<Sample> {
    let started = Instant::now();
    let mut children = Vec::new();
    for part in 0..parts {
        let (query, out) = (part_name(part), out_name(part));
        let args = words(&[args, &["-query", &query, "-out", &out]].concat());
        let mut command = oracle.command(&args, dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        children.push(command.spawn().map_err(|error| pool_error(error.to_string()))?);
    }
    let (mut cpu, mut memory) = (0.0, 0);
    for child in children {
        let ended = child.wait4().map_err(|error| pool_error(error.to_string()))?;
        if !ended.status.success() {
            return Err(pool_error(format!("exit code {}", exit_code(ended.status))));
        }
        let used = ended.rusage;
        cpu += (used.utime + used.stime).as_secs_f64();
        memory += used.maxrss;
    }
    let mut whole = Vec::new();
    for part in 0..parts {
        let path = dir.join(out_name(part));
        whole.extend(fs::read(&path).map_err(io_error("read", &path))?);
    }
    let path = dir.join("pool.out");
    write(&path, &whole)?;
    let wall = started.elapsed().as_secs_f64();
    Ok(Sample { wall, cpu, memory, output: hash_file(&path)? })
}

fn part_name(part: usize) -> String {
    format!("q/part-{part}.fa")
}

fn out_name(part: usize) -> String {
    format!("part-{part}.out")
}

fn pool_error(reason: String) -> Error {
    Error::Tool { program: "pool".to_owned(), reason }
}
