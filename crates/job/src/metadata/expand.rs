//! The report of a search, made of its metadata.

use fleetblast_metadata::header::End;
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::{Block as Told, MetadataError};

use super::maker::Maker;
use super::site::at_site;
use super::source::{Opened, fault};
use super::wanted::Wanted;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Destination, Plan};
use crate::threads::pool;

/// What to expand.
pub struct Expansion {
    /// The metadata.
    pub opened: Opened,
    /// How the report is made: of the plan of the search, with what the report is to look like here. `None` for a report that is told
    /// as it is, of whose database nothing is known here.
    pub plan: Option<Plan>,
    /// Where the report goes.
    pub out: Destination,
    /// Threads to use.
    pub threads: usize,
    /// The queries that are wanted, by what the report calls them; none for all.
    pub wanted: Vec<Vec<u8>>,
}

/// Makes the report.
///
/// # Errors
/// Another database than the one that was searched, damaged metadata, or a report that cannot be made: then nothing is written under
/// its name. Metadata that are cut off end with an error, too, after the report as far as they are whole, if that
/// has any of the queries that are wanted.
pub fn expand(expansion: Expansion, audience: &dyn Audience) -> Result<(), Error> {
    let made = pool(expansion.threads)?.install(|| make(expansion, audience));
    made.inspect_err(|_| audience.leave())
}

fn make(expansion: Expansion, audience: &dyn Audience) -> Result<(), Error> {
    let Expansion { mut opened, plan, out, wanted, .. } = expansion;
    let (wanted, kinds, begun) = (Wanted::new(wanted), opened.header.kinds, false);
    let Some(plan) = plan else {
        let output = Output::open(&out)?;
        return all(Maker { site: None, kinds, output, wanted, begun }, &mut opened, audience);
    };
    let header = opened.header.clone();
    let searched = format!("for {}", opened.path.display());
    at_site(&plan, &header, &searched, audience, |site| {
        audience.begin();
        if audience.is_watching() {
            audience.expect(None);
        }
        let output = Output::open(&out)?;
        all(Maker { site: Some(site), kinds, output, wanted, begun }, &mut opened, audience)
    })
}

/// Makes the whole report, or as much of it as the metadata are whole.
fn all(
    mut maker: Maker<Output>,
    opened: &mut Opened,
    audience: &dyn Audience,
) -> Result<(), Error> {
    let path = opened.path.clone();
    let broken = |error: &MetadataError| fault(&path, error);
    let end = loop {
        let record = match opened.next_record() {
            Ok(record) => record,
            Err(error @ MetadataError::CutOff { .. }) => break Err(error),
            Err(error) => return Err(broken(&error)),
        };
        if record.kind == RecordKind::End {
            let end = End::decode(&record).map_err(|error| broken(&error))?;
            if maker.counts_otherwise(&end, opened.header.program == "psiblast") {
                let what = "its end counts other reports of queries than there are";
                return Err(broken(&MetadataError::Damaged { offset: record.offset, what }));
            }
            break Ok(end);
        }
        let told = Told::decode(&record).map_err(|error| broken(&error))?;
        let unlike = |what| broken(&MetadataError::Damaged { offset: record.offset, what });
        maker.block(told, &unlike, audience)?;
    };
    let path = path.display();
    let missing = maker
        .wanted
        .missing()
        .map(|name| format!("there is no query {} in {path}", String::from_utf8_lossy(name)));
    let (error, missing) = match (end, missing) {
        (Ok(_), Some(missing)) => return Err(Error::query_options(missing)),
        (Ok(end), None) => return finish(maker, Some(&end), audience),
        (Err(error), missing) => (broken(&error), missing),
    };
    let mut message = error.message;
    if maker.wanted.has_some() {
        finish(maker, None, audience)?;
        message += "; the report ends with the last whole block of queries";
    }
    if let Some(missing) = missing {
        message += &format!("; {missing} as far as it is whole");
    }
    Err(Error { exit_code: error.exit_code, message })
}

/// Ends the report, which gets its name.
fn finish(
    mut maker: Maker<Output>,
    end: Option<&End>,
    audience: &dyn Audience,
) -> Result<(), Error> {
    maker.end(end, audience)?;
    maker.output.commit()?;
    if let Some(site) = &maker.site {
        site.tell_of_odd_headers(audience);
    }
    audience.finish();
    Ok(())
}
