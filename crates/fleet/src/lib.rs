//! Distributes one search over many processes: assigns its tasks to workers, and computes the
//! offset of every byte in the one output file.
//!
//! There are three roles. Each is a state machine without clock, threads, input or output:
//! * The [`Supermaster`](supermaster::Supermaster) owns the queue of query blocks and hands out
//!   *query segments*, which are a few blocks each, to the groups. It computes the offset of every
//!   block in the output.
//! * Each group has a [`Master`](master::Master). It gives the tasks (block × partition of the
//!   database) of its blocks to its workers (Algorithm 1 of Lin et al., "Massively Parallel Genomic
//!   Sequence Search on the Blue Gene/P Architecture", SC'08). It merges their results and lays out
//!   the output of each block.
//! * A [`Worker`](worker::Worker) searches tasks, keeps its results until the block is done,
//!   formats them, and writes output.
//!
//! A *driver* hosts roles on its ranks. It hands each [`Event`](role::Event) to a role and carries
//! out the [`Action`](role::Action)s that the role returns. These are messages to other roles, and
//! *works*: search a task, merge a result, write bytes at an offset, and so on. The outcome of a
//! work is a later event. Only the code that carries out works knows the contents of queries, hits
//! and formatted pieces. In this crate they are [`Payload`](payload::Payload)s of some size. So the
//! same code runs on threads, on MPI, and in the [simulator](sim).
//!
//! [`plan`] lays a job out over its ranks. [`config`] has the settings that all roles share.
//! [`loading`] describes how all ranks load the database together before the first event.
//!
//! # Life of a block
//! 1. The supermaster reads the block from the input and hands it to a group.
//! 2. The group's master prepares the queries, then assigns the tasks. A worker gets the queries
//!    with its first task of the block. The master merges results as they arrive. From time to time
//!    it sends the *cut* to the workers that still search the block. The cut is the worst hit that
//!    each query's full hit list holds: workers drop worse hits.
//! 3. When the results of all partitions have arrived, *rounds* follow. In a round, the master
//!    asks workers questions about partitions: first for alignments, then for formatted pieces.
//!    Each question goes to a worker that holds the partition and has the queries. The rounds end
//!    when the master can lay out the block's output.
//! 4. Instead, the block may be searched again with other queries. This is another *pass*, which
//!    begins again at 2, before blocks that have not begun. Cuts, results, rounds and replies
//!    belong to one pass and are ignored in another. Only formatted pieces outlive their pass,
//!    until the block's output is written.
//! 5. With a checkpoint, the workers first make the output durable.
//! 6. The master sends the size of the output to the supermaster. The supermaster answers with
//!    the offset once it knows the sizes of all earlier blocks.
//! 7. The workers write the output at that offset by the chosen strategy ([`config::Strategy`]).
//! # Drain
//! A drain ends the job early. Workers finish the task that they search, and drop the tasks that
//! wait. A master drops the blocks that lose tasks. It also drops blocks that need another pass,
//! because workers would drop all tasks of that pass. The data of a pass that a later run needs are
//! durable before the next pass begins, so nothing of it is lost. The later run begins with the
//! next pass ([`work::MasterOutcome::Prepared`]).
//!
//! # Memory
//! A worker never holds more than [`config::Config::result_memory`] bytes of output. A work that
//! formats gets a budget, and writes the bytes beyond it to a spool. Workers collect and send
//! output in windows of at most [`config::Config::write_buffer`] bytes, for which they reserve
//! memory. While more than [`config::Config::waiting_limit`] bytes of output wait for their offset,
//! the supermaster hands out no further query segments. The oldest unfinished block is excepted:
//! all others wait for it, so it is always being searched and the waiting ends.

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
