//! Chooses the number of threads of a process if `-num_threads` is not given.
//!
//! It is the first of [`FLEETBLAST_THREADS`], `OMP_NUM_THREADS` and `SLURM_CPUS_PER_TASK` that is
//! set, else the number of CPUs that the process may use. There are never more threads than those
//! CPUs.

use std::ffi::OsString;

use fleetblast_job::error::Error;
use fleetblast_job::threads::{ThreadSource, Threads};

use crate::cpus::Cpus;

/// FleetBLAST's own environment variable for the number of threads of every command.
pub const FLEETBLAST_THREADS: &str = "FLEETBLAST_THREADS";

/// Environment variables of other programs for the number of threads.
const OF_OTHERS: [ThreadSource; 2] = [ThreadSource::OmpNumThreads, ThreadSource::SlurmCpusPerTask];

/// A function that looks up an environment variable.
pub type VariableLookup<'a> = dyn Fn(&str) -> Option<OsString> + 'a;

/// Chooses the number of threads of this process; `typed` is the value of `-num_threads`.
///
/// # Errors
/// See [`default_thread_count`].
pub fn for_process(typed: Option<usize>) -> Result<Threads, Error> {
    choose_thread_count(typed, Cpus::detect(), &|name| std::env::var_os(name))
}

/// Like [`for_process`], with these CPUs and variables.
///
/// # Errors
/// See [`default_thread_count`].
pub fn choose_thread_count(
    typed: Option<usize>,
    cpus: Cpus,
    variable: &VariableLookup,
) -> Result<Threads, Error> {
    match typed {
        Some(count) => Ok(at_most(count, ThreadSource::NumThreads, cpus)),
        None => default_thread_count(cpus, variable),
    }
}

/// Returns the number of threads if the options set none.
///
/// # Errors
/// [`FLEETBLAST_THREADS`] is not a number from 1.
pub fn default_thread_count(cpus: Cpus, variable: &VariableLookup) -> Result<Threads, Error> {
    let own = ThreadSource::FleetblastThreads;
    if let Some(text) = variable_value(own, variable) {
        let count = parse_number(&text).ok_or_else(|| {
            Error::query_options(format_args!(
                "environment variable {FLEETBLAST_THREADS}: '{text}' is not a number of threads; \
                 set it to a number from 1, or unset it"
            ))
        })?;
        return Ok(at_most(count, own, cpus));
    }
    let chosen = OF_OTHERS.into_iter().find_map(|source| {
        let count = number_of(source, &variable_value(source, variable)?)?;
        Some(at_most(count, source, cpus))
    });
    Ok(chosen.unwrap_or_else(|| at_most(cpus.allowed, cpus.limit, cpus)))
}

/// Returns names and values of other programs' variables that are ignored because they are not
/// numbers from 1.
pub fn ignored_variables(variable: &VariableLookup) -> Vec<(&'static str, String)> {
    let texts =
        OF_OTHERS.iter().filter_map(|&source| Some((source, variable_value(source, variable)?)));
    let unusable = texts.filter(|(source, text)| number_of(*source, text).is_none());
    unusable.map(|(source, text)| (source.name(), text)).collect()
}

