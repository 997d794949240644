//! Names and texts in JSON, as NCBI's toolkit writes them (`CObjectOStreamJson`, objostrjson.cpp).

use crate::text;

/// Appends the name of a member and the colon after it. It has underscores instead of hyphens.
pub fn append_member_name(name: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend(name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte }));
    out.extend_from_slice(b"\": ");
}

/// Appends a JSON string: the text up to its first zero byte, which ends a C string. Bytes above
/// ASCII are copied, as BLAST+ takes the text for UTF-8.
pub fn append_string(text: &[u8], out: &mut Vec<u8>) {
    let text = text::before_zero(text);
    out.push(b'"');
    let is_escaped = |byte| matches!(byte, b'"' | b'\\' | 0..0x20);
    text::append_escaped(text, out, is_escaped, |byte, out| match byte {
        0..0x20 => out.extend_from_slice(format!("\\u00{byte:02X}").as_bytes()),
        _ => out.extend([b'\\', byte]),
    });
    out.push(b'"');
}
