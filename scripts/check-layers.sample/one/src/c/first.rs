use super::second::S;
