//! Appends the files that a search writes to its standard output, so that they are compared, too.

use std::fs;
use std::path::Path;

use crate::error::{Result, io_error};
use crate::process::Outcome;

/// Options that name files which a program writes.
const OPTIONS: [&str; 5] =
    ["-out", "-out_pssm", "-out_ascii_pssm", "-export_search_strategy", "-logfile"];

/// Runs a search and appends the files that it writes to its standard output. Files without a
/// directory in their names go to the directory `dir`, which is removed afterwards. Without such
/// files the search runs as it is.
///
/// # Errors
/// If the run fails, or the directory cannot be made, read or removed.
pub fn run_with_output_files(
    args: &[String],
    dir: &Path,
    run: impl FnOnce(&[String]) -> Result<Outcome>,
) -> Result<Outcome> {
    let mut args = args.to_vec();
    let mut names_files = false;
    for at in 1..args.len() {
        let has_directory = args[at].contains('/') || args[at] == "-";
        if OPTIONS.contains(&args[at - 1].as_str()) && !has_directory {
            args[at] = dir.join(&args[at]).display().to_string();
            names_files = true;
        }
    }
    if !names_files {
        return run(&args);
    }
    fs::create_dir_all(dir).map_err(io_error("create", dir))?;
    let mut outcome = run(&args)?;
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).map_err(io_error("list", dir))? {
        let path = entry.map_err(io_error("list", dir))?.path();
        files.push((path.clone(), fs::read(&path).map_err(io_error("read", &path))?));
    }
    files.sort_unstable();
    for (path, bytes) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        outcome.stdout.extend_from_slice(format!("==> {name} <==\n").as_bytes());
        outcome.stdout.extend_from_slice(&bytes);
    }
    fs::remove_dir_all(dir).map_err(io_error("remove", dir))?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{MINUTE, Tool};

    #[test]
    fn files_are_the_end_of_standard_output_and_gone() {
        let dir = std::env::temp_dir().join(format!("difftest-written-{}", std::process::id()));
        let script = "echo report; echo 1 > \"$1\".2; echo 2 > \"$1\".1";
        let args = ["-c", script, "-out_pssm", "p"].map(str::to_owned);
        let run =
            |args: &[String]| Tool::plain("sh".into()).run(args, Path::new("."), None, MINUTE);
        let shown = run_with_output_files(&args, &dir, run).unwrap().stdout;
        assert_eq!(shown, b"report\n==> p.1 <==\n2\n==> p.2 <==\n1\n");
        assert!(!dir.exists());
        assert_eq!(
            run_with_output_files(&args[..2], &dir, |args| {
                assert_eq!(args.len(), 2);
                run(&["-c".to_owned(), "echo alone".to_owned()])
            })
            .unwrap()
            .stdout,
            b"alone\n"
        );
    }
}
