//! Values of ASN.1 as text, as NCBI's toolkit prints them (`CObjectOStreamAsn`, objostrasn.cpp; `COStreamBuffer`, strbuffer.cpp).

use super::tree::Value;

/// Columns after which a line of text or bytes is broken.
const WIDTH: usize = 78;

/// Appends a value, with the name of its type and a line end.
pub fn print(name: &str, value: &Value, out: &mut Vec<u8>) {
    let mut printer = Printer { out, line: 0 };
    printer.put(name.as_bytes());
    printer.put(b" ::= ");
    printer.value(value, 0);
    printer.end_line();
}

struct Printer<'a> {
    out: &'a mut Vec<u8>,
    /// Columns of the last line.
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

    fn value(&mut self, value: &Value, depth: usize) {
        match value {
            Value::Integer(number) => self.put(number.to_string().as_bytes()),
            Value::Real(number) => self.put(real(*number).as_bytes()),
            Value::Word(word) => self.put(word.as_bytes()),
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => self.bytes(bytes),
            Value::Choice(name, value) => {
                self.put(name.as_bytes());
                self.put(b" ");
                self.value(value, depth);
            }
            Value::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| (Some(*name), value));
                self.block(fields, depth);
            }
            Value::List(values) => self.block(values.iter().map(|value| (None, value)), depth),
        }
    }

    fn block<'a>(
        &mut self,
        values: impl Iterator<Item = (Option<&'static str>, &'a Value)>,
        depth: usize,
    ) {
        self.put(b"{");
        for (i, (name, value)) in values.enumerate() {
            if i > 0 {
                self.put(b",");
            }
            self.end_line();
            self.indent(depth + 1);
            if let Some(name) = name {
                self.put(name.as_bytes());
                self.put(b" ");
            }
            self.value(value, depth + 1);
        }
        self.end_line();
        self.indent(depth);
        self.put(b"}");
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
            // What cannot be seen is printed as `#`.
            let byte = if matches!(byte, b' '..=b'~') { byte } else { b'#' };
            self.put(&[byte]);
            if byte == b'"' {
                self.put(b"\"");
            }
        }
        self.put(b"\"");
    }

    /// Breaks the last line before its last blank, or where it is full if there is none.
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
        // No two breaks after each other.
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

/// A number with 15 digits, as mantissa, base and exponent.
fn real(number: f64) -> String {
    if number == 0.0 {
        return "{ 0, 10, 0 }".to_owned();
    }
    let text = format!("{number:.14e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits.replace('.', "");
    let kept = digits.trim_end_matches('0');
    let sign = usize::from(kept.starts_with('-'));
    let exponent = exponent - (kept.len() - sign - 1) as i32;
    format!("{{ {kept}, 10, {exponent} }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_fifteen_digits_without_zeros_at_their_end() {
        let all = [0.0, 1.0, -2.5, 0.267, 1_000_000.0, 0.038_875_291_065_279_4, 1.0 / 3.0];
        assert_eq!(
            all.map(real),
            [
                "{ 0, 10, 0 }",
                "{ 1, 10, 0 }",
                "{ -25, 10, -1 }",
                "{ 267, 10, -3 }",
                "{ 1, 10, 6 }",
                "{ 388752910652794, 10, -16 }",
                "{ 333333333333333, 10, -15 }"
            ]
        );
    }

    // The title of `psiblast -out_pssm`.
    #[test]
    fn long_texts_are_broken_before_blanks() {
        let title = "q1 a very long title with \"quotes\" inside and more and more text so that the line must be broken \
                     somewhere when written down, is it not? yes it is and further on";
        let mut out = Vec::new();
        let value = Value::Fields(vec![("title", Value::Text(title.into()))]);
        print("A", &value, &mut out);
        let lines: Vec<&[u8]> = out.split(|&byte| byte == b'\n').collect();
        assert_eq!(lines[1].len(), 69, "{}", String::from_utf8_lossy(&out));
        assert!(lines[2].starts_with(b" when") || lines[2].starts_with(b" text"));
        assert!(out.windows(10).any(|bytes| bytes == b"\"\"quotes\"\""));
    }
}
