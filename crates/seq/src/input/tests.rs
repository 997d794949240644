use std::io::Write;

use super::*;

const TEXT: &[u8] = b">a\nMKTAYIAKQR\n>b\nQISFVKSHFS\n";

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(text, 3).unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKERS: [Pack; 3] = [gzip, bzip2, zstd];

fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    decompress(Cursor::new(bytes), Path::new("in.fa"), |_| {})?.read_to_end(&mut text)?;
    Ok(text)
}

#[test]
fn plain_text_passes_through() {
    assert_eq!(read(TEXT.to_vec()).unwrap(), TEXT);
    assert_eq!(read(Vec::new()).unwrap(), b"");
    assert_eq!(read(b"BZ".to_vec()).unwrap(), b"BZ");
}

#[test]
fn members_are_concatenated() {
    for pack in PACKERS {
        assert_eq!(read(pack(TEXT)).unwrap(), TEXT);
        let joined = [pack(&TEXT[..7]), pack(b""), pack(&TEXT[7..])].concat();
        assert_eq!(read(joined).unwrap(), TEXT);
    }
}

#[test]
fn a_cut_member_is_an_error_that_names_the_file() {
    for pack in PACKERS {
        let whole = pack(TEXT);
        for cut in [whole.len() - 1, whole.len() / 2, 12] {
            let error = read(whole[..cut].to_vec()).unwrap_err();
            assert!(error.to_string().starts_with("in.fa ("), "{error}");
            assert!(error.to_string().contains("get it again"), "{error}");
        }
        // The second of two members is cut.
        let two = [whole.clone(), whole].concat();
        assert!(read(two[..two.len() - 3].to_vec()).is_err());
    }
}

#[test]
fn what_is_no_member_after_the_last_is_ignored_as_by_gzip_and_bzip2() {
    let text = b">c\nMKTAYIAKQRQISFVK\n";
    let zeros = [0; 5000];
    let padded = [&zeros[..10], &text[..]].concat();
    for pack in [gzip as Pack, bzip2] {
        for rest in [&text[..], b"no", &zeros, &zeros[..1], &padded] {
            let bytes = [pack(TEXT), rest.to_vec()].concat();
            assert_eq!(read(bytes).unwrap(), TEXT, "{rest:?}");
        }
        // A member after zeros is ignored, too.
        let bytes = [pack(TEXT), zeros.to_vec(), pack(TEXT)].concat();
        assert_eq!(read(bytes).unwrap(), TEXT);
    }
    let bytes = [zstd(TEXT), text.to_vec()].concat();
    assert!(read(bytes).is_err());
}

#[test]
fn what_begins_like_a_member_must_be_one() {
    let rests: [(Pack, &[&[u8]]); 2] = [
        (
            gzip,
            &[
                b"\x1f",
                b"\x1f\x8b",
                b"\x1f\x8b\x08",
                b"\x1f\x8b\x07abcdefghij",
                b"\x1f\x9d\x90abc",
                b"j",
            ],
        ),
        (bzip2, &[b"B", b"BZ", b"BZh", b"BZh9", b"BZh9abcdefghij"]),
    ];
    for (pack, rests) in rests {
        for rest in rests {
            let error = read([pack(TEXT), rest.to_vec()].concat());
            let error = error.expect_err(&format!("{rest:?} is no member"));
            assert!(error.to_string().starts_with("in.fa ("), "{error}");
        }
    }
}

/// Members are found whatever the sizes of reads are.
#[test]
fn members_come_byte_by_byte() {
    struct Slow(Cursor<Vec<u8>>);
    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }
    for pack in PACKERS {
        let bytes = [pack(&TEXT[..7]), pack(&TEXT[7..])].concat();
        let mut text = Vec::new();
        let mut reader = decompress(Slow(Cursor::new(bytes)), Path::new("in.fa"), |_| {}).unwrap();
        reader.read_to_end(&mut text).unwrap();
        assert_eq!(text, TEXT);
    }
}

