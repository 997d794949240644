//! Determines from the environment how this process was started.

use std::env;

use crate::MpiError;

/// How this process was started, according to the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Number of processes that were started together.
    pub ranks: u32,
    /// The number of this process among them.
    pub rank: u32,
    /// Name of the program that started them, for messages.
    pub launcher: &'static str,
}

/// Environment variables of launchers for the number of processes and the rank, and the name of the
/// launcher. A launcher that runs inside of another comes first: `mpirun` in a Slurm step counts,
/// not the step.
const LAUNCHERS: [(&str, &str, &str); 4] = [
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun of Open MPI"),
    ("PMI_SIZE", "PMI_RANK", "mpiexec or srun (PMI)"),
    // Slurm sets these variables in job steps (by srun), but not in batch scripts.
    ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"),
    ("FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux"),
];

/// Returns the launcher of this process and the number of processes, or `None` if the process was
/// started alone. It reads only the environment: a single process need not initialize MPI.
pub fn launched() -> Option<Launch> {
    launched_by(|name| env::var(name).ok())
}

/// Whether this process is the first one of its launch, or was started alone. Only this process
/// prints messages that are the same for all processes.
pub fn is_first_process() -> bool {
    launched().is_none_or(|launch| launch.rank == 0)
}

fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
    let number = |name: &str| variable(name)?.trim().parse::<u32>().ok();
    LAUNCHERS.iter().find_map(|&(size, rank, launcher)| {
        let ranks = number(size).filter(|&ranks| ranks > 0)?;
        Some(Launch { ranks, rank: number(rank).unwrap_or(0), launcher })
    })
}

impl Launch {
    /// Refuses to run as one of several processes in a program that was built without MPI. Each
    /// process would do all of the work.
    ///
    /// # Errors
    /// [`MpiError::NotBuilt`].
    pub fn refuse_without_mpi(self) -> Result<(), MpiError> {
        match self.ranks {
            ..=1 => Ok(()),
            ranks => Err(MpiError::NotBuilt { ranks, launcher: self.launcher }),
        }
    }

    /// Checks that MPI sees the launched processes as ranks. Under the launcher of another library,
    /// each process is alone in a world of one rank.
    #[cfg_attr(not(any(feature = "mpi", test)), expect(dead_code, reason = "asked by World"))]
    pub(crate) fn confirm(self, size: usize, library: &str) -> Result<(), MpiError> {
        if self.ranks > 1 && size == 1 {
            let library = library.to_owned();
            return Err(MpiError::OtherLibrary {
                ranks: self.ranks,
                launcher: self.launcher,
                library,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &[(&str, &str)]) -> Option<Launch> {
        launched_by(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_innermost_launcher_counts() {
        let step = ("SLURM_STEP_NUM_TASKS", "2");
        assert_eq!(
            launch(&[step]).map(|launch| (launch.ranks, launch.launcher)),
            Some((2, "srun"))
        );
        let both = launch(&[step, ("OMPI_COMM_WORLD_SIZE", "8")]);
        assert_eq!(both.map(|launch| launch.ranks), Some(8));
        let third = launch(&[("PMI_SIZE", " 4\n"), ("PMI_RANK", "2")]);
        assert_eq!(third.map(|launch| (launch.ranks, launch.rank)), Some((4, 2)));
    }

    #[test]
    fn what_is_no_number_is_no_launch() {
        assert_eq!(launch(&[]), None);
        assert_eq!(launch(&[("PMI_SIZE", "many")]), None);
        assert_eq!(launch(&[("PMI_SIZE", "0"), ("OMPI_COMM_WORLD_SIZE", "-1")]), None);
        // A batch script has other variables of Slurm, but is not a job step.
        assert_eq!(launch(&[("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0")]), None);
    }

    #[test]
    fn several_processes_need_mpi_and_its_own_launcher() {
        let several = Launch { ranks: 3, rank: 0, launcher: "srun" };
        let one = Launch { ranks: 1, ..several };
        assert!(one.refuse_without_mpi().is_ok() && one.confirm(1, "MPI").is_ok());
        assert!(several.confirm(3, "MPI").is_ok());
        assert!(matches!(several.refuse_without_mpi(), Err(MpiError::NotBuilt { ranks: 3, .. })));
        let text = several.confirm(1, "Some MPI 4.5").unwrap_err().to_string();
        assert!(text.starts_with("srun started 3 processes") && text.contains("Some MPI 4.5"));
    }
}
