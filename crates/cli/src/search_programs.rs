//! The programs that search, in one table; the commands and `fleetblast expand` follow from it.

use fleetblast_stats::release::Release;

use crate::options::blastn::{BLASTN, BlastnOptions};
use crate::options::blastp::{BLASTP, BlastpOptions};
use crate::options::blastx::{BLASTX, BlastxOptions};
use crate::options::parse::GivenOptions;
use crate::options::psiblast::{PSIBLAST, PsiblastOptions};
use crate::options::spec::Program;
use crate::options::tblastn::{TBLASTN, TblastnOptions};
use crate::options::tblastx::{TBLASTX, TblastxOptions};
use crate::plan::SearchProgram;

/// A search program.
#[derive(Clone, Copy)]
pub struct SearchEntry {
    /// Name and table of options of the program.
    pub program: Program,
    /// Whether the program searches each query in iterations.
    pub iterates: bool,
    /// The function that reads the typed values of the program's options.
    pub read: fn(&GivenOptions) -> Box<dyn SearchProgram>,
}

/// All search programs, in the order of the list of commands.
pub const SEARCH_PROGRAMS: [SearchEntry; 6] = [
    SearchEntry {
        program: BLASTP,
        iterates: false,
        read: |given| Box::new(BlastpOptions::new(given)),
    },
    SearchEntry {
        program: BLASTN,
        iterates: false,
        read: |given| Box::new(BlastnOptions::new(given)),
    },
    SearchEntry {
        program: BLASTX,
        iterates: false,
        read: |given| Box::new(BlastxOptions::new(given)),
    },
    SearchEntry {
        program: TBLASTN,
        iterates: false,
        read: |given| Box::new(TblastnOptions::new(given)),
    },
    SearchEntry {
        program: TBLASTX,
        iterates: false,
        read: |given| Box::new(TblastxOptions::new(given)),
    },
    SearchEntry {
        program: PSIBLAST,
        iterates: true,
        read: |given| Box::new(PsiblastOptions::new(given)),
    },
];

/// Returns whether the messages of a search go to the file of `-logfile`. Others go to standard
/// error, because the program creates its handler of messages (`CBlastAppDiagHandler`) before the
/// log is opened: as a member of the application, and not when the search begins.
pub fn logs_searches(name: &str, release: &Release) -> bool {
    name == TBLASTX.name || name != PSIBLAST.name && release.logs_searches
}

/// Finds a search program by its name.
pub fn find(name: &str) -> Option<&'static SearchEntry> {
    const { &SEARCH_PROGRAMS }.iter().find(|entry| entry.program.name == name)
}