#[test]
fn damage_is_an_error() {
    for pack in PACKERS {
        let mut bytes = pack(TEXT);
        let middle = bytes.len() - 7;
        bytes[middle] ^= 0x55;
        assert!(read(bytes).map_or(true, |text| text != TEXT));
    }
}

#[test]
fn a_missing_file_is_named() {
    let Err(error) = open(Path::new("no/such/file.fa"), |_| {}) else { panic!("opened") };
    assert!(error.to_string().starts_with("no/such/file.fa: cannot open"), "{error}");
    assert!(open(Path::new("src"), |_| {}).is_err());
}

/// At a terminal, each read after the end would need another Ctrl-D.
#[test]
fn an_input_is_not_read_again_after_its_end() {
    struct Typed(Vec<&'static [u8]>);
    impl Read for Typed {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "read again after the end");
            let line = self.0.remove(0);
            buffer[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }
    let mut empty = decompress(Typed(vec![b""]), Path::new("-"), |_| {}).unwrap();
    assert_eq!(empty.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert_eq!(empty.read_to_end(&mut Vec::new()).unwrap(), 0);
    let lines: Vec<&[u8]> = vec![b">a\n", b"MK\n", b"", b"more"];
    let (mut text, typed) = (Vec::new(), Typed(lines));
    let mut typed = decompress(typed, Path::new("-"), |_| {}).unwrap();
    for _ in 0..2 {
        typed.read_to_end(&mut text).unwrap();
    }
    assert_eq!(text, b">a\nMK\n");
}

/// Returns the number of bytes that could be read, and the error that ended the input.
fn count(bytes: Vec<u8>) -> (u64, Option<String>) {
    let mut reader = decompress(Cursor::new(bytes), Path::new("in.fa"), |_| {}).unwrap();
    let (mut buffer, mut all) = (vec![0; 1 << 20], 0);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (all, None),
            Ok(count) => all += count as u64,
            Err(error) => return (all, Some(error.to_string())),
        }
    }
}

/// Returns a file whose second sequence has `letters` letters N in lines of `line` letters.
fn with_run(pack: Pack, letters: usize, line: usize) -> Vec<u8> {
    let mut lines = Vec::with_capacity(letters + letters / line + 1);
    let full = [&vec![b'N'; line][..], b"\n"].concat();
    for _ in 0..letters / line {
        lines.extend_from_slice(&full);
    }
    pack(&[TEXT, &lines, b">c\nMKTAYIAKQR\n"].concat())
}

#[test]
fn a_sequence_that_stands_for_too_much_is_an_error_and_many_are_not() {
    // gzip compresses less if each line has few letters.
    for (pack, line) in [(gzip as Pack, 120 << 20), (zstd, 120 << 20), (zstd, 60)] {
        let (bytes_read, error) = count(with_run(pack, 120 << 20, line));
        let error = error.expect("an end");
        assert!(error.contains("in.fa (") && error.contains("decompress the file"), "{error}");
        assert!(bytes_read < 110 << 20, "{bytes_read}");
    }
    for pack in [gzip as Pack, zstd] {
        // The file has many runs like those in chromosomes.
        let run = with_run(pack, 20 << 20, 60);
        let (bytes_read, error) = count([&run[..]; 8].concat());
        assert_eq!((bytes_read > 160 << 20, error), (true, None));
    }
}

/// Sequences that compress like real ones have no limit.
#[test]
fn long_sequences_are_read() {
    let mut text = vec![0; 70 << 20];
    fastrand::Rng::with_seed(1).fill(&mut text);
    text.iter_mut().for_each(|byte| *byte = b"ACGT"[usize::from(*byte % 4)]);
    let packed = zstd::stream::encode_all(&[b">long\n", &text[..]].concat()[..], 1).unwrap();
    assert_eq!(count(packed), (text.len() as u64 + 6, None));
}
