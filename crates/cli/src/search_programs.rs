//! The programs that search, in one table; the commands and `fleetblast expand` follow from it.

use fleetblast_stats::program::BlastProgram;
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

/// A search program with its options.
#[derive(Clone, Copy)]
pub struct SearchEntry {
    /// The program.
    pub program: BlastProgram,
    /// Name and table of options of the program.
    pub table: Program,
    /// The function that reads the typed values of the program's options.
    pub read: fn(&GivenOptions) -> Box<dyn SearchProgram>,
}

impl SearchEntry {
    /// Returns the entry of a program.
    pub const fn new(program: BlastProgram) -> Self {
        match program {
            BlastProgram::Blastp => {
                let read = |given: &GivenOptions| Box::new(BlastpOptions::new(given)) as _;
                Self { program, table: BLASTP, read }
            }
            BlastProgram::Blastn => {
                let read = |given: &GivenOptions| Box::new(BlastnOptions::new(given)) as _;
                Self { program, table: BLASTN, read }
            }
            BlastProgram::Blastx => {
                let read = |given: &GivenOptions| Box::new(BlastxOptions::new(given)) as _;
                Self { program, table: BLASTX, read }
            }
            BlastProgram::Tblastn => {
                let read = |given: &GivenOptions| Box::new(TblastnOptions::new(given)) as _;
                Self { program, table: TBLASTN, read }
            }
            BlastProgram::Tblastx => {
                let read = |given: &GivenOptions| Box::new(TblastxOptions::new(given)) as _;
                Self { program, table: TBLASTX, read }
            }
            BlastProgram::Psiblast => {
                let read = |given: &GivenOptions| Box::new(PsiblastOptions::new(given)) as _;
                Self { program, table: PSIBLAST, read }
            }
        }
    }

    /// Returns whether the messages of a search go to the file of `-logfile`. Other programs write
    /// them to standard error: their handler of messages (`CBlastAppDiagHandler`) is a member of
    /// the application, and is created before the log is opened.
    pub fn logs_searches(&self, release: &Release) -> bool {
        match self.program {
            BlastProgram::Tblastx => true,
            BlastProgram::Psiblast => false,
            BlastProgram::Blastp
            | BlastProgram::Blastn
            | BlastProgram::Blastx
            | BlastProgram::Tblastn => release.logs_searches,
        }
    }
}

/// All search programs, in the order of the list of commands.
pub const SEARCH_PROGRAMS: [SearchEntry; BlastProgram::ALL.len()] = {
    let mut entries = [SearchEntry::new(BlastProgram::ALL[0]); BlastProgram::ALL.len()];
    let mut number = 1;
    while number < entries.len() {
        entries[number] = SearchEntry::new(BlastProgram::ALL[number]);
        number += 1;
    }
    entries
};
