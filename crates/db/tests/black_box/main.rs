//! Databases from outside: one file a subject, in one test program, which is linked once.

mod common;

mod aliases;
mod check;
mod fingerprint;
mod headers;
mod held;
mod lmdb;
mod loading;
mod lookup;
mod masks;
mod oracle;
mod partitions;
mod volumes;
