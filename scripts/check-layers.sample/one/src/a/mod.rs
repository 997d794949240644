// Imports b deep inside, in a group.
mod inner;
pub struct A;
