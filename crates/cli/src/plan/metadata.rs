//! The plan of metadata that another site needs instead of the report.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_job::error::{Error, exit};
use fleetblast_job::plan::{Destination, Format, Link, Metadata, MetadataDestination};
use fleetblast_link::{Fingerprint, Key};
use fleetblast_metadata::EncodingChoice;

use super::{ProcessEnvironment, SearchProgram, input};
use crate::crossing::{VARIABLES, encode_options};
use crate::options::parse::GivenOptions;
use crate::options::search::database::SUBJECT;
use crate::options::search::metadata::{
    DEFAULT, DEFAULT_LIMIT, IO_RANKS, KEY, LinkOptions, METADATA, METADATA_LIMIT, METADATA_OUT,
    MetadataOptions, PEER, SEND,
};
use crate::options::search::resources;
use crate::options::spec::Program;
use crate::options::typed::to_text;

/// Default time without a confirmation from the other site after which the sender gives up.
const GIVE_UP: Duration = Duration::from_secs(600);

/// Plans the metadata of a search, if it writes any. `given` are the options of the search. Without
/// metadata, the report would have the format `format`.
///
/// # Errors
/// A file that cannot be written, a key that cannot be read, options that contradict each other.
pub fn metadata(
    program: &Program,
    search: &dyn SearchProgram,
    given: &GivenOptions,
    environment: &ProcessEnvironment<'_>,
    format: Format,
) -> Result<Option<Metadata>, Error> {
    let Some(options) = search.metadata() else { return Ok(None) };
    let out = match (&options.out, &options.send) {
        (Some(out), _) => MetadataDestination::File(input::destination(METADATA_OUT.name(), out)?),
        (None, Some(send)) => {
            let link = link(send)?;
            let give_up = link.give_up.or(Some(GIVE_UP));
            MetadataDestination::Link(Link { give_up, ..link })
        }
        (None, None) => match options.io_ranks {
            Some(ranks) => MetadataDestination::Ranks(ranks),
            // Without a destination for metadata this option would have no effect.
            None if options.encodings.is_some() => {
                let (out, send, ranks) = (METADATA_OUT.name(), SEND.name(), IO_RANKS.name());
                return Err(Error::query_options(format_args!(
                    "-{} needs -{out}, -{send} or -{ranks}",
                    METADATA.name()
                )));
            }
            None => return Ok(None),
        },
    };
    if let MetadataDestination::File(out) = &out {
        let common = search.common();
        let timing = common.resources.timing.as_deref();
        let timing = timing.map(|file| (resources::TIMING.name(), file));
        let subject = common.database.subject.as_deref().map(|file| (SUBJECT.name(), file));
        let read = [search.query()].into_iter().chain(subject);
        for (option, file) in timing.into_iter().chain(search.output_files()).chain(read) {
            let file = Destination::File(file.into());
            input::refuse_same_file((METADATA_OUT.name(), out), (option, &file))?;
        }
    }
    let variable = |name: &&str| {
        let value = (environment.variable)(name)?;
        Some(((*name).to_owned(), value.as_bytes().to_vec()))
    };
    let environment = VARIABLES.iter().filter_map(variable).collect();
    let encoded = encode_options(program, given);
    let kinds = options.encodings.unwrap_or(DEFAULT);
    let limit = limit(options, kinds)?;
    if let Some(option) = search.option_without_metadata(kinds) {
        return Err(not_yet(program, option, kinds));
    }
    if kinds == EncodingChoice::Cheapest && format == Format::Sam {
        // SAM begins with the references of all lines, which are known only at the end of the
        // search.
        let what = "-metadata auto does not go with -outfmt 17 (SAM)";
        return Err(Error::query_options(what));
    }
    Ok(Some(Metadata { out, encodings: kinds, limit, options: encoded, environment }))
}

/// Returns the error for an encoding that is not supported for the program, or with one of its
/// options.
fn not_yet(program: &Program, option: &str, kinds: EncodingChoice) -> Error {
    let (version, program) = (env!("CARGO_PKG_VERSION"), program.name);
    let name = match option {
        "" => program.to_owned(),
        option => format!("{program} -{option}"),
    };
    let kind = METADATA.word_for_value(&kinds).unwrap_or_default();
    let default = if kinds == DEFAULT { " (the default)" } else { "" };
    let message = format!(
        "FleetBLAST {version} does not support {name} with -{} {kind}{default} yet; use -{0} report",
        METADATA.name()
    );
    Error::new(exit::INPUT, message)
}

/// Returns the share of the report's bytes above which other encodings are too large, so that the
/// report itself is sent.
fn limit(options: &MetadataOptions, kinds: EncodingChoice) -> Result<f64, Error> {
    let Some(limit) = options.limit else { return Ok(DEFAULT_LIMIT) };
    let name = METADATA_LIMIT.name();
    if kinds != EncodingChoice::Cheapest {
        return Err(Error::query_options(format_args!("-{name} needs -{} auto", METADATA.name())));
    }
    match (0.0..=1.0).contains(&limit) {
        true => Ok(limit),
        false => Err(Error::query_options(format_args!("-{name} must be from 0 to 1"))),
    }
}

/// Builds the link from its options.
///
/// # Errors
/// Invalid values.
pub fn link(options: &LinkOptions) -> Result<Link, Error> {
    let wrong = |name: &str, what: &dyn std::fmt::Display| {
        Error::query_options(format_args!("-{name}: {what}"))
    };
    let address = to_text(&options.address);
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_none() {
        return Err(Error::query_options(format_args!(
            "'{address}' is no address with a port, such as host:4711"
        )));
    }
    let peers = to_text(&options.peer);
    let peers = peers.split(',').map(str::parse::<Fingerprint>).collect::<Result<Vec<_>, _>>();
    let peers = peers.map_err(|error| wrong(PEER.name(), &error))?;
    let key = PathBuf::from(&options.key);
    Key::read(&key).map_err(|error| wrong(KEY.name(), &error))?;
    let give_up = options.timeout.map(|seconds| Duration::from_secs(seconds.into()));
    Ok(Link { address, key, peers, give_up })
}
