use crate::{
    b::{self, B},
    d::D as Other,
};
