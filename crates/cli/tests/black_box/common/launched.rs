//! Programs as processes that MPI connects. Needs the launcher of the MPI library: `MPIRUN`, else `mpirun`.

use std::env;
use std::path::Path;
use std::process::Command;

/// A program on so many processes, which may be more than there are cores; on one without a launcher for 0.
pub fn launched(program: &Path, processes: u32) -> Command {
    if processes == 0 {
        return Command::new(program);
    }
    let launcher = env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into());
    let mut command = Command::new(launcher);
    // For Open MPI, as whatever user.
    let settings = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "OMPI_MCA_rmaps_base_oversubscribe",
    ];
    command.envs(settings.map(|name| (name, "1")));
    command.args(["-n", &processes.to_string()]).arg(program);
    command
}
