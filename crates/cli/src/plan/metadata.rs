//! What crosses to another site instead of the report.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use fleetblast_job::error::Error;
use fleetblast_job::plan::{Carriage, Link, Metadata};
use fleetblast_link::{Fingerprint, Key};

use super::{Host, SearchProgram, input};
use crate::expand::given::{VARIABLES, told};
use crate::options::parse::Given;
use crate::options::search::metadata::{
    DEFAULT, KEY, LinkOptions, METADATA, METADATA_OUT, PEER, SEND,
};
use crate::options::search::resources;
use crate::options::spec::Program;
use crate::options::typed::lossy;

/// A sender gives up after so long without a connection, unless something else is wished.
const GIVE_UP: Duration = Duration::from_secs(600);

/// The metadata that a search is to write, if any; `given` are its options as they were typed.
///
/// # Errors
/// A file that cannot be written, a key that cannot be read, options that do not go together.
pub fn metadata(
    program: &Program,
    search: &impl SearchProgram,
    given: &Given,
    host: &Host<'_>,
) -> Result<Option<Metadata>, Error> {
    let Some(options) = search.metadata() else { return Ok(None) };
    let out = match (&options.out, &options.send) {
        (Some(out), _) => Carriage::File(input::destination(METADATA_OUT.name(), out)?),
        (None, Some(send)) => {
            let link = link(send)?;
            let give_up = link.give_up.or(Some(GIVE_UP));
            Carriage::Link(Link { give_up, ..link })
        }
        (None, None) if options.kind.is_some() => {
            // Without either it would do nothing.
            let names = [METADATA.name(), METADATA_OUT.name(), SEND.name()];
            let [kind, out, send] = names;
            return Err(Error::query_options(format_args!("-{kind} needs -{out} or -{send}")));
        }
        (None, None) => return Ok(None),
    };
    if let (Some(timing), Carriage::File(out)) = (&search.common().resources.timing, &out) {
        let timing = input::destination(resources::TIMING.name(), timing)?;
        input::refuse_same_file(out, resources::TIMING.name(), &timing)?;
    }
    let variable = |name: &&str| {
        let value = (host.variable)(name)?;
        Some(((*name).to_owned(), value.as_bytes().to_vec()))
    };
    let environment = VARIABLES.iter().filter_map(variable).collect();
    let options_told = told(program, given);
    let kind = options.kind.unwrap_or(DEFAULT);
    Ok(Some(Metadata { out, kind, options: options_told, environment }))
}

/// A link, of what was typed.
///
/// # Errors
/// Values that make no sense.
pub fn link(options: &LinkOptions) -> Result<Link, Error> {
    let wrong = |name: &str, what: &dyn std::fmt::Display| {
        Error::query_options(format_args!("-{name}: {what}"))
    };
    let address = lossy(&options.address);
    let port = address.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    if port.is_none() {
        return Err(Error::query_options(format_args!(
            "'{address}' is no address with a port, such as host:4711"
        )));
    }
    let peers = lossy(&options.peer);
    let peers = peers.split(',').map(str::parse::<Fingerprint>).collect::<Result<Vec<_>, _>>();
    let peers = peers.map_err(|error| wrong(PEER.name(), &error))?;
    let key = PathBuf::from(&options.key);
    Key::read(&key).map_err(|error| wrong(KEY.name(), &error))?;
    let give_up = options.timeout.map(|seconds| Duration::from_secs(seconds.into()));
    Ok(Link { address, key, peers, give_up })
}
