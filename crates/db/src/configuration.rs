//! NCBI's configuration entries, from environment variables and files
//! (docs/rules/configuration.md).

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::ncbirc::ConfigFile;

/// Name of the configuration file that all programs read last.
const SHARED: &str = ".ncbirc";
/// Name of the multi-call program, which also runs under the names of the BLAST+ programs.
const OWN: &str = "fleetblast";

/// The configuration file that the option `-conffile` names.
static GIVEN: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file of `-conffile`, which is then read instead of `PROGRAM.ini`. Only the first call
/// has an effect.
pub fn set_configuration_file(name: &Path) {
    let _ = GIVEN.set(name.to_owned());
}

/// Reads an entry of NCBI's configuration. The first layer with the entry counts, even if the value
/// is empty.
///
/// The layers, first to last (`CNcbiRegistry`, ncbireg.cpp): the variable
/// `NCBI_CONFIG__SECTION__ENTRY`, the file that `NCBI_CONFIG_OVERRIDES` names, that of `-conffile`
/// or else `PROGRAM.ini`, and `.ncbirc`.
pub fn configuration_value(section: &str, entry: &str) -> Option<OsString> {
    program_entry(section, entry).or_else(|| shared_file(section, entry))
}

/// Reads an entry as [`configuration_value`] does, but from the environment variable with the
/// entry's own name instead of `PROGRAM.ini`. BLAST+ does so for the path of window masker files
/// (`s_FindPathToWM`, winmask_filter.cpp).
pub fn configuration_value_or_variable(section: &str, entry: &str) -> Option<OsString> {
    variable(section, entry)
        .or_else(|| overriding_file(section, entry))
        .or_else(|| env::var_os(entry))
        .or_else(|| shared_file(section, entry))
}

fn program_entry(section: &str, entry: &str) -> Option<OsString> {
    variable(section, entry)
        .or_else(|| overriding_file(section, entry))
        .or_else(|| entry_of(program_path(), section, entry))
}

/// Reads the environment variable `NCBI_CONFIG__SECTION__ENTRY`, or else the one with this name in
/// upper case (`CEnvironmentRegistry::x_Get`).
fn variable(section: &str, entry: &str) -> Option<OsString> {
    let name = format!("NCBI_CONFIG__{section}__{entry}");
    env::var_os(&name).or_else(|| env::var_os(name.to_ascii_uppercase()))
}

fn overriding_file(section: &str, entry: &str) -> Option<OsString> {
    entry_of(overriding_path(), section, entry)
}

/// Returns the path of the file that `NCBI_CONFIG_OVERRIDES` names.
fn overriding_path() -> Option<PathBuf> {
    let name = env::var_os("NCBI_CONFIG_OVERRIDES").filter(|name| !name.is_empty())?;
    find_named(Path::new(&name))
}

/// Returns the path of a file that the user names. A name without a directory is searched where the
/// other configuration files are.
fn find_named(name: &Path) -> Option<PathBuf> {
    let is_bare = name.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    if is_bare { find(name) } else { Some(name.to_path_buf()) }
}

/// Returns the path of the file of `-conffile`, or else of `PROGRAM.ini`.
fn program_path() -> Option<PathBuf> {
    match GIVEN.get() {
        Some(name) => find_named(name),
        None => find(&program_file()?),
    }
}

fn shared_file(section: &str, entry: &str) -> Option<OsString> {
    entry_of(shared_path(), section, entry)
}

/// Returns the path of `.ncbirc`, unless a variable or an entry in another layer disables the file.
fn shared_path() -> Option<PathBuf> {
    let is_off = env::var_os("NCBI_DONT_USE_NCBIRC").is_some()
        || program_entry("NCBI", "DONT_USE_NCBIRC").is_some();
    if is_off { None } else { find(Path::new(SHARED)) }
}

fn entry_of(file: Option<PathBuf>, section: &str, entry: &str) -> Option<OsString> {
    let value = ConfigFile::parse(&fs::read(file?).ok()?).value(section, entry)?.to_vec();
    Some(OsString::from_vec(value))
}

