//! Prints ASN.1 values as text, as NCBI's toolkit does (`CObjectOStreamAsn`, objostrasn.cpp;
//! `COStreamBuffer`, strbuffer.cpp).

use super::real::format_real;
use super::tree::AsnValue;

/// Number of columns after which a line of text or bytes is broken.
const WIDTH: usize = 78;

/// Appends a value as ASN.1 text, after the name of its type, and a line end.
pub fn print_asn_text(name: &str, value: &AsnValue, out: &mut Vec<u8>) {
    let mut printer = Printer { out, line: 0 };
    printer.put(name.as_bytes());
    printer.put(b" ::= ");
    printer.value(value, 0);
    printer.end_line();
}

/// Appends a line break and an item of a block at this depth: the name of the item, if it has one,
/// and its value. The caller writes the commas and the braces of the block.
pub fn print_item(name: Option<&str>, value: &AsnValue, depth: usize, out: &mut Vec<u8>) {
    out.push(b'\n');
    let mut printer = Printer { out, line: 0 };
    printer.item(name, value, depth);
}

struct Printer<'a> {
    out: &'a mut Vec<u8>,
    /// Number of columns printed in the current line.
    line: usize,
}

impl Printer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
        self.line += bytes.len();
    }

    fn end_line(&mut self) {
        self.out.push(b'\n');
        self.line = 0;
    }

    fn value(&mut self, value: &AsnValue, depth: usize) {
        match value {
            AsnValue::Integer(number) => self.put(number.to_string().as_bytes()),
            AsnValue::Real(number) => self.put(format_real(*number).as_bytes()),
            AsnValue::Boolean(value) => self.put(if *value { b"TRUE" } else { b"FALSE" }),
            AsnValue::Word(word) => self.put(word.as_bytes()),
            AsnValue::Text(text) => self.text(text),
            AsnValue::Bytes(bytes) => self.bytes(bytes),
            AsnValue::Choice(name, value) => {
                self.put(name.as_bytes());
                self.put(b" ");
                self.value(value, depth);
            }
            AsnValue::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| (Some(*name), value));
                self.block(fields, depth);
            }
            AsnValue::List(values) => self.block(values.iter().map(|value| (None, value)), depth),
        }
    }

    fn block<'a>(
        &mut self,
        values: impl Iterator<Item = (Option<&'static str>, &'a AsnValue)>,
        depth: usize,
    ) {
        self.put(b"{");
        for (i, (name, value)) in values.enumerate() {
            if i > 0 {
                self.put(b",");
            }
            self.end_line();
            self.item(name, value, depth + 1);
        }
        self.end_line();
        self.indent(depth);
        self.put(b"}");
    }

    fn item(&mut self, name: Option<&str>, value: &AsnValue, depth: usize) {
        self.indent(depth);
        if let Some(name) = name {
            self.put(name.as_bytes());
            self.put(b" ");
        }
        self.value(value, depth);
    }

    fn indent(&mut self, depth: usize) {
        self.put(&b" ".repeat(2 * depth));
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.put(b"'");
        for byte in bytes {
            self.break_full_line();
            self.put(format!("{byte:02X}").as_bytes());
        }
        self.break_full_line();
        self.put(b"'H");
    }

    fn break_full_line(&mut self) {
        if self.line >= WIDTH {
            self.end_line();
        }
    }

    fn text(&mut self, text: &[u8]) {
        self.put(b"\"");
        for &byte in text {
            if self.line > WIDTH {
                self.break_at_word();
            }
            // Characters that are not printable become `#`.
            let byte = if matches!(byte, b' '..=b'~') { byte } else { b'#' };
            self.put(&[byte]);
            if byte == b'"' {
                self.put(b"\"");
            }
        }
        self.put(b"\"");
    }

    /// Breaks the current line before its last blank. If there is none, breaks it at its full
    /// width.
    fn break_at_word(&mut self) {
        let start = self.out.len() - self.line;
        let line = &self.out[start..];
        let mut at = line.len();
        let mut found = false;
        while at > 0 {
            at -= 1;
            if at <= WIDTH && (line[at].is_ascii_whitespace() || line[at] == b'\'') {
                found = true;
                break;
            }
            if line[at] == b'"' {
                break;
            }
        }
        // A line without a blank, or with one at its start only, is broken at its full width, but
        // not between two quotes.
        if !found || at == 0 && start > 0 {
            at = at.max(WIDTH);
            while at > 0 && line[at - 1] == b'"' {
                at -= 1;
            }
        }
        self.out.insert(start + at, b'\n');
        self.line -= at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected lines: the title in a checkpoint of `psiblast -out_pssm`.
    #[test]
    fn long_texts_are_broken_before_blanks() {
        let title = "q1 a very long title with \"quotes\" inside and more and more text so that the line must be broken \
                     somewhere when written down, is it not? yes it is and further on";
        let title = AsnValue::choice("title", AsnValue::Text(title.into()));
        let value = ["descr", "query", "pssm"].into_iter().fold(title, |value, name| match name {
            "descr" => AsnValue::Fields(vec![(name, AsnValue::List(vec![value]))]),
            name => AsnValue::Fields(vec![(name, value)]),
        });
        let mut out = Vec::new();
        print_asn_text("A", &value, &mut out);
        let text = String::from_utf8_lossy(&out);
        let lines: Vec<&str> = text.lines().skip(4).take(3).collect();
        assert_eq!(
            lines,
            [
                "        title \"q1 a very long title with \"\"quotes\"\" inside and more and more",
                " text so that the line must be broken somewhere when written down, is it not?",
                " yes it is and further on\""
            ]
        );
    }
}
