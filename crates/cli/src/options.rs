//! The options of `blastp`: one table, the parser that reads a command line by it, and the help texts made from it.

pub mod number;
pub mod parse;
pub mod spec;
pub mod table;
pub mod typed;
pub mod usage;
