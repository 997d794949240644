//! One search on many processes: who does which work when, and where in the one output file every
//! byte goes.
//!
//! There are three roles. Each is a state machine without clock, threads, input or output:
//! * The [`Supermaster`](supermaster::Supermaster) owns the queue of query blocks and hands
//!   segments of it to the groups. It computes where in the output every block begins.
//! * A [`Master`](master::Master) per group gives the tasks (block × partition of the database) of
//!   its blocks to its workers (Algorithm 1 of Lin et al., "Massively Parallel Genomic Sequence
//!   Search on the Blue Gene/P Architecture", SC'08). It merges their results and lays out the
//!   output of each block.
//! * A [`Worker`](worker::Worker) searches, keeps its results until the block is done, formats, and
//!   writes.
//!
//! A *driver* hosts roles on its ranks. It hands each [`Event`](role::Event) to a role and carries
//! out the [`Action`](role::Action)s that the role returns. These are messages to other roles, and
//! *works*: search a task, merge a result, write bytes at an offset, and so on. The outcome of a
//! work is a later event. Only the code that carries out works knows what queries, hits and
//! formatted pieces look like; here they are [`Payload`](payload::Payload)s of some size. So the
//! same code runs on threads, on MPI, and in the [simulator](sim).
//!
//! [`plan`] lays a job out over its ranks. [`config`] has the settings that all roles share.
//! [`loading`] describes how all ranks load the database together before the first event.
//!
//! # Life of a block
//! 1. The supermaster reads the block from the input and hands it to a group.
//! 2. The group's master prepares the queries, then assigns the tasks. A worker gets the queries
//!    with its first task of the block. The master merges results as they arrive, and sends the
//!    rising cut to the workers that still search the block.
//! 3. When the results of all partitions have arrived, *rounds* follow. For each partition
//!    concerned, the master asks a worker that holds it and has the queries for more: alignments
//!    first, then formatted pieces. The rounds end when the master can lay out the block's output.
//! 4. Or the block is searched again with other queries: another *pass*, which begins again at 2,
//!    before blocks that have not begun. Cuts, results, rounds and replies belong to one pass and
//!    mean nothing in another. Only formatted pieces outlive their pass, until the block's output
//!    is written.
//! 5. With a checkpoint, the output is made durable first.
//! 6. The master sends the size of the output to the supermaster. The supermaster answers with the
//!    offset once it knows the sizes of all earlier blocks.
//! 7. The workers write the output there by the chosen strategy ([`config::Strategy`]).
//!
//! # Drain
//! Workers finish the task that they search, and drop the tasks that wait. A master drops the
//! blocks that lose tasks. It also drops blocks that need another pass, because all the tasks of
//! that pass would be dropped. A pass that is to be kept is durable before the works ask for the
//! next one, so nothing of it is lost. A later run begins with the pass after it
//! ([`work::MasterOutcome::Prepared`]).
//!
//! # Memory
//! A worker never holds more than [`config::Config::result_memory`] bytes of output. Formatting
//! gets a budget, and the work itself spools the bytes beyond it. Collecting and sending go in
//! windows of at most [`config::Config::write_buffer`] bytes, for which memory is reserved. The
//! supermaster hands out no more segments while the output that waits for its offset exceeds
//! [`config::Config::waiting_limit`]. Blocks are handed out in order, so the oldest unfinished
//! block is always being searched, and the waiting ends.

pub mod config;
pub mod end;
pub mod health;
pub mod ids;
pub mod loading;
pub mod master;
pub mod message;
pub mod payload;
pub mod plan;
pub mod role;
pub mod seams;
pub mod sim;
pub mod supermaster;
pub mod topology;
pub mod traffic;
pub mod work;
pub mod worker;
