//! Names and index of a report of several files (formats 13 and 14): a document for each query, and
//! an index that names the documents (`x_WriteXML2`, `x_GenerateXML2MasterFile` and
//! `x_GenerateJSONMasterFile`, blast_format.cpp).

use crate::model::Notation;

impl Notation {
    /// Returns the ending of the names of documents.
    fn extension(self) -> &'static str {
        match self {
            Notation::Json => ".json",
            Notation::Xml => ".xml",
        }
    }

    /// Returns the bytes at the start of the first line of a document. No other line begins with
    /// them.
    pub fn document_start(self) -> &'static [u8] {
        match self {
            Notation::Json => b"{",
            Notation::Xml => b"<?xml",
        }
    }
}

/// Returns the path of the document with this number, from 1, of a report whose index has the path
/// `index`.
pub fn document_path(index: &[u8], notation: Notation, number: usize) -> Vec<u8> {
    let base = without_extension(index, notation.extension());
    [base, format!("_{number}{}", notation.extension()).as_bytes()].concat()
}

/// Returns the contents of the index at the path `index`, of this number of documents.
pub fn index_text(index: &[u8], notation: Notation, documents: usize) -> Vec<u8> {
    let name = index.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    // BLAST+ takes off `.xml` in both notations, so that an index of JSON may name other files.
    let base = without_extension(name, Notation::Xml.extension());
    let (start, before, after, end) = match notation {
        Notation::Json => ("{\n\t\"BlastJSON\": [\n", "\t\t{\"File\": \"", "\" }", "\t]\n}"),
        Notation::Xml => {
            let start = "<?xml version=\"1.0\"?>\n<BlastXML2\n\
                xmlns=\"http://www.ncbi.nlm.nih.gov\"\n\
                xmlns:xi=\"http://www.w3.org/2003/XInclude\"\n\
                xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\"\n\
                xs:schemaLocation=\"http://www.ncbi.nlm.nih.gov \
                http://www.ncbi.nlm.nih.gov/data_specs/schema_alt/NCBI_BlastOutput2.xsd\">\n";
            (start, "\t<xi:include href=\"", "\"/>", "</BlastXML2>\n")
        }
    };
    let mut text = start.as_bytes().to_vec();
    for number in 1..=documents {
        let file = format!("_{number}{}", notation.extension());
        let comma = if notation == Notation::Json && number < documents { "," } else { "" };
        let parts = [before.as_bytes(), base, file.as_bytes(), after.as_bytes(), comma.as_bytes()];
        text.extend(parts.concat());
        text.push(b'\n');
    }
    text.extend_from_slice(end.as_bytes());
    text
}

/// Returns a path without this extension, in letters of any case.
fn without_extension<'p>(path: &'p [u8], extension: &str) -> &'p [u8] {
    let at = path.len().saturating_sub(extension.len());
    match path.split_at(at) {
        (base, end) if end.eq_ignore_ascii_case(extension.as_bytes()) => base,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_an_index_of_json_may_differ_from_those_of_the_documents() {
        let document = |path: &str| {
            let path = document_path(path.as_bytes(), Notation::Json, 2);
            String::from_utf8(path).expect("ASCII")
        };
        assert_eq!(document("d.json/a.JSON"), "d.json/a_2.json");
        assert_eq!(document("d/a.xml"), "d/a.xml_2.json");
        assert_eq!(document("json"), "json_2.json");
        let index = |path: &str, documents| {
            let text = index_text(path.as_bytes(), Notation::Json, documents);
            String::from_utf8(text).expect("ASCII")
        };
        let named = "{\n\t\"BlastJSON\": [\n\t\t{\"File\": \"a.json_1.json\" },\n\
            \t\t{\"File\": \"a.json_2.json\" }\n\t]\n}";
        assert_eq!(index("d/a.json", 2), named);
        assert_eq!(
            index("a.xml", 1),
            "{\n\t\"BlastJSON\": [\n\t\t{\"File\": \"a_1.json\" }\n\t]\n}"
        );
    }
}
