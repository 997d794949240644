//! Programs as processes that MPI connects. Needs the launcher of the MPI library: `MPIRUN`, else
//! `mpirun`.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns a command that runs a program on this number of processes, which may exceed the number
/// of cores; for 0, in one process without a launcher.
pub fn launched(program: &Path, processes: u32) -> Command {
    if processes == 0 {
        return Command::new(program);
    }
    let launcher = env::var_os("MPIRUN").unwrap_or_else(|| "mpirun".into());
    let mut command = Command::new(launcher);
    // With these variables, Open MPI runs for any user, and with more ranks than cores.
    let settings = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "OMPI_MCA_rmaps_base_oversubscribe",
    ];
    command.envs(settings.map(|name| (name, "1")));
    command.args(["-n", &processes.to_string()]).arg(program);
    command
}

/// Returns the id of the process that is this rank of a job in the directory `dir`.
pub fn rank_of(dir: &Path, rank: &str) -> Option<i32> {
    let dir = dir.canonicalize().unwrap();
    let is = |pid: &i32| {
        let place = Path::new("/proc").join(pid.to_string());
        let environment = fs::read(place.join("environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        let named = ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].map(|name| format!("{name}={rank}"));
        fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd == dir)
            && variables.any(|own| named.iter().any(|name| name.as_bytes() == own))
    };
    let names = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    names.filter_map(|name| name.file_name().to_string_lossy().parse().ok()).find(is)
}