/// Returns the section of NCBI's configuration that changes the links of HTML reports, if there is
/// one.
///
/// BLAST+ looks for these sections in fewer files than for others. `[BLASTFMTUTIL]` is in the file
/// that the variable `FMTCFG` names, or in `.ncbirc`, in the working directory or in `$NCBI`
/// (`CAlignFormatUtil::InitConfig`, align_format_util.cpp). `[TAX_BROWSER]` is in the `.ncbirc` of
/// the working directory (`CTaxFormat`, taxFormat.cpp).
pub fn section_for_html_links() -> Option<&'static str> {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let here = PathBuf::from(SHARED);
    let mut links = given("FMTCFG").map_or_else(|| here.clone(), PathBuf::from);
    if let (false, Some(directory)) = (links.exists(), given("NCBI")) {
        links = PathBuf::from(directory).join(links);
    }
    let sections = [("BLASTFMTUTIL", "PROTOCOL", links), ("TAX_BROWSER", "BLASTFMTUTIL", here)];
    let found = sections.into_iter().find(|(section, entry, file)| {
        let files = [Some(file.clone()), overriding_path()].into_iter().flatten();
        let mut files = files.filter_map(|file| fs::read(file).ok());
        variable(section, entry).is_some()
            || files.any(|bytes| ConfigFile::parse(&bytes).has_section(section))
    });
    found.map(|(section, ..)| section)
}

/// Checks the configuration files for lines that BLAST+ cannot read. At such a line of `.ncbirc`
/// BLAST+ stops reading the file and continues; this function returns a warning.
///
/// # Errors
/// A message, if another configuration file has such a line: BLAST+ then does not start.
pub fn check_configuration() -> Result<Option<String>, String> {
    let fault = |path: PathBuf| {
        let fault = ConfigFile::parse(&fs::read(&path).ok()?).invalid_line?;
        Some(format!("{}, {fault}", path.display()))
    };
    let above = [overriding_path(), program_path()];
    match above.into_iter().flatten().find_map(fault) {
        Some(fault) => Err(format!("Error: NCBI's configuration cannot be read: {fault}")),
        None => Ok(shared_path()
            .and_then(fault)
            .map(|fault| format!("Warning: {fault}; nothing from there on counts"))),
    }
}

/// Returns the file name `PROGRAM.ini`, from the name under which the program runs.
fn program_file() -> Option<PathBuf> {
    let mut words = env::args_os();
    let called = words.next()?;
    let mut name = Path::new(&called).file_name()?.to_os_string();
    if name == OsStr::new(OWN) {
        name = words.next()?;
    }
    name.push(".ini");
    Some(PathBuf::from(name))
}

/// Finds the first file `name` in the directories of configuration files.
fn find(name: &Path) -> Option<PathBuf> {
    directories().into_iter().map(|directory| directory.join(name)).find(|file| file.is_file())
}

/// Returns the directories of configuration files (`CMetaRegistry::GetDefaultSearchPath`,
/// metareg.cpp): those of the variable `NCBI_CONFIG_PATH`, or the usual ones if it is unset. An
/// empty entry in the variable stands for the usual directories, and BLAST+ ignores all entries
/// after it.
fn directories() -> Vec<PathBuf> {
    let Some(list) = env::var_os("NCBI_CONFIG_PATH") else { return usual_directories() };
    if list.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for directory in list.as_bytes().split(|&byte| byte == b':') {
        if directory.is_empty() {
            all.extend(usual_directories());
            break;
        }
        all.push(PathBuf::from(OsStr::from_bytes(directory)));
    }
    all
}

/// Returns the usual directories of configuration files: the working and the home directory (unless
/// `NCBI_DONT_USE_LOCAL_CONFIG` is set), `$NCBI` and `/etc`.
fn usual_directories() -> Vec<PathBuf> {
    let mut all = Vec::new();
    if env::var_os("NCBI_DONT_USE_LOCAL_CONFIG").is_none() {
        all.push(PathBuf::from("."));
        all.extend(env::home_dir().filter(|home| !home.as_os_str().is_empty()));
    }
    all.extend(env::var_os("NCBI").filter(|value| !value.is_empty()).map(PathBuf::from));
    all.push(PathBuf::from("/etc"));
    all
}
