mod first;
mod second;
mod third;
use crate::d;
