//! Types of ASN.1, with the numbers that BER has instead of names: those of alignments
//! (`Seq-align`, seqalign.asn), of the objects that describe them (`User-object`, general.asn), of
//! locations (`Seq-loc`, seqloc.asn), and of the sequences in archives (`Bioseq`, seq.asn). Types
//! of locations also have the names that XML needs.

/// A type of values.
pub enum AsnType {
    Integer,
    Real,
    Text,
    Bytes,
    Boolean,
    /// The names of the values, with their numbers.
    Enumerated(&'static [(&'static str, u8)]),
    Choice(&'static [Member]),
    Fields(&'static [Member]),
    SequenceOf(&'static AsnType),
    SetOf(&'static AsnType),
    /// A type with this name, which XML contains.
    Named(&'static str, &'static AsnType),
}

/// An alternative of a choice, or a field.
pub struct Member {
    pub name: &'static str,
    pub number: u8,
    pub kind: &'static AsnType,
}

const fn member(number: u8, name: &'static str, kind: &'static AsnType) -> Member {
    Member { name, number, kind }
}

/// Type of an item in the description of a `Seq-annot`.
pub static ANNOTATION_DESCRIPTION: AsnType = AsnType::Choice(&[member(4, "user", &USER_OBJECT)]);

static USER_OBJECT: AsnType = AsnType::Fields(&[
    member(1, "type", &OBJECT_ID),
    member(2, "data", &AsnType::SequenceOf(&USER_FIELD)),
]);

static USER_FIELD: AsnType = AsnType::Fields(&[
    member(0, "label", &OBJECT_ID),
    member(1, "num", &AsnType::Integer),
    member(
        2,
        "data",
        &AsnType::Choice(&[
            member(0, "str", &AsnType::Text),
            member(1, "int", &AsnType::Integer),
            member(3, "bool", &AsnType::Boolean),
            member(6, "strs", &AsnType::SequenceOf(&AsnType::Text)),
        ]),
    ),
]);

static OBJECT_ID: AsnType = AsnType::Named(
    "Object-id",
    &AsnType::Choice(&[member(0, "id", &AsnType::Integer), member(1, "str", &AsnType::Text)]),
);

/// Type of an alignment (`Seq-align`).
pub static ALIGNMENT: AsnType = AsnType::Fields(&[
    member(0, "type", &AsnType::Enumerated(&[("diags", 2), ("partial", 3)])),
    member(1, "dim", &AsnType::Integer),
    member(2, "score", &SCORES),
    member(
        3,
        "segs",
        &AsnType::Choice(&[
            member(0, "dendiag", &AsnType::SequenceOf(&DENSE_DIAGONAL)),
            member(1, "denseg", &DENSE_SEGMENTS),
            member(2, "std", &AsnType::SequenceOf(&STANDARD_SEGMENT)),
        ]),
    ),
    member(6, "ext", &AsnType::SequenceOf(&USER_OBJECT)),
]);

/// Type of a sequence (`Bioseq`).
pub static SEQUENCE: AsnType = AsnType::Fields(&[
    member(0, "id", &AsnType::SetOf(&SEQ_ID)),
    member(
        1,
        "descr",
        &AsnType::SetOf(&AsnType::Choice(&[
            member(4, "title", &AsnType::Text),
            member(13, "user", &USER_OBJECT),
        ])),
    ),
    member(
        2,
        "inst",
        &AsnType::Fields(&[
            member(0, "repr", &AsnType::Enumerated(&[("virtual", 1), ("raw", 2)])),
            member(1, "mol", &AsnType::Enumerated(&[("aa", 3), ("na", 4)])),
            member(2, "length", &AsnType::Integer),
            member(6, "seq-data", &LETTERS),
            member(8, "hist", &HISTORY),
        ]),
    ),
]);

/// Type of the origin of a sequence (`Seq-hist`, seq.asn), as queries with a range in their
/// identifier have it.
static HISTORY: AsnType = AsnType::Fields(&[member(0, "assembly", &AsnType::SetOf(&ALIGNMENT))]);

static LETTERS: AsnType = AsnType::Choice(&[
    member(1, "iupacaa", &AsnType::Text),
    member(2, "ncbi2na", &AsnType::Bytes),
    member(3, "ncbi4na", &AsnType::Bytes),
    member(7, "ncbieaa", &AsnType::Text),
    member(9, "ncbistdaa", &AsnType::Bytes),
]);

static SCORES: AsnType = AsnType::SetOf(&AsnType::Fields(&[
    member(0, "id", &OBJECT_ID),
    member(
        1,
        "value",
        &AsnType::Choice(&[member(0, "real", &AsnType::Real), member(1, "int", &AsnType::Integer)]),
    ),
]));

static IDS: AsnType = AsnType::SequenceOf(&SEQ_ID);
static INTEGERS: AsnType = AsnType::SequenceOf(&AsnType::Integer);
static STRAND: AsnType = AsnType::Enumerated(&[("unknown", 0), ("plus", 1), ("minus", 2)]);
static STRANDS: AsnType = AsnType::SequenceOf(&STRAND);

static DENSE_DIAGONAL: AsnType = AsnType::Fields(&[
    member(0, "dim", &AsnType::Integer),
    member(1, "ids", &IDS),
    member(2, "starts", &INTEGERS),
    member(3, "len", &AsnType::Integer),
    member(4, "strands", &STRANDS),
    member(5, "scores", &SCORES),
]);

static DENSE_SEGMENTS: AsnType = AsnType::Fields(&[
    member(0, "dim", &AsnType::Integer),
    member(1, "numseg", &AsnType::Integer),
    member(2, "ids", &IDS),
    member(3, "starts", &INTEGERS),
    member(4, "lens", &INTEGERS),
    member(5, "strands", &STRANDS),
]);

static STANDARD_SEGMENT: AsnType = AsnType::Fields(&[
    member(0, "dim", &AsnType::Integer),
    member(1, "ids", &IDS),
    member(2, "loc", &AsnType::SequenceOf(&LOCATION)),
    member(3, "scores", &SCORES),
]);

/// Type of a location in a sequence (`Seq-loc`).
pub static LOCATION: AsnType = AsnType::Named(
    "Seq-loc",
    &AsnType::Choice(&[
        member(1, "empty", &SEQ_ID),
        member(3, "int", &INTERVAL),
        member(4, "packed-int", &INTERVALS),
    ]),
);

static INTERVALS: AsnType = AsnType::Named("Packed-seqint", &AsnType::SequenceOf(&INTERVAL));

static INTERVAL: AsnType = AsnType::Named(
    "Seq-interval",
    &AsnType::Fields(&[
        member(0, "from", &AsnType::Integer),
        member(1, "to", &AsnType::Integer),
        member(2, "strand", &STRAND),
        member(3, "id", &SEQ_ID),
    ]),
);

/// Type of an identifier of a sequence (`Seq-id`, seqloc.asn).
static SEQ_ID: AsnType = AsnType::Named(
    "Seq-id",
    &AsnType::Choice(&[
        member(0, "local", &OBJECT_ID),
        member(1, "gibbsq", &AsnType::Integer),
        member(2, "gibbmt", &AsnType::Integer),
        member(3, "giim", &IMPORT_ID),
        member(4, "genbank", &TEXT_ID),
        member(5, "embl", &TEXT_ID),
        member(6, "pir", &TEXT_ID),
        member(7, "swissprot", &TEXT_ID),
        member(8, "patent", &PATENT_ID),
        member(9, "other", &TEXT_ID),
        member(10, "general", &GENERAL_ID),
        member(11, "gi", &AsnType::Integer),
        member(12, "ddbj", &TEXT_ID),
        member(13, "prf", &TEXT_ID),
        member(14, "pdb", &PDB_ID),
        member(15, "tpg", &TEXT_ID),
        member(16, "tpe", &TEXT_ID),
        member(17, "tpd", &TEXT_ID),
        member(18, "gpipe", &TEXT_ID),
        member(19, "named-annot-track", &TEXT_ID),
    ]),
);

static TEXT_ID: AsnType = AsnType::Named(
    "Textseq-id",
    &AsnType::Fields(&[
        member(0, "name", &AsnType::Text),
        member(1, "accession", &AsnType::Text),
        member(2, "release", &AsnType::Text),
        member(3, "version", &AsnType::Integer),
    ]),
);

static GENERAL_ID: AsnType = AsnType::Named(
    "Dbtag",
    &AsnType::Fields(&[member(0, "db", &AsnType::Text), member(1, "tag", &OBJECT_ID)]),
);

static IMPORT_ID: AsnType =
    AsnType::Named("Giimport-id", &AsnType::Fields(&[member(0, "id", &AsnType::Integer)]));

static PDB_ID: AsnType = AsnType::Named(
    "PDB-seq-id",
    &AsnType::Fields(&[
        member(0, "mol", &AsnType::Named("PDB-mol-id", &AsnType::Text)),
        member(1, "chain", &AsnType::Integer),
        member(3, "chain-id", &AsnType::Text),
    ]),
);

static PATENT_ID: AsnType = AsnType::Named(
    "Patent-seq-id",
    &AsnType::Fields(&[
        member(0, "seqid", &AsnType::Integer),
        member(
            1,
            "cit",
            &AsnType::Named(
                "Id-pat",
                &AsnType::Fields(&[
                    member(0, "country", &AsnType::Text),
                    member(1, "id", &AsnType::Choice(&[member(0, "number", &AsnType::Text)])),
                ]),
            ),
        ),
    ]),
);
