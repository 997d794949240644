//! The texts of `-version-full`, `-version-full-xml` and `-version-full-json` (version.cpp). They
//! have no dates of a build: the same source gives the same program.

use fleetblast_stats::release::Release;

use super::UNDESCRIBED_RELEASE;
use super::spec::Program;

/// The options that print a text, whatever the other arguments are. The first one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionOption {
    /// `-version`.
    Short,
    /// `-version-full`.
    Full,
    /// `-version-full-xml`.
    Xml,
    /// `-version-full-json`.
    Json,
}

impl VersionOption {
    /// Finds the option of a word of the command line.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        match word {
            b"-version" => Some(Self::Short),
            b"-version-full" => Some(Self::Full),
            b"-version-full-xml" => Some(Self::Xml),
            b"-version-full-json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// Returns the text of a version option for a program. `reason` states why the program follows its
/// release, if the release can be chosen.
pub fn version_text(option: VersionOption, program: &Program, reason: Option<&str>) -> String {
    match program.release {
        Some(release) => text_of_blast(option, (program, release), reason),
        None => own_text(&format!("fleetblast {}", program.name)),
    }
}

/// Returns the text of `-version` of a command that BLAST+ does not have.
pub fn own_text(name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mpi = if cfg!(feature = "mpi") { "with" } else { "without" };
    let all = Release::ALL.map(|release| release.version).join(", ");
    format!(
        "{name}: {version}\n Package: FleetBLAST, reports equal blast {all}\n Built {mpi} MPI\n"
    )
}

/// Returns the text of `-version` of a program of BLAST+. Other programs parse the first line.
fn short_text(program: &Program, release: &Release, reason: Option<&str>) -> String {
    let (version, name, blast) = (env!("CARGO_PKG_VERSION"), program.name, release.version);
    let own = own_version_number(program).map_or(format!("{blast}+"), str::to_owned);
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    format!("{name}: {own}\n Package: FleetBLAST {version}, reports equal blast {blast}{reason}\n")
}

fn text_of_blast(
    option: VersionOption,
    (program, release): (&Program, &Release),
    reason: Option<&str>,
) -> String {
    let name = program.name;
    let own = version_number(program);
    let signature = format!("FleetBLAST-{}", env!("CARGO_PKG_VERSION"));
    match option {
        VersionOption::Short => short_text(program, release, reason),
        VersionOption::Full => {
            let short = short_text(program, release, reason);
            format!(
                "{short} Package-Config:  \n Build-Signature:  {signature}\n GI-64bit:  TRUE\n Built-As:  {name}\n"
            )
        }
        VersionOption::Xml => {
            let info = |version: &str| {
                let [major, minor, patch] = numbers(version);
                format!(
                    "<version_info major=\"{major}\" minor=\"{minor}\" patch_level=\"{patch}\"/>\n"
                )
            };
            let (own, package) = (info(own), info(release.version));
            format!(
                "<?xml version=\"1.0\"?>\n<ncbi_version xmlns=\"ncbi:version\"\n  \
                 xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"\n  \
                 xs:schemaLocation=\"ncbi:version ncbi_version.xsd\">\n\
                 <appname>{name}</appname>\n{own}<package name=\"blast\">\n{package}\
                 <config></config>\n</package>\n<build_signature>{signature}</build_signature>\n\
                 <build_info>\n<built_as>{name}</built_as>\n</build_info>\n</ncbi_version>\n"
            )
        }
        VersionOption::Json => {
            let info = |version: &str| {
                let [major, minor, patch] = numbers(version);
                format!("{{\"major\": {major}, \"minor\": {minor}, \"patch_level\": {patch}}}")
            };
            let (own, package) = (info(own), info(release.version));
            format!(
                "{{\n  \"ncbi_version\": {{\n    \"appname\": \"{name}\",\n    \
                 \"version_info\": {own},\n    \"component\": [],\n    \"package\": {{\n      \
                 \"name\": \"blast\",\n      \"version_info\": {package},\n      \
                 \"config\": \"\"}},\n    \"build_signature\": \"{signature}\",\n    \
                 \"build_info\": {{\"built_as\": \"{name}\"}}\n  }}\n}}\n"
            )
        }
    }
}

/// Returns the version of a program without the `+` of BLAST+; empty for a program that BLAST+
/// lacks.
pub fn version_number(program: &Program) -> &'static str {
    let release = program.release.map(|release| release.version);
    own_version_number(program).or(release).unwrap_or_default()
}

/// Returns the version of a program if it differs from the version of its release.
fn own_version_number(program: &Program) -> Option<&'static str> {
    program.own_version.filter(|&version| version != UNDESCRIBED_RELEASE)
}

/// Splits a version into its numbers; missing ones are 0.
fn numbers(version: &str) -> [&str; 3] {
    let mut parts = version.split('.');
    [(); 3].map(|()| parts.next().unwrap_or("0"))
}
