//! Jobs whose ranks are at two sites: the role of this process, and how the ranks of the I/O site
//! make the report.

use std::ffi::OsString;
use std::path::Path;

use fleetblast_fleet::config::Strategy;
use fleetblast_job::error::Error;
use fleetblast_job::plan::Destination;
use fleetblast_job::sites::IoSitePlan;
use fleetblast_job::threads::Threads;
use fleetblast_metadata::header::OptionValue;
use fleetblast_metadata::{Encoding, EncodingChoice, Header};

use crate::crossing::encode_options;
use crate::expand;
use crate::options::expand::ExpandOptions;
use crate::options::parse::GivenOptions;
use crate::options::search::metadata::IO_RANKS;
use crate::options::search::{files, resources};
use crate::options::spec::Program;
use crate::plan::{ProcessEnvironment, SearchProgram, input};
use crate::threads::choose_thread_count;

/// The role of this process in a job at two sites.
pub enum SiteRole {
    /// This process searches.
    Search,
    /// This process makes the report.
    Storage(IoSitePlan),
    /// This process runs the ranks of both sites.
    Both(IoSitePlan),
}

impl SiteRole {
    /// Determines the role from the options; `None` if the job has only one site.
    ///
    /// # Errors
    /// Too many ranks for one site, an output that cannot be written, options that contradict each
    /// other.
    pub fn from_options(
        program: &dyn SearchProgram,
        typed: (&Program, &GivenOptions),
        environment: &ProcessEnvironment<'_>,
    ) -> Result<Option<Self>, Error> {
        let Some(ranks) = program.metadata().and_then(|it| it.io_ranks) else { return Ok(None) };
        let (name, options) = (IO_RANKS.name(), program.common());
        if options.fleet.output == Strategy::Records {
            return Err(Error::query_options(format_args!(
                "-{name} does not go with -output records"
            )));
        }
        let launched = fleetblast_mpi::launched().filter(|launch| launch.ranks > 1);
        let all = launched.map(|launch| launch.ranks).or(options.fleet.ranks);
        let Some(all) = all else {
            return Err(Error::query_options(format_args!(
                "-{name} is for a job of several ranks: start it with mpirun, or with -ranks in one process"
            )));
        };
        let Some(searching) = all.checked_sub(ranks).filter(|&searching| searching > 0) else {
            return Err(Error::query_options(format_args!(
                "-{name} {ranks} leaves none of {all} ranks to search"
            )));
        };
        match launched {
            Some(launch) if launch.rank < searching => Ok(Some(SiteRole::Search)),
            Some(_) => {
                let threads = threads(program, environment)?;
                Ok(Some(SiteRole::Storage(storage(program, typed, (ranks, threads))?)))
            }
            None => {
                let threads = threads(program, environment)?.for_ranks_inside(all as usize);
                Ok(Some(SiteRole::Both(storage(program, typed, (ranks, threads))?)))
            }
        }
    }
}

/// Returns the threads of this process, shared by all of its ranks.
fn threads(
    program: &dyn SearchProgram,
    environment: &ProcessEnvironment<'_>,
) -> Result<Threads, Error> {
    choose_thread_count(
        program.common().threads.num_threads,
        environment.cpus,
        environment.variable,
    )
}

/// Plans how I/O ranks make the report from the metadata of the search.
fn storage(
    program: &dyn SearchProgram,
    (table, given): (&Program, &GivenOptions),
    (ranks, threads): (u32, Threads),
) -> Result<IoSitePlan, Error> {
    let encoded = encode_options(table, given);
    let options = program.common();
    let out = input::destination(files::OUT.name(), &options.files.out)?;
    if let Some(timing) = &options.resources.timing {
        let timing = Destination::File(timing.into());
        input::refuse_same_file((files::OUT.name(), &out), (resources::TIMING.name(), &timing))?;
    }
    let (db, subject) = (options.database.db.clone(), options.database.subject.clone());
    let plan = move |header: &Header| {
        if let Some(name) = differing_option(&encoded, &header.options) {
            return Err(Error::query_options(format_args!(
                "-{name} differs between the ranks that search and those that make the report; give all ranks the same value"
            )));
        }
        let (needs_db, place) =
            (header.encodings != EncodingChoice::Only(Encoding::Report), Path::new(METADATA_NAME));
        let named = |name: &Option<OsString>| name.clone().filter(|_| needs_db);
        let options = ExpandOptions {
            metadata: OsString::new(),
            db: named(&db),
            subject: named(&subject),
            query: None,
            out: OsString::new(),
            num_threads: Some(threads.count),
            memory: None,
        };
        // The search prints the same warnings, so these are dropped.
        let mut warnings = Vec::new();
        expand::plan_report((header, place), &options, &GivenOptions::new(), threads, &mut warnings)
    };
    Ok(IoSitePlan { ranks, threads: threads.count, out, plan: Box::new(plan) })
}

/// Returns the name of an option that differs between the two lists.
fn differing_option<'o>(
    here: &'o [(String, OptionValue)],
    there: &'o [(String, OptionValue)],
) -> Option<&'o str> {
    let lacks =
        |these: &[(String, OptionValue)], option: &(String, OptionValue)| !these.contains(option);
    let of_here = here.iter().find(|option| lacks(there, option));
    let option = of_here.or_else(|| there.iter().find(|option| lacks(here, option)));
    option.map(|(name, _)| name.as_str())
}

/// Name of the metadata in messages, in place of a file name.
const METADATA_NAME: &str = "the metadata of the search";
