//! Prints ASN.1 values as JSON, as NCBI's toolkit does (`CObjectOStreamJson`, objostrjson.cpp).

use super::tree::AsnValue;
use crate::json;
use crate::number;

/// Number of blanks by which a block is indented.
const INDENT: usize = 2;

/// Appends a line break and an item of a block at this depth: the name of the item, if it has one,
/// and its value. The caller writes the commas and the brackets of the block.
pub fn print_json_item(name: Option<&str>, value: &AsnValue, depth: usize, out: &mut Vec<u8>) {
    new_line(depth, out);
    if let Some(name) = name {
        json::append_member_name(name, out);
    }
    print_value(value, depth, out);
}

fn print_value(value: &AsnValue, depth: usize, out: &mut Vec<u8>) {
    match value {
        AsnValue::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
        AsnValue::Real(number) => out.extend_from_slice(number::posix(*number).as_bytes()),
        AsnValue::Text(text) => json::append_string(text, out),
        AsnValue::Bytes(_) => unreachable!("no JSON report has octet strings"),
        AsnValue::Boolean(value) => out.extend_from_slice(value.to_string().as_bytes()),
        AsnValue::Word(word) => json::append_string(word.as_bytes(), out),
        AsnValue::Choice("pdb", value) => {
            let completed = with_default_chain(value);
            print_block(b"{}", [(Some("pdb"), &completed)].into_iter(), depth, out);
        }
        AsnValue::Choice(name, value) => {
            print_block(b"{}", [(Some(*name), &**value)].into_iter(), depth, out);
        }
        AsnValue::Fields(fields) => {
            let fields = fields.iter().map(|(name, value)| (Some(*name), value));
            print_block(b"{}", fields, depth, out);
        }
        AsnValue::List(values) => {
            print_block(b"[]", values.iter().map(|value| (None, value)), depth, out);
        }
    }
}

/// Returns a `PDB-seq-id` with its chain. In JSON the toolkit also writes members that have their
/// default value.
fn with_default_chain(id: &AsnValue) -> AsnValue {
    const NAME: &str = "chain";
    const DEFAULT: u8 = b' ';
    match id {
        AsnValue::Fields(fields) if fields.iter().all(|(name, _)| *name != NAME) => {
            let mut fields = fields.clone();
            // After the molecule.
            fields.insert(1, (NAME, AsnValue::integer(DEFAULT)));
            AsnValue::Fields(fields)
        }
        id => id.clone(),
    }
}

fn print_block<'a>(
    brackets: &[u8; 2],
    items: impl Iterator<Item = (Option<&'a str>, &'a AsnValue)>,
    depth: usize,
    out: &mut Vec<u8>,
) {
    out.push(brackets[0]);
    for (number, (name, value)) in items.enumerate() {
        if number > 0 {
            out.push(b',');
        }
        print_json_item(name, value, depth + 1, out);
    }
    new_line(depth, out);
    out.push(brackets[1]);
}

fn new_line(depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    out.resize(out.len() + INDENT * depth, b' ');
}

#[cfg(test)]
mod tests {
    use fleetblast_seq::id::SeqId;

    use super::super::seq_id;
    use super::*;

    #[test]
    fn chains_of_other_than_one_letter_have_the_default_number() {
        for (chain, shown) in [
            ("AA", r#"{"pdb":{"mol":"1ABC","chain":32,"chain_id":"AA"}}"#),
            ("", r#"{"pdb":{"mol":"1ABC","chain":32}}"#),
            ("A", r#"{"pdb":{"mol":"1ABC","chain":65,"chain_id":"A"}}"#),
        ] {
            let id = SeqId::Pdb { mol: b"1ABC".to_vec(), chain: chain.into() };
            let mut text = Vec::new();
            print_value(&seq_id::value(&id), 0, &mut text);
            text.retain(|byte| !byte.is_ascii_whitespace());
            assert_eq!(String::from_utf8_lossy(&text), shown);
        }
    }
}
