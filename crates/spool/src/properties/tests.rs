use super::*;

fn properties() -> JobProperties {
    let mut query = QueryHasher::default();
    query.update(b">q\nMKV\n");
    let volume = |number: u32| VolumeProperties {
        name: format!("nr.{number:02}"),
        date: "Jan 1, 2021  1:00 AM".to_owned(),
        sequences: 3,
        index: "01".to_owned(),
        residues: "02".to_owned(),
        headers: "03".to_owned(),
    };
    JobProperties {
        program: "blastp".to_owned(),
        version: "0.1.0".to_owned(),
        build: "abc".to_owned(),
        query: query.finish(),
        database: DatabaseProperties {
            name: "nr".to_owned(),
            sequences: 7,
            residues: 700,
            volumes: (0..2).map(volume).collect(),
            selection: "04".to_owned(),
        },
        options: [("-evalue", "10"), ("-outfmt", "6")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
        blocks: "10000 residues".to_owned(),
    }
}

fn differences_after(change: impl FnOnce(&mut JobProperties)) -> String {
    let mut now = properties();
    change(&mut now);
    properties().differences(&now).to_string()
}

#[test]
fn the_same_job_has_no_differences() {
    assert_eq!(properties().differences(&properties()), Differences(Vec::new()));
}

#[test]
fn differences_have_the_name_and_both_values() {
    type Change = fn(&mut JobProperties);
    let changes: [(Change, &str); 16] = [
        (|job| job.program = "blastx".into(), "the program was 'blastp' and is 'blastx'"),
        (
            |job| job.version = "0.2.0".into(),
            "the version of FleetBLAST was '0.1.0' and is '0.2.0'",
        ),
        (|job| job.build = "abd".into(), "the build of FleetBLAST was 'abc' and is 'abd'"),
        (
            |job| job.query = QueryHasher::default().finish(),
            "and is '0 bytes with the checksum 99aa06d3014798d86001c324468d497f'",
        ),
        (|job| job.database.name = "nt".into(), "the name of the database was 'nr' and is 'nt'"),
        (
            |job| job.database.sequences = 8,
            "the number of sequences in the database was '7' and is '8'",
        ),
        (
            |job| job.database.residues = 8,
            "the number of letters in the database was '700' and is '8'",
        ),
        (
            |job| job.database.volumes[1].sequences = 1,
            "volume 2 of the database was 'nr.01 of Jan 1, 2021  1:00 AM, 3 sequences' and is \
             'nr.01 of Jan 1, 2021  1:00 AM, 1 sequences'",
        ),
        (
            |job| job.database.volumes[1].index = "1".into(),
            "the checksum of the index in nr.01 was '01' and is '1'",
        ),
        (
            |job| job.database.volumes[1].residues = "1".into(),
            "the checksum of the sequences in nr.01 was '02' and is '1'",
        ),
        (
            |job| job.database.volumes[1].headers = "1".into(),
            "the checksum of the headers in nr.01 was '03' and is '1'",
        ),
        (
            |job| job.database.selection = "1".into(),
            "what aliases, lists and masks make of the database was '04' and is '1'",
        ),
        (
            |job| drop(job.database.volumes.pop()),
            "volume 2 of the database was 'nr.01 of Jan 1, 2021  1:00 AM, 3 sequences' and is not there",
        ),
        (|job| drop(job.options.remove("-evalue")), "the option -evalue was '10' and is not there"),
        (
            |job| drop(job.options.insert("-seg".into(), "no".into())),
            "the option -seg was not there and is 'no'",
        ),
        (
            |job| job.blocks = "5000 residues".into(),
            "the rule for query blocks was '10000 residues' and is '5000 residues'",
        ),
    ];
    for (change, expected) in changes {
        let text = differences_after(change);
        assert!(text.ends_with(expected), "{text}");
    }
}

#[test]
fn many_differences_are_counted() {
    let text = differences_after(|job| {
        let name = |number: u32| (format!("-option{number}"), "1".to_owned());
        job.options.extend((0..10).map(name));
    });
    assert!(text.ends_with("; and 6 more"), "{text}");
    assert_eq!(text.matches(';').count(), 4);
}

#[test]
fn a_query_read_in_pieces_has_the_digest_of_the_whole() {
    let input: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
    let mut whole = QueryHasher::default();
    whole.update(&input);
    let mut pieces = QueryHasher::default();
    input.chunks(77).for_each(|piece| pieces.update(piece));
    assert_eq!(whole.finish(), pieces.finish());
}
