#[cfg(test)]
mod tests;

use super::second::S;
