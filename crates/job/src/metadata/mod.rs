//! A search at one site and its report at another: writes [metadata](fleetblast_metadata) at the
//! search site, and expands them at the I/O site.

mod chooser;
mod encoder;
mod estimate;
mod expand;
pub(crate) mod fingerprint;
mod growth;
mod iterations;
mod maker;
mod queries;
mod receive;
mod record_encoder;
mod resume;
mod sink;
mod site;
mod source;
mod spool;
mod statistics;
mod wanted;
mod writer;

pub(crate) use self::chooser::SearchCapacity;
pub(crate) use self::encoder::{SearchedBlock, encode_end, encode_iterated_block, memory_error};
pub(crate) use self::estimate::Estimate;
pub use self::expand::{ExpandRequest, expand};
pub(crate) use self::iterations::encode_iterations;
pub(crate) use self::maker::ReportMaker;
pub(crate) use self::queries::encode_query;
pub use self::receive::{ReceiveRequest, receive};
pub(crate) use self::record_encoder::RecordEncoder;
pub(crate) use self::resume::{ResumeVerifier, other_queries};
pub use self::sink::HeldMetadata;
pub(crate) use self::sink::MetadataSink;
pub(crate) use self::site::{IoSite, open_site};
#[cfg(feature = "mpi")]
pub(crate) use self::source::metadata_error;
pub use self::source::{OpenedMetadata, record_memory};

pub(crate) use self::wanted::WantedQueries;
pub(crate) use self::writer::{MetadataWriter, header};
