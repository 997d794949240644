//! Makes the report of a search from its metadata.

use fleetblast_metadata::header::End;
use fleetblast_metadata::records::RecordKind;
use fleetblast_metadata::{Block, MetadataError};
use fleetblast_stats::program::BlastProgram;

use super::maker::ReportMaker;
use super::site::open_site;
use super::source::{OpenedMetadata, metadata_error};
use super::wanted::WantedQueries;
use crate::audience::Audience;
use crate::error::Error;
use crate::output::Output;
use crate::plan::{Destination, Plan};
use crate::threads::pool;

/// Metadata to expand into a report, with the options for the report.
pub struct ExpandRequest {
    /// The metadata.
    pub opened: OpenedMetadata,
    /// The program that searched.
    pub program: BlastProgram,
    /// The plan of the search, with the report options of this site. `None` if the metadata contain
    /// the report itself; then no database is needed.
    pub plan: Option<Plan>,
    /// Destination of the report.
    pub out: Destination,
    /// Number of threads.
    pub threads: usize,
    /// Names of the queries to report, as in the report; empty for all queries.
    pub wanted: Vec<Vec<u8>>,
}

/// Makes the report of metadata.
///
/// # Errors
/// Another database than the one that was searched, damaged metadata, or a report that cannot be
/// made: then no report is written. Truncated metadata are an error, too, but the report of their
/// whole blocks is written if it has any of the wanted queries.
pub fn expand(request: ExpandRequest, audience: &dyn Audience) -> Result<(), Error> {
    let made = pool(request.threads)?.install(|| expand_in_pool(request, audience));
    made.inspect_err(|_| audience.abort())
}

fn expand_in_pool(request: ExpandRequest, audience: &dyn Audience) -> Result<(), Error> {
    let ExpandRequest { mut opened, program, plan, out, wanted, threads: _ } = request;
    let (wanted, encodings, begun) = (WantedQueries::new(wanted), opened.header.encodings, false);
    let Some(plan) = plan else {
        let output = Output::open(&out)?;
        let maker = ReportMaker { site: None, encodings, output, wanted, begun };
        return report_all_blocks(maker, (program, &mut opened), audience);
    };
    let header = opened.header.clone();
    let searched = format!("for {}", opened.path.display());
    open_site(&plan, &header, &searched, audience, |site| {
        audience.begin_search();
        if audience.is_watching() {
            audience.set_query_count(None);
        }
        let output = Output::open(&out)?;
        let maker = ReportMaker { site: Some(site), encodings, output, wanted, begun };
        report_all_blocks(maker, (program, &mut opened), audience)
    })
}

/// Makes the report of all blocks, or of the whole blocks of truncated metadata.
fn report_all_blocks(
    mut maker: ReportMaker<Output>,
    (program, opened): (BlastProgram, &mut OpenedMetadata),
    audience: &dyn Audience,
) -> Result<(), Error> {
    let path = opened.path.clone();
    let broken = |error: &MetadataError| metadata_error(&path, error);
    let end = loop {
        let record = match opened.next_record() {
            Ok(record) => record,
            Err(error @ MetadataError::CutOff { .. }) => break Err(error),
            Err(error) => return Err(broken(&error)),
        };
        if record.kind == RecordKind::End {
            let end = End::decode(&record).map_err(|error| broken(&error))?;
            if maker.count_differs(&end, program.properties().iterates) {
                let what = "its end counts other reports of queries than there are";
                return Err(broken(&MetadataError::Damaged { offset: record.offset, what }));
            }
            break Ok(end);
        }
        let block = Block::decode(&record).map_err(|error| broken(&error))?;
        let to_error = |what| broken(&MetadataError::Damaged { offset: record.offset, what });
        maker.report_block(block, &to_error, audience)?;
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
    let Error { mut message, .. } = error;
    if maker.wanted.has_met_any() {
        finish(maker, None, audience)?;
        message += "; the report ends with the last whole block of queries";
    }
    if let Some(missing) = missing {
        message += &format!("; {missing} as far as it is whole");
    }
    Err(Error { message, ..error })
}

/// Writes the end of the report and gives the file its name.
fn finish(
    mut maker: ReportMaker<Output>,
    end: Option<&End>,
    audience: &dyn Audience,
) -> Result<(), Error> {
    maker.finish(end, audience)?;
    maker.output.commit()?;
    if let Some(site) = &maker.site {
        site.warn_of_odd_headers(audience);
    }
    audience.finish();
    Ok(())
}
