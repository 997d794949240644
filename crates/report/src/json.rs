//! Names and texts in JSON, as NCBI's toolkit writes them (`CObjectOStreamJson`, objostrjson.cpp).

/// Returns the JSON name of a member, which has underscores instead of hyphens.
pub fn member_name(name: &str) -> String {
    name.replace('-', "_")
}

/// Appends a JSON string: the text up to its first zero byte, which ends a C string. Bytes above
/// ASCII are copied, as BLAST+ takes the text for UTF-8.
pub fn append_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.iter().take_while(|&&byte| byte != 0) {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            0x20.. => out.push(byte),
            _ => out.extend_from_slice(format!("\\u00{byte:02X}").as_bytes()),
        }
    }
    out.push(b'"');
}
