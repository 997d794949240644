//! Scoring systems and their statistics: matrices, Karlin–Altschul and Gumbel parameters, length adjustment, e-values.
//!
//! This layer scores residues but knows nothing of where sequences come from.
