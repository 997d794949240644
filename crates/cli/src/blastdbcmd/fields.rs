//! Sequences as lines of fields (`-outfmt`).

use fleetblast_db::{Defline, TaxonNames};
use fleetblast_seq::id::{SeqId, choose_text_id};

use super::Stop;
use super::config::{Config, choose_mask};
use super::header::Target;
use super::letters::{self, Alphabet};
use super::source::Source;

const MISSING: &[u8] = b"N/A";
/// Names with which the taxonomy database marks taxa without a name.
const NO_NAMES: [&[u8]; 2] = [b"-", b"unclassified"];

/// An `-outfmt` for lines: fields and the text between them.
pub(super) struct Fields {
    /// Pairs of a text and the letter of the field after it.
    fields: Vec<(Vec<u8>, u8)>,
    /// The text after the last field.
    end: Vec<u8>,
    of_deflines: bool,
}

/// A valid `-outfmt`.
pub(super) enum Layout {
    /// `%f`: FASTA.
    Fasta,
    /// `%b`: sequences as ASN.1 text.
    Bioseq,
    /// `%d`: definition lines as ASN.1 text.
    Deflines,
    /// Lines of fields.
    Lines(Vec<u8>),
}

/// Checks an `-outfmt`. If it has `%f`, `%b` or `%d`, its other fields are ignored.
///
/// Removes the number of a masking algorithm after `%m`, and sets the masks of `%m` in `config`.
pub(super) fn layout(format: &[u8], config: &mut Config, source: &Source) -> Result<Layout, Stop> {
    let find = |what: &[u8]| format.windows(2).position(|two| two == what);
    let mut wholes = Vec::new();
    for (field, layout) in
        [(b"%f", Layout::Fasta), (b"%b", Layout::Bioseq), (b"%d", Layout::Deflines)]
    {
        if find(field).is_some() {
            wholes.push(layout);
        }
    }
    if wholes.len() > 1 {
        let message = "The %f, %b, %d output format options cannot be specified together.";
        return Err(Stop::Message(message.to_owned()));
    }
    if let Some(layout) = wholes.pop() {
        return Ok(layout);
    }
    let mut layout = format.to_vec();
    if let Some(at) = find(b"%m") {
        let digits = format[at + 2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            let message = "The option '-outfmt %m' is not followed by a masking algo ID.";
            return Err(Stop::Message(message.to_owned()));
        }
        let number = layout.drain(at + 2..at + 2 + digits);
        // A number that overflows the oracle's arithmetic is the number of no algorithm.
        let number = number.fold(0i32, |sum, digit| {
            sum.saturating_mul(10).saturating_add(i32::from(digit - b'0'))
        });
        let unknown = "Invalid filtering algorithm ID for outfmt %m.";
        config.shown_mask = choose_mask(number, source)?.known(unknown)?;
    }
    Ok(Layout::Lines(layout))
}

impl Fields {
    /// Parses a format (`CBlastDB_SeqFormatter`, seq_formatter.cpp).
    pub(super) fn new(format: &[u8]) -> Result<Self, Stop> {
        let (mut fields, mut text) = (Vec::new(), Vec::new());
        let mut bytes = format.iter().copied();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                text.push(byte);
                continue;
            }
            // In BLAST+ the NUL of a C string follows a percent sign at the end.
            match bytes.next().unwrap_or(0) {
                b'%' => text.push(b'%'),
                field => fields.push((std::mem::take(&mut text), field)),
            }
        }
        if fields.is_empty() {
            return Err(Stop::Message("Invalid format specification".to_owned()));
        }
        let of_deflines = fields.iter().any(|(_, field)| b"aigtTXPLBKSCNen".contains(field));
        Ok(Self { fields, end: text, of_deflines })
    }

    /// Returns the message about the first field if BLAST+ knows none of the fields.
    pub(super) fn unknown_field(&self, source: &Source) -> Option<String> {
        let is_known = |&(_, field): &(_, u8)| {
            b"shmol".contains(&field) || of_line(field, &Defline::default(), source).is_some()
        };
        let &(_, first) = self.fields.first()?;
        (!self.fields.iter().any(is_known)).then(|| unknown_field_message(first))
    }

    /// Appends the lines of a sequence to `out`. There is one line for each definition line if the
    /// format has a field of definition lines, else one line in all. With `target`, only that
    /// definition line is written.
    pub(super) fn write(
        &self,
        source: &Source,
        oid: u32,
        config: &Config,
        target: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let sequence = Sequence::new(self, source, oid, config)?;
        if !self.of_deflines {
            return self.line(source, &sequence, &Defline::default(), out);
        }
        let lines = source.deflines(oid)?;
        match target {
            None => lines.iter().try_for_each(|line| self.line(source, &sequence, line, out)),
            Some(target) => {
                let line = Target::in_fields(target).find_in_fields(lines)?;
                self.line(source, &sequence, &line, out)
            }
        }
    }

    fn line(
        &self,
        source: &Source,
        sequence: &Sequence,
        line: &Defline,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        for (before, field) in &self.fields {
            out.extend_from_slice(before);
            match field {
                b's' => out.extend_from_slice(&sequence.letters),
                b'h' => out.extend_from_slice(sequence.hash.as_bytes()),
                b'm' => out.extend_from_slice(sequence.masks.as_bytes()),
                b'o' => out.extend_from_slice(sequence.oid.to_string().as_bytes()),
                b'l' => out.extend_from_slice(sequence.length.to_string().as_bytes()),
                &field => match of_line(field, line, source) {
                    Some(text) => out.extend(text),
                    None => return Err(Stop::Message(unknown_field_message(field))),
                },
            }
        }
        out.extend_from_slice(&self.end);
        out.push(b'\n');
        Ok(())
    }
}

