//! One search on many processes: who does what when, and where in the one output file every byte goes.
//!
//! Three roles, each a state machine without clock, thread, or input and output:
//! * the [`Supermaster`](supermaster::Supermaster) owns the queue of query blocks, hands segments of it to the groups,
//!   and knows where in the output every block begins;
//! * a [`Master`](master::Master) per group has the tasks (block × partition of the database) of its blocks searched by
//!   its workers (Algorithm 1 of Lin et al., "Massively Parallel Genomic Sequence Search on the Blue Gene/P
//!   Architecture", SC'08), merges what they find, and lays the block's output out;
//! * a [`Worker`](worker::Worker) searches, keeps what it found until the block is done, formats, and writes.
//!
//! A *driver* hosts roles on its ranks: it hands each [`Event`](role::Event) to the role and carries out the
//! [`Action`](role::Action)s that come back: messages to other roles, and *works* (search a task, merge a result, write
//! bytes at an offset, ...) whose outcome is a later event. What queries, hits and formatted pieces are is known to
//! whoever carries out the works; here they are [`Payload`](payload::Payload)s of some size. So the same code runs on
//! threads, on MPI, and in the [simulator](sim).
//!
//! [`plan`] lays a job out over its ranks; [`config`] has the settings that all roles share; [`loading`] is how all ranks
//! bring the database into memory together, before the first event.
//!
//! # Life of a block
//! 1. The supermaster reads it from the input and hands it to a group.
//! 2. The group's master prepares its queries, then gives its tasks out; a worker gets the queries with its first task on
//!    the block. Results are absorbed as they come, and the rising cut goes to those who still search the block.
//! 3. When all partitions are in, *rounds*: for each partition in question the master asks a worker that holds it and has
//!    the queries for more (alignments, then formatted pieces), until it can say how the block's output is laid out.
//! 4. Or it says that the block is to be searched once more, with other queries: another *pass*, which begins again at 2,
//!    before blocks that have not begun. Cuts, results, rounds, and replies are of one pass and mean nothing in another;
//!    only formatted pieces of a pass outlive it, until the block's output is written.
//! 5. With a checkpoint, the output is made durable first.
//! 6. Its size goes to the supermaster, which answers with the offset once the sizes of all earlier blocks are known.
//! 7. It is written there by the strategy chosen ([`config::Strategy`]).
//!
//! # Drain
//! Workers finish the task that they search, and drop those that wait. A master drops the blocks that lose tasks, and those
//! that would be searched once more: all the tasks of their next pass would be dropped. Since a pass that is to be kept is
//! durable before the works ask for the next one, nothing of it is lost; a later run begins with the pass after it
//! ([`work::MasterOutcome::Prepared`]).
//!
//! # Memory
//! A worker never holds more than [`config::Config::result_memory`] bytes of output: formatting gets a budget and what
//! goes beyond it is spooled by the work itself; collecting and sending go in windows of at most
//! [`config::Config::write_buffer`] bytes, for which room is set aside. The supermaster hands out no more segments while
//! the output that waits for its offset exceeds [`config::Config::waiting_limit`]; since blocks are handed out in order,
//! the oldest unfinished one is always under way, so this ends.

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