/// Returns the value of a variable, unless it is empty.
fn variable_value(source: ThreadSource, variable: &VariableLookup) -> Option<String> {
    let text = variable(source.name())?.to_string_lossy().trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Parses the number of threads in another program's variable. OpenMP has a list of numbers, one
/// for each level of nested parallel regions, like `4,2`; only the outermost counts. Slurm has one
/// number.
fn number_of(source: ThreadSource, text: &str) -> Option<usize> {
    match source {
        ThreadSource::OmpNumThreads => {
            let mut levels = text.split(',').map(parse_number);
            let outermost = levels.next()??;
            levels.all(|level| level.is_some()).then_some(outermost)
        }
        _ => parse_number(text),
    }
}

fn parse_number(text: &str) -> Option<usize> {
    let digits = text.trim();
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number that overflows acts like the largest one.
    let count = is_plain.then(|| digits.parse().unwrap_or(usize::MAX))?;
    (count > 0).then_some(count)
}

/// Limits a number of threads to the CPUs. The source stays the same, because it decides whether
/// ranks share the threads: a larger number must not give a rank fewer of them.
fn at_most(count: usize, source: ThreadSource, cpus: Cpus) -> Threads {
    Threads { count: count.clamp(1, cpus.allowed.max(1)), source, cpus: cpus.allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPUS: Cpus = Cpus { machine: 16, allowed: 8, limit: ThreadSource::AffinityMask };

    fn choose_count(
        typed: Option<usize>,
        variables: &[(&str, &str)],
    ) -> Result<(usize, &'static str), Error> {
        let variable = |name: &str| {
            let mut found = variables.iter().filter(|(other, _)| *other == name);
            found.next().map(|(_, value)| OsString::from(value))
        };
        choose_thread_count(typed, CPUS, &variable)
            .map(|threads| (threads.count, threads.source.name()))
    }

    #[test]
    fn variables_count_in_their_order() {
        let (own, omp, slurm) = (FLEETBLAST_THREADS, "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK");
        let all = [(slurm, "5"), (omp, "4"), (own, "3")];
        assert_eq!(choose_count(Some(2), &all), Ok((2, "-num_threads")));
        assert_eq!(choose_count(None, &all), Ok((3, own)));
        assert_eq!(choose_count(None, &all[..2]), Ok((4, omp)));
        assert_eq!(choose_count(None, &all[..1]), Ok((5, slurm)));
        assert_eq!(choose_count(None, &[]), Ok((8, "affinity mask")));
        assert_eq!(choose_count(None, &[(own, ""), (omp, " "), (slurm, " 5 ")]), Ok((5, slurm)));
        assert_eq!(choose_count(None, &[(omp, "4,2")]), Ok((4, omp)));
        // There are never more threads than CPUs.
        for variable in [own, omp, slurm] {
            assert_eq!(choose_count(None, &[(variable, "99")]), Ok((8, variable)));
            let large = "99999999999999999999999";
            assert_eq!(choose_count(None, &[(variable, large)]), Ok((8, variable)));
        }
        assert_eq!(choose_count(Some(9), &[]), Ok((8, "-num_threads")));
    }

    #[test]
    fn ranks_have_as_many_threads_where_more_are_asked_for_than_can_run() {
        let of_rank = |typed| {
            let threads = choose_thread_count(Some(typed), CPUS, &|_| None).expect("a number");
            (threads.beside_processes(2), threads.for_ranks_inside(4))
        };
        assert_eq!(of_rank(9), of_rank(8));
        let (beside, inside) = of_rank(9);
        assert_eq!((beside.count, inside.count), (8, 8));
    }

    #[test]
    fn a_bad_value_of_the_own_variable_is_an_error_and_others_are_ignored() {
        for bad in ["0", "-1", "x", "2x", "2,2", "1.5", "+2", "\u{ff12}"] {
            let error = choose_count(None, &[(FLEETBLAST_THREADS, bad)]).expect_err(bad);
            assert!(error.message.contains(&format!("FLEETBLAST_THREADS: '{bad}'")), "{error}");
            assert_eq!(error.exit_code, 1);
            // A number in the options needs no default.
            let typed = choose_count(Some(2), &[(FLEETBLAST_THREADS, bad)]);
            assert_eq!(typed, Ok((2, "-num_threads")));
        }
        let both = [("OMP_NUM_THREADS", "x,2"), ("SLURM_CPUS_PER_TASK", "0")];
        assert_eq!(choose_count(None, &both), Ok((8, "affinity mask")));
        for (name, bad) in [
            ("SLURM_CPUS_PER_TASK", "2,"),
            ("SLURM_CPUS_PER_TASK", "2(x3)"),
            ("OMP_NUM_THREADS", "2,"),
        ] {
            assert_eq!(choose_count(None, &[(name, bad)]), Ok((8, "affinity mask")), "{bad}");
        }
        let variable = |name: &str| (name == "OMP_NUM_THREADS").then(|| OsString::from("x,2"));
        assert_eq!(ignored_variables(&variable), [("OMP_NUM_THREADS", "x,2".to_owned())]);
        assert_eq!(ignored_variables(&|_| Some("4".into())), []);
    }
}
