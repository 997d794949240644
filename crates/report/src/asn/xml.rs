//! Prints ASN.1 values as XML, as NCBI's toolkit does (`CObjectOStreamXml`, objostrxml.cpp).

use super::schema::{AsnType, Member};
use super::tree::AsnValue;
use crate::text::append_escaped_xml_byte;

/// Number of blanks by which a block is indented.
const INDENT: usize = 2;

/// Appends the lines before an object of the type `name`, which is defined in NCBI's `module`.
pub fn start_xml(name: &str, module: &str, out: &mut Vec<u8>) {
    let text = format!(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE {name} PUBLIC \"-//NCBI//NCBI {module}/EN\" \
         \"NCBI_{module}.dtd\">\n"
    );
    out.extend(text.into_bytes());
}

/// Appends a value of a named type as an element at this depth, with a line end.
///
/// # Panics
/// If the type has no name, or the value is not of the type.
pub fn print_xml_element(value: &AsnValue, kind: &AsnType, depth: usize, out: &mut Vec<u8>) {
    let AsnType::Named(name, kind) = kind else { panic!("a type without a name") };
    element(name, name, value, kind, depth, out);
}

/// Appends an element with this tag. The tags of its members begin with `owner`, the name of the
/// type.
fn element(
    tag: &str,
    owner: &str,
    value: &AsnValue,
    kind: &AsnType,
    depth: usize,
    out: &mut Vec<u8>,
) {
    let start = |out: &mut Vec<u8>, end: &str| {
        out.resize(out.len() + INDENT * depth, b' ');
        out.extend(format!("<{tag}{end}").into_bytes());
    };
    match (value, kind) {
        (AsnValue::Boolean(value), AsnType::Boolean) => {
            return start(out, &format!(" value=\"{value}\"/>\n"));
        }
        (AsnValue::Word(word), AsnType::Enumerated(_)) => {
            return start(out, &format!(" value=\"{word}\"/>\n"));
        }
        _ => start(out, ">"),
    }
    let mut inner = Vec::new();
    match (value, kind) {
        (AsnValue::Integer(number), AsnType::Integer) => {
            out.extend(number.to_string().into_bytes());
        }
        (AsnValue::Text(text), AsnType::Text) => {
            text.iter().for_each(|&byte| append_escaped_xml_byte(byte, out))
        }
        (value, AsnType::Named(..)) => print_xml_element(value, kind, depth + 1, &mut inner),
        (AsnValue::Choice(name, value), AsnType::Choice(members)) => {
            member_element(owner, name, value, members, depth + 1, &mut inner);
        }
        (AsnValue::Fields(fields), AsnType::Fields(members)) => {
            for (name, value) in fields {
                member_element(owner, name, value, members, depth + 1, &mut inner);
            }
        }
        (AsnValue::List(values), AsnType::SequenceOf(kind) | AsnType::SetOf(kind)) => {
            values.iter().for_each(|value| print_xml_element(value, kind, depth + 1, &mut inner));
        }
        (value, _) => panic!("a value of another type: {value:?}"),
    }
    if !inner.is_empty() {
        out.push(b'\n');
        out.extend(inner);
        out.resize(out.len() + INDENT * depth, b' ');
    }
    out.extend(format!("</{tag}>\n").into_bytes());
}

fn member_element(
    owner: &str,
    name: &str,
    value: &AsnValue,
    members: &[Member],
    depth: usize,
    out: &mut Vec<u8>,
) {
    let found = members.iter().find(|member| member.name == name);
    let member = found.unwrap_or_else(|| panic!("{name} is no member of {owner}"));
    let tag = format!("{owner}_{name}");
    element(&tag, &tag, value, member.kind, depth, out);
}
