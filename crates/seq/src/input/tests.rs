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
    decompress(Cursor::new(bytes), Path::new("in.fa"))?.read_to_end(&mut text)?;
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
        // The second of two members.
        let two = [whole.clone(), whole].concat();
        assert!(read(two[..two.len() - 3].to_vec()).is_err());
    }
}

#[test]
fn text_after_the_last_member_is_an_error() {
    for pack in PACKERS {
        let bytes = [pack(TEXT), b">c\nMKTAYIAKQRQISFVK\n".to_vec()].concat();
        assert!(read(bytes).is_err());
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
    let Err(error) = open(Path::new("no/such/file.fa")) else { panic!("opened") };
    assert!(error.to_string().starts_with("no/such/file.fa: cannot open"), "{error}");
    assert!(open(Path::new("src")).is_err());
}
