//! Encodes blocks.

/// Counts queries that another rank reported; `told` in code is no prose.
pub struct MetadataEncoder {
    /// Time of the last message.
    pub last_message: u64,
}

impl MetadataEncoder {
    fn encode_query(&self) -> &'static str {
        let (quote, hash) = ('"', r##"told "# judge"##);
        let _ = (quote, hash, b'\'', "told \" judge");
        "told"
    }
}
