//! Tests of jobs without command line and terminal.

mod plans;
#[path = "../../../db/tests/black_box/common/mod.rs"]
mod volumes;

mod audience;
mod corruption;
