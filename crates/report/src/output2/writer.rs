//! Writes objects, lists and values in JSON and in XML as NCBI's serial library does
//! (objostrjson.cpp, objostrxml.cpp).
//!
//! A library that writes JSON or XML would not give these bytes: each value is on a line of its
//! own, and an empty list takes one line in XML but two in JSON.

use std::fmt::{self, Display};
use std::io::Write;

use fleetblast_stats::release::XmlEncoding;

use crate::error::ReportError;
use crate::json;
use crate::model::Notation;
use crate::text;

/// Spaces for each level of depth.
const INDENT: usize = 2;

impl Notation {
    /// Returns the number of nesting levels that an object takes as the member of another one.
    pub fn levels_of_object(self) -> usize {
        match self {
            Notation::Json => 1,
            Notation::Xml => 2,
        }
    }

    /// Returns the nesting depth of the members of a query's object.
    pub fn depth_of_root(self) -> usize {
        match self {
            Notation::Json => 2,
            Notation::Xml => 1,
        }
    }
}

/// Appends members of an object, or items of a list.
#[derive(Debug)]
pub struct Writer<'o> {
    notation: Notation,
    encoding: XmlEncoding,
    /// Nesting depth of the next member or item.
    depth: usize,
    /// Whether the object or the list already has a member or an item.
    has_previous: bool,
    out: &'o mut Vec<u8>,
}

