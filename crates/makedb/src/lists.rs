//! Binary lists of GIs and identifiers, as `blastdb_aliastool` writes them.

/// First word of a binary list of GIs with four bytes each.
const SHORT_GIS: u32 = u32::MAX;
/// First word of a binary list of GIs with eight bytes each.
const LONG_GIS: u32 = u32::MAX - 1;
/// In a list of identifiers, the byte before a length that is stored in four bytes. Shorter lengths
/// are stored in one byte.
const LONG_ID: u8 = u8::MAX;

/// Encodes a binary list of GIs: a word that states their size, the number of GIs, and the sorted
/// GIs, all in big-endian order (`CBinaryListBuilder`, writedb.cpp). The GIs have eight bytes each
/// if one of them does not fit into four, or is negative.
pub fn encode_gi_list(mut gis: Vec<i64>) -> Vec<u8> {
    gis.sort_unstable();
    let short: Option<Vec<u32>> = gis.iter().map(|&gi| u32::try_from(gi).ok()).collect();
    let mark = if short.is_some() { SHORT_GIS } else { LONG_GIS };
    // BLAST+ stores the number in 32 bits, too.
    let mut list = [mark, gis.len() as u32].map(u32::to_be_bytes).concat();
    match short {
        Some(short) => list.extend(short.into_iter().flat_map(u32::to_be_bytes)),
        None => list.extend(gis.into_iter().flat_map(i64::to_be_bytes)),
    }
    list
}

/// A binary list of identifiers (`WriteBlastSeqidlistFile`, seqidlist_writer.cpp).
#[derive(Clone, Debug)]
pub struct SeqIdListFile<'a> {
    /// Title of the list.
    pub title: &'a [u8],
    /// Date of the list.
    pub date: &'a str,
    /// The database for which the list is made, if any.
    pub database: Option<SourceDatabase<'a>>,
    /// Keys of the identifiers, sorted.
    pub ids: &'a [Vec<u8>],
}

/// The database for which a binary list of identifiers is made.
#[derive(Clone, Debug)]
pub struct SourceDatabase<'a> {
    /// Number of residues of all volumes.
    pub residue_count: u64,
    /// Date of the database.
    pub date: &'a str,
    /// Names of the volumes, separated by blanks.
    pub volumes: &'a [u8],
}

impl SeqIdListFile<'_> {
    /// Encodes the list. Numbers are in little-endian order.
    pub fn encode(&self) -> Vec<u8> {
        // The first byte marks a binary list; the length of the file follows.
        let mut file = vec![0; 9];
        file.extend((self.ids.len() as u64).to_le_bytes());
        push_long_text(&mut file, self.title);
        push_short_text(&mut file, self.date);
        let residues = self.database.as_ref().map_or(0, |database| database.residue_count);
        file.extend(residues.to_le_bytes());
        if let Some(database) = &self.database {
            push_short_text(&mut file, database.date);
            push_long_text(&mut file, database.volumes);
        }
        for id in self.ids {
            match u8::try_from(id.len()).ok().filter(|&length| length < LONG_ID) {
                Some(length) => {
                    file.push(length);
                    file.extend_from_slice(id);
                }
                None => {
                    file.push(LONG_ID);
                    push_long_text(&mut file, id);
                }
            }
        }
        let length = (file.len() as u64).to_le_bytes();
        file[1..9].copy_from_slice(&length);
        file
    }
}

/// Appends a date, preceded by its length in one byte. A longer text is cut to the largest length.
fn push_short_text(file: &mut Vec<u8>, text: &str) {
    let bytes = &text.as_bytes()[..text.len().min(usize::from(u8::MAX))];
    file.push(bytes.len() as u8);
    file.extend_from_slice(bytes);
}

/// Appends a text, preceded by its length in four bytes.
fn push_long_text(file: &mut Vec<u8>, text: &[u8]) {
    file.extend((text.len() as u32).to_le_bytes());
    file.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected bytes are those of `blastdb_aliastool -gi_file_in`.
    #[test]
    fn one_wide_gi_makes_all_wide() {
        let short = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(encode_gi_list(vec![0xffff_ffff, 3]), short);
        let wide = encode_gi_list(vec![3, -4]);
        assert_eq!(wide[..8], [0xff, 0xff, 0xff, 0xfe, 0, 0, 0, 2]);
        assert_eq!(wide[8..16], (-4_i64).to_be_bytes());
        assert_eq!(wide[16..], 3_i64.to_be_bytes());
        assert_eq!(encode_gi_list(vec![1 << 32])[3], 0xfe);
        assert_eq!(encode_gi_list(Vec::new()), [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    }

    #[test]
    fn long_identifiers_have_a_length_of_four_bytes() {
        let ids = [vec![b'a'; 254], vec![b'b'; 255]];
        let list = SeqIdListFile { title: b"t", date: "day", database: None, ids: &ids };
        let file = list.encode();
        assert_eq!(file[..9], [&[0][..], &(file.len() as u64).to_le_bytes()].concat());
        let start = 9 + 8 + 4 + 1 + 1 + 3 + 8;
        assert_eq!(file[start..start + 2], [254, b'a']);
        assert_eq!(file[start + 255..start + 261], [255, 255, 0, 0, 0, b'b']);
        assert_eq!(file.len(), start + 255 + 5 + 255);
    }
}
