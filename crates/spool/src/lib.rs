//! The spool and journal of a fleet: results that wait go to disk, and the same files are the checkpoint from which a
//! killed job resumes.
//!
//! # The directory of a job
//! ```text
//! DIR/job                          what the job is (JSON), and how often it was started
//! DIR/lock                         who uses the directory
//! DIR/report                       how much there is (JSON), once all results are there, if they stay there as a report
//! DIR/xx/yy/writer-N-RUN.zst       records of writer N (a rank) of one run (a start of the job); with gzip, .gz
//! DIR/xx/yy/writer-N-RUN.index     where what is in that file, if the results stay there
//! ```
//! One process holds the [`Checkpoint`]; it tells all others the [`Run`], with which each has its own [`Writer`]. A run
//! never writes to the files of another, so what a run that died left behind is never touched again. `xx` and `yy`
//! follow from the number of the writer ([`Run::path`]): 16 writers share a directory, and no directory holds more than
//! 256 others, with 131,072 writers as with 1. A writer that has nothing to keep has no file.
//!
//! # Records
//! A [`Writer`] has two buffers, as HSPp-BLAST has (the two-stage output): what comes is collected as it is, compressed when the
//! first buffer is full, and so becomes a record in the second one, which is written at once when it is full. What is to
//! count at a certain time needs a [`Writer::sync`]; only that makes disk writes wait.
//!
//! A result of a block may be kept in shares, by several writers. It is there once the shares of all runs together are all
//! of it ([`Index`]).
//!
//! Every record has a header of [`HEADER_BYTES`], a table of its shares, of [`ENTRY_BYTES`] each, and a body. It says of
//! which job, file and place in the file it is. The numbers are little-endian:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 16 | what makes a frame that zstd skips, or an extra field of gzip, of all up to the body |
//! | 16 | 8 | `f5 46 42 72 65 63 32 0a`, the `2` being the version of the layout |
//! | 24 | 8 | mark of the job, from its job file |
//! | 32 | 4 + 4 | writer, run |
//! | 40 | 8 | offset of this header in the file |
//! | 48 | 4 + 4 | how the body is compressed (0: zstd, 1: gzip), shares |
//! | 56 | 8 + 8 | length of the body as stored, of its contents |
//! | 72 | 8 + 8 | XXH3 of the table, of the body as stored |
//! | 88 | 8 | XXH3 of the 88 bytes above |
//!
//! and for each share, one after the other in the contents:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 + 4 | block, kind of result |
//! | 12 | 8 + 8 | where in the result it begins, bytes of the whole result |
//! | 28 | 8 + 8 | its bytes, their XXH3 |
//!
//! Bytes that merely look like a record, such as one within the results of another or in a file that was copied, are
//! therefore never taken for one. `zstd -dc` (`gzip -dc`) shows what a writer collected, in its order.
//!
//! # What is checked when
//! * [`Run::scan`] reads a file to its end through a small buffer and checks all checksums, without decompressing. A
//!   record that it lists is whole at that time; all others are told as [`Fault`]s, and their blocks are to be searched
//!   again. (Reading the headers only would be faster, but would tell of a damaged record only when its bytes are wanted,
//!   long after the search has ended.)
//! * [`Reader::read`] checks everything again, and the contents after decompression, so that a record damaged since is
//!   an error and never wrong bytes.
//!
//! # What survives
//! Once [`Writer::sync`] has returned, its records survive the end of the process at any instant, and of the machine as
//! far as `fsync` keeps its promise: the directories that lead to the file are durable before.
//!
//! # Example
//! ```
//! # use fleetblast_spool::*;
//! # let parent = tempfile::tempdir()?;
//! # let root = parent.path().join("checkpoint");
//! # let identity = Identity {
//! #     program: "blastp".into(), version: "1".into(), build: "1".into(), query: QueryHasher::default().finish(),
//! #     database: DatabaseIdentity {
//! #         name: "nr".into(), sequences: 1, residues: 1, volumes: vec![], selection: "1".into(),
//! #     },
//! #     options: Default::default(), blocks: "10000 residues".into(),
//! # };
//! let block = Key { block: 12, kind: Kind::RESULT };
//!
//! let job = Checkpoint::open(&root, &identity, Start::New)?;
//! let mut writer = Writer::new(job.run(), 0, 4 << 20)?;
//! writer.append(block, Share::whole(7), b"Query= ")?;
//! writer.sync()?;
//! // The process is killed ...
//! # drop((writer, job));
//!
//! // ... and the job started again.
//! let job = Checkpoint::open(&root, &identity, Start::Resume)?;
//! let mut index = Index::default();
//! for file in job.run().files()? {
//!     for place in job.run().scan(file)?.places {
//!         index.add(job.run(), place)?;
//!     }
//! }
//! let places = index.cover(block).expect("nothing of it is missing");
//! assert_eq!(Reader::new(job.run()).read(&places[0])?, b"Query= ");
//! job.remove()?;
//! # assert!(!root.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod catalog;
mod checkpoint;
mod codec;
mod durable;
mod error;
mod holder;
mod identity;
mod index;
mod job;
mod key;
mod layout;
mod lock;
mod reader;
mod record;
mod report;
mod scan;
mod scratch;
mod summary;
mod writer;

pub use catalog::{Catalog, Name};
pub use checkpoint::{Checkpoint, Start};
pub use codec::Codec;
pub use durable::{open_own, open_private, open_regular};
pub use error::Error;
pub use holder::Holder;
pub use identity::{
    DatabaseIdentity, Difference, Differences, Identity, QueryDigest, QueryHasher, VolumeIdentity,
};
pub use index::Index;
pub use key::{Key, Kind, Share};
pub use layout::{FileId, MAX_WRITERS, Run};
pub use lock::PATIENCE;
pub use reader::Reader;
pub use record::{ENTRY_BYTES, HEADER_BYTES, Place};
pub use report::Report;
pub use scan::{Fault, Scan, scan};
pub use scratch::Scratch;
pub use summary::Summary;
pub use writer::Writer;
