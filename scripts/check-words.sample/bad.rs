//! Tells of blocks, as what a block is told.

/// So many queries are reported, of which some wait; a line that goes on and on until it is above one hundred columns.
pub struct Teller {
    pub heard_from: u64,
}

mod other {
    pub struct Teller;
}

impl Teller {
    /* A block comment that
    judges what is worth a look. */
    fn of(&self) -> &'static str {
        let judge = 'j';
        let _ = (judge, "a message that tells nothing is not looked at", r#"nor "told""#);
        "told"
    }
}

/// What a block needs.
pub struct Block;
