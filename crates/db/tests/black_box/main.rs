//! Tests of databases by their public interface. There is one file for each topic, but one test
//! program, so that it is linked once.

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
