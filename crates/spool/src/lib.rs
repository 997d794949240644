//! The spool of a job stores results on disk until they are published. The same files are the
//! checkpoint from which a killed job resumes.
//!
//! # The directory of a job
//! ```text
//! DIR/job                          the job (JSON), and how often it was started
//! DIR/lock                         the process that uses the directory
//! DIR/report                       size of a complete report (JSON), if it stays there
//! DIR/xx/yy/writer-N-RUN.zst       records of writer N (a rank) of one run; with gzip, .gz
//! DIR/xx/yy/writer-N-RUN.index     index of that file, if the results stay there
//! ```
//! A run is one start of the job. One process has the [`Checkpoint`] and sends the [`Run`] to all
//! others. Each process has its own [`Writer`]. A run never writes to the files of another run, so
//! the files of a dead run never change. `xx` and `yy` follow from the number of the writer
//! ([`Run::path`]). Up to 16 writers share a directory, and no directory has more than 256
//! subdirectories, even with 131,072 writers. A writer without results has no file.
//!
//! # Records
//! A [`Writer`] has two buffers, like the two-stage output of HSPp-BLAST. The first buffer collects
//! results. When it is full, it is compressed to a record in the second buffer. When the second
//! buffer is full, it is written at once. Results are safe after a [`Writer::sync`]; only that call
//! waits for the disk.
//!
//! Several writers can store shares of the result of a block. The result is complete when the
//! shares of all runs together cover it ([`ResultIndex`]).
//!
//! Every record has a header of [`HEADER_BYTES`], a table with [`ENTRY_BYTES`] for each of its
//! shares, and a body. The header names the job, the file and the offset in the file. The numbers
//! are little-endian:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 16 | start of a frame that zstd skips, or of an extra field of gzip, up to the body |
//! | 16 | 8 | `f5 46 42 72 65 63 32 0a`; the `2` is the version of the layout |
//! | 24 | 8 | mark of the job, from its job file |
//! | 32 | 4 + 4 | writer, run |
//! | 40 | 8 | offset of this header in the file |
//! | 48 | 4 + 4 | compression of the body (0: zstd, 1: gzip), number of shares |
//! | 56 | 8 + 8 | length of the body as stored, of its contents |
//! | 72 | 8 + 8 | XXH3 of the table, of the body as stored |
//! | 88 | 8 | XXH3 of the 88 bytes above |
//!
//! The table has these fields for each share, in the order of the contents:
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 8 + 4 | block, kind of result |
//! | 12 | 8 + 8 | offset in the result, length of the whole result |
//! | 28 | 8 + 8 | length of the share, its XXH3 |
//!
//! Therefore a copy of a record, inside the results of another record or in another file, is never
//! accepted as a record. `zstd -dc` (`gzip -dc`) prints the bytes that a writer appended, in that
//! order.
//!
//! # Checks
//! * [`Run::scan`] reads a file to its end through a small buffer and checks all checksums, without
//!   decompressing. It lists the valid records. It lists the rest as [`InvalidBytes`], whose blocks
//!   must be searched again. (Reading only the headers would be faster, but damage would be found
//!   only when the bytes are needed, long after the search.)
//! * [`Reader::read`] checks everything again, and also the contents after decompression. So damage
//!   after the scan is an error and never gives wrong bytes.
//!
//! # Durability
//! After [`Writer::sync`] has returned, its records survive the end of the process. They survive a
//! crash of the machine if `fsync` works as specified. Their directories are durable before.
//!
//! # Example
//! ```
//! # use fleetblast_spool::*;
//! # let parent = tempfile::tempdir()?;
//! # let root = parent.path().join("checkpoint");
//! # let properties = JobProperties {
//! #     program: "blastp".into(), version: "1".into(), build: "1".into(),
//! #     query: QueryHasher::default().finish(),
//! #     database: DatabaseProperties {
//! #         name: "nr".into(), sequences: 1, residues: 1, volumes: vec![], selection: "1".into(),
//! #     },
//! #     options: Default::default(), blocks: "10000 residues".into(),
//! # };
//! let block = ResultKey { block: 12, kind: ResultKind::RESULT };
//!
//! let job = Checkpoint::open(&root, &properties, StartMode::New)?;
//! let mut writer = Writer::new(job.run(), 0, 4 << 20)?;
//! writer.append(block, ShareRange::whole(7), b"Query= ")?;
//! writer.sync()?;
//! // The process is killed ...
//! # drop((writer, job));
//!
//! // ... and the job started again.
//! let job = Checkpoint::open(&root, &properties, StartMode::Resume)?;
//! let mut index = ResultIndex::default();
//! for file in job.run().files()? {
//!     for place in job.run().scan(file)?.places {
//!         index.add(job.run(), place)?;
//!     }
//! }
//! let places = index.shares_of_result(block).expect("nothing of it is missing");
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
mod index;
mod job;
mod key;
mod layout;
mod lock;
mod properties;
mod reader;
mod record;
mod report;
mod scan;
mod scratch;
mod summary;
mod writer;

pub use catalog::{Catalog, Name};
pub use checkpoint::{Checkpoint, StartMode};
pub use codec::Codec;
pub use durable::{open_own, open_private, open_regular};
pub use error::Error;
pub use holder::LockHolder;
pub use index::ResultIndex;
pub use key::{ResultKey, ResultKind, ShareRange};
pub use layout::{FileId, MAX_WRITERS, Run};
pub use lock::LOCK_TIMEOUT;
pub use properties::{
    DatabaseProperties, Difference, Differences, JobProperties, QueryDigest, QueryHasher,
    VolumeProperties,
};
pub use reader::Reader;
pub use record::{ENTRY_BYTES, HEADER_BYTES, StoredShare};
pub use report::SpooledReport;
pub use scan::{InvalidBytes, Scan, scan};
pub use scratch::ScratchFile;
pub use summary::Summary;
pub use writer::Writer;
