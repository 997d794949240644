use super::third::T;