/// Returns BLAST+'s message about a field that it does not know.
pub(super) fn unknown_field_message(field: u8) -> String {
    format!("Unrecognized format specification: '%{}'", char::from(field))
}

/// The fields that all definition lines of a sequence share; fields outside the format are empty.
struct Sequence {
    oid: u32,
    length: u32,
    letters: Vec<u8>,
    hash: String,
    masks: String,
}

impl Sequence {
    fn new(fields: &Fields, source: &Source, oid: u32, config: &Config) -> Result<Self, Stop> {
        let asked = |wanted: u8| fields.fields.iter().any(|(_, field)| *field == wanted);
        let length = source.database.length_of(oid);
        let mut sequence =
            Self { oid, length, letters: Vec::new(), hash: String::new(), masks: String::new() };
        if asked(b's') {
            sequence.letters = part(source, oid, length, config)?;
        }
        if asked(b'h') {
            let whole = letters::letters(&source.database, oid, None, Alphabet::Strict)?;
            sequence.hash = hash(&whole);
        }
        if asked(b'm') {
            sequence.masks = masks(source, oid, config)?;
        }
        Ok(sequence)
    }
}

/// Returns the letters of the selected range, masked, on the selected strand.
fn part(source: &Source, oid: u32, length: u32, config: &Config) -> Result<Vec<u8>, Stop> {
    let part = config.part(length);
    let start = part.as_ref().map_or(0, |part| part.start);
    let mut text = letters::letters(&source.database, oid, part, Alphabet::Strict)?;
    if let Some(mask) = config.mask {
        letters::mask(&mut text, start, &source.masks()?.ranges(oid, mask)?);
    }
    if config.minus {
        letters::reverse_complement(&mut text);
    }
    Ok(text)
}

/// Computes a checksum of the letters: the CRC-32 of zip files, inverted.
fn hash(letters: &[u8]) -> String {
    match !crc32fast::hash(letters) {
        // C++ streams write no prefix for 0.
        0 => "0".to_owned(),
        hash => format!("0X{hash:X}"),
    }
}

/// Formats the masks that `%m` shows: `START-END;` for each, or `none`.
fn masks(source: &Source, oid: u32, config: &Config) -> Result<String, Stop> {
    let masks = match config.shown_mask {
        Some(mask) => source.masks()?.ranges(oid, mask)?,
        None => Vec::new(),
    };
    if masks.is_empty() {
        return Ok("none".to_owned());
    }
    Ok(masks.iter().map(|mask| format!("{}-{};", mask.start, mask.end)).collect())
}

/// Formats a field of a definition line; `None` if there is no such field.
fn of_line(field: u8, line: &Defline, source: &Source) -> Option<Vec<u8>> {
    let id = || choose_text_id(&line.ids, source.release.text_ranking);
    let name = |pick: fn(TaxonNames) -> Vec<u8>| {
        source.taxon(line.taxid).map_or_else(|| MISSING.to_vec(), pick)
    };
    let checked = |pick: fn(TaxonNames) -> Vec<u8>| {
        let name = name(pick);
        if NO_NAMES.contains(&&name[..]) { MISSING.to_vec() } else { name }
    };
    Some(match field {
        b'a' => id().map(SeqId::format_for_report).unwrap_or_default(),
        b'i' => id().map(SeqId::fasta).unwrap_or_default(),
        b'g' => {
            let gi = line.ids.iter().find(|id| matches!(id, SeqId::Gi(_)));
            gi.map_or_else(|| MISSING.to_vec(), SeqId::accession)
        }
        b't' if line.has_title => line.title.clone(),
        b't' => MISSING.to_vec(),
        b'T' => line.taxid.to_string().into_bytes(),
        b'X' => of_leaves(line, |taxid| taxid.to_string().into_bytes()),
        b'P' => {
            let pig = line.other_info.iter().find(|&&number| number != -1).unwrap_or(&-1);
            pig.to_string().into_bytes()
        }
        b'e' => {
            let sum = line.memberships.iter().fold(0, |sum: i64, &more| sum.wrapping_add(more));
            sum.to_string().into_bytes()
        }
        b'n' if line.links.is_empty() => MISSING.to_vec(),
        b'n' => line.links.iter().flat_map(|link| format!("{link};").into_bytes()).collect(),
        b'S' => name(|names| names.scientific_name),
        b'L' => name(|names| names.common_name),
        b'B' => checked(|names| names.blast_name),
        b'K' => checked(|names| names.kingdom),
        b'N' | b'C' => of_leaves(line, |taxid| match source.taxon(taxid) {
            None => MISSING.to_vec(),
            Some(names) if field == b'N' => names.scientific_name,
            Some(names) => names.common_name,
        }),
        _ => return None,
    })
}

/// Joins the texts of the leaf taxids of a definition line by `;`. The leaf taxids are the line's
/// links; a line without links has its own taxid instead.
fn of_leaves(line: &Defline, text: impl Fn(i64) -> Vec<u8>) -> Vec<u8> {
    let mut taxids = line.links.clone();
    taxids.sort_unstable();
    taxids.dedup();
    if taxids.is_empty() {
        taxids.push(line.taxid);
    }
    taxids.into_iter().map(text).collect::<Vec<_>>().join(&b';')
}