impl<'o> Writer<'o> {
    /// Creates a writer that continues within an object or a list. `depth` is the nesting depth of
    /// its members; `has_previous` states whether it already has a member or an item.
    pub fn within(
        (notation, encoding): (Notation, XmlEncoding),
        depth: usize,
        has_previous: bool,
        out: &'o mut Vec<u8>,
    ) -> Writer<'o> {
        Writer { notation, encoding, depth, has_previous, out }
    }

    /// Ends the object of a query, which may be a document.
    pub fn end(&mut self, is_document: bool) {
        self.out.extend_from_slice(match self.notation {
            Notation::Json if is_document => &b"\n  }\n}\n"[..],
            Notation::Json => b"\n  }\n",
            Notation::Xml => b"\n</BlastOutput2>\n",
        });
    }

    /// Begins a member with an object of the type `kind`.
    pub fn open(&mut self, name: &str, kind: &str) {
        match self.notation {
            Notation::Json => self.begin_member(name, "{"),
            Notation::Xml => {
                self.tag(name);
                self.tag(kind);
            }
        }
    }

    /// Ends the object of a member.
    pub fn close(&mut self, name: &str, kind: &str) {
        match self.notation {
            Notation::Json => self.end_with("}"),
            Notation::Xml => {
                self.end_tag(kind);
                self.end_tag(name);
            }
        }
    }

    /// Begins a member with a list.
    pub fn open_list(&mut self, name: &str) {
        match self.notation {
            Notation::Json => self.begin_member(name, "["),
            Notation::Xml => self.tag(name),
        }
    }

    /// Ends a list.
    pub fn close_list(&mut self, name: &str) {
        match self.notation {
            Notation::Json => self.end_with("]"),
            Notation::Xml => self.end_tag(name),
        }
    }

    /// Begins an item of a list, an object of the type `kind`.
    pub fn open_item(&mut self, kind: &str) {
        match self.notation {
            Notation::Json => {
                self.begin_line();
                self.enter("{");
            }
            Notation::Xml => self.tag(kind),
        }
    }

    /// Ends an item of a list.
    pub fn close_item(&mut self, kind: &str) {
        match self.notation {
            Notation::Json => self.end_with("}"),
            Notation::Xml => self.end_tag(kind),
        }
    }

    /// Writes a member with a number, or with a text that needs no escape.
    pub fn value(&mut self, name: &str, value: impl Display) {
        self.begin_line();
        match self.notation {
            Notation::Json => {
                json::append_member_name(name, self.out);
                self.append(format_args!("{value}"));
            }
            Notation::Xml => self.append(format_args!("<{name}>{value}</{name}>")),
        }
    }

    /// Writes a member with a text.
    ///
    /// # Errors
    /// [`ReportError::XmlText`] if XML cannot have the text.
    pub fn text(&mut self, name: &str, text: &[u8]) -> Result<(), ReportError> {
        self.begin_line();
        match self.notation {
            Notation::Json => {
                json::append_member_name(name, self.out);
                json::append_string(text, self.out);
            }
            Notation::Xml => self.element(name, text)?,
        }
        Ok(())
    }

    /// Writes a member with a list of texts.
    ///
    /// # Errors
    /// [`ReportError::XmlText`] if XML cannot have a text.
    pub fn texts(&mut self, name: &str, texts: &[Vec<u8>]) -> Result<(), ReportError> {
        match self.notation {
            Notation::Json => {
                self.open_list(name);
                for text in texts {
                    self.begin_line();
                    json::append_string(text, self.out);
                }
                self.close_list(name);
            }
            Notation::Xml => {
                for text in texts {
                    self.begin_line();
                    self.element(name, text)?;
                }
            }
        }
        Ok(())
    }

    fn append(&mut self, text: fmt::Arguments) {
        self.out.write_fmt(text).expect("writing to memory cannot fail");
    }

    /// Begins the line of a member or of an item.
    fn begin_line(&mut self) {
        if self.has_previous && self.notation == Notation::Json {
            self.out.push(b',');
        }
        self.new_line();
        self.has_previous = true;
    }

    fn new_line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + INDENT * self.depth, b' ');
    }

    /// Begins a JSON object or list that is the value of the member `name`; `bracket` opens it.
    fn begin_member(&mut self, name: &str, bracket: &str) {
        self.begin_line();
        json::append_member_name(name, self.out);
        self.enter(bracket);
    }

    /// Appends text that begins an object or a list, and goes one level deeper.
    fn enter(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.depth += 1;
        self.has_previous = false;
    }

    /// Ends a JSON object or list.
    fn end_with(&mut self, bracket: &str) {
        self.depth -= 1;
        self.new_line();
        self.out.extend_from_slice(bracket.as_bytes());
        self.has_previous = true;
    }

    /// Begins an XML element that will contain other elements.
    fn tag(&mut self, name: &str) {
        self.begin_line();
        self.append(format_args!("<{name}>"));
        self.enter("");
    }

    /// Ends an XML element that contains other elements or none.
    fn end_tag(&mut self, name: &str) {
        self.depth -= 1;
        if self.has_previous {
            self.new_line();
        }
        self.append(format_args!("</{name}>"));
        self.has_previous = true;
    }

    /// Appends an XML element that contains only text.
    fn element(&mut self, name: &str, text: &[u8]) -> Result<(), ReportError> {
        self.append(format_args!("<{name}>"));
        text::append_escaped_xml(text, self.encoding, self.out)?;
        self.append(format_args!("</{name}>"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_commas_underscores_and_escapes() {
        let mut out = Vec::new();
        let mut writer = Writer::within((Notation::Json, XmlEncoding::Latin1), 2, false, &mut out);
        writer.open("search-target", "Target");
        writer.texts("subjects", &[b"a \"b\" \\".to_vec(), b"\n<".to_vec()]).expect("texts");
        writer.close("search-target", "Target");
        writer.open_list("query-masking");
        writer.close_list("query-masking");
        writer.open_list("hits");
        for number in 1..3 {
            writer.open_item("Hit");
            writer.value("num", number);
            writer.close_item("Hit");
        }
        writer.close_list("hits");
        writer.end(false);
        let lines = [
            "",
            "    \"search_target\": {",
            "      \"subjects\": [",
            "        \"a \\\"b\\\" \\\\\",",
            "        \"\\u000A<\"",
            "      ]",
            "    },",
            "    \"query_masking\": [",
            "    ],",
            "    \"hits\": [",
            "      {",
            "        \"num\": 1",
            "      },",
            "      {",
            "        \"num\": 2",
            "      }",
            "    ]",
            "  }",
            "",
        ];
        assert_eq!(String::from_utf8(out).expect("ASCII"), lines.join("\n"));
    }

    #[test]
    fn xml_has_an_element_for_each_type() {
        let mut out = Vec::new();
        let mut writer = Writer::within((Notation::Xml, XmlEncoding::Latin1), 1, false, &mut out);
        writer.open("search-target", "Target");
        writer.texts("subjects", &[b"a \"b\"".to_vec(), b"\n<".to_vec()]).expect("a text");
        writer.close("search-target", "Target");
        writer.open_list("hits");
        writer.close_list("hits");
        writer.end(false);
        let lines = [
            "",
            "  <search-target>",
            "    <Target>",
            "      <subjects>a &quot;b&quot;</subjects>",
            "      <subjects>&#xa;&lt;</subjects>",
            "    </Target>",
            "  </search-target>",
            "  <hits></hits>",
            "</BlastOutput2>",
            "",
        ];
        assert_eq!(String::from_utf8(out).expect("ASCII"), lines.join("\n"));
    }
}
