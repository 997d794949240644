//! Computes the index file that belongs to the data file of an ISAM index, so that the check can
//! compare it with the stored one. Equal data files have equal index files.

/// Number of keys per sample in an index: 256 in one of numbers, 64 in one of texts.
const NUMBERS_PER_SAMPLE: usize = 256;
const TEXTS_PER_SAMPLE: usize = 64;
/// Maximal length of a line in bytes, as the header of an index of texts states it.
const LINE: u32 = 4096;

/// Computes the index file for pairs of `size` bytes, each with a key of four bytes. The file
/// consists of nine words, every 256th pair, and an end pair.
pub(super) fn numeric_index(data: &[u8], size: usize) -> Vec<u8> {
    let terms = data.len() / size;
    let samples = terms.div_ceil(NUMBERS_PER_SAMPLE);
    let mut index = header(0, data.len(), terms, samples, NUMBERS_PER_SAMPLE, 0);
    for pair in data.chunks_exact(size).step_by(NUMBERS_PER_SAMPLE) {
        index.extend_from_slice(pair);
    }
    index.extend_from_slice(&[0xff; 4]);
    index.extend_from_slice(&[0; 4]);
    index
}

/// Computes the index file for sorted lines. The file consists of nine words, two lists of offsets,
/// and every 64th line as a sample. The offsets point to the samples in the data file and in the
/// index file. Each list ends with the offset after the last byte.
pub(super) fn string_index(data: &[u8]) -> Vec<u8> {
    let lines: Vec<&[u8]> = data.split_inclusive(|&byte| byte == b'\n').collect();
    let samples = lines.len().div_ceil(TEXTS_PER_SAMPLE);
    let mut index = header(2, data.len(), lines.len(), samples, TEXTS_PER_SAMPLE, LINE);
    let (mut starts, mut texts) = (Vec::new(), Vec::new());
    let (mut at, mut places) = (0, Vec::new());
    let texts_at = index.len() + 8 * (samples + 1);
    for page in lines.chunks(TEXTS_PER_SAMPLE) {
        starts.push(at);
        places.push(texts_at + texts.len());
        let sample = page[0].strip_suffix(b"\n").unwrap_or(page[0]);
        texts.extend_from_slice(sample);
        texts.push(0);
        at += page.iter().map(|line| line.len()).sum::<usize>();
    }
    starts.push(at);
    places.push(texts_at + texts.len());
    index.extend(starts.iter().chain(&places).flat_map(|&place| (place as u32).to_be_bytes()));
    index.extend_from_slice(&texts);
    index
}

fn header(
    kind: u32,
    bytes: usize,
    terms: usize,
    samples: usize,
    page: usize,
    line: u32,
) -> Vec<u8> {
    let words = [1, kind, bytes as u32, terms as u32, samples as u32, page as u32, line, 0, 0];
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}
