//! Counts the memory that values would take, while their encoding is decoded. The values are not
//! kept.
//!
//! Each type `...Weight` has the same encoding as another type, for which it stands.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use fleetblast_db::restrict::Restriction;
use fleetblast_seq::id::{NumberKind, SeqId, TextKind};
use fleetblast_stats::karlin::KarlinParameters;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::block::{BatchState, Encoding, Query};
use crate::header::{DatabaseFingerprint, EncodingChoice, OptionValue, Paragraph};
use crate::iterations::{IterationResult, QueryIterations};

/// Most bytes that an allocation takes besides its contents.
const ALLOCATION: u64 = 32;

/// Returns the most bytes of memory that `lists` lists take. They have `items` items in all, each
/// of `size` bytes. A list may have room for twice its items, and for four items if it has one.
pub(crate) fn lists(lists: u64, items: u64, size: usize) -> u64 {
    let slots = items.saturating_add(lists).saturating_mul(2);
    slots.saturating_mul(size as u64).saturating_add(lists.saturating_mul(ALLOCATION))
}

/// A type that is decoded instead of another type with the same encoding. It counts the memory that
/// a value of the other type would take.
pub(crate) trait Weigh {
    /// The other type.
    type Of;

    /// Returns the bytes of memory that the value takes outside of itself, in allocations.
    fn outside(&self) -> u64;
}

/// Counts the memory of a list of `T` without keeping its items.
pub(crate) struct Items<T> {
    bytes: u64,
    of: PhantomData<T>,
}

/// Is decoded instead of bytes or a text.
type Bytes = Items<u8>;

impl<T: Weigh> Weigh for Items<T> {
    type Of = Vec<T::Of>;

    fn outside(&self) -> u64 {
        self.bytes
    }
}

impl<'de, T: Deserialize<'de> + Weigh> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counter(PhantomData))
    }
}

struct Counter<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Weigh> Visitor<'de> for Counter<T> {
    type Value = Items<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items<T>, A::Error> {
        let (mut count, mut outside) = (0_u64, 0_u64);
        while let Some(item) = items.next_element::<T>()? {
            count += 1;
            outside = outside.saturating_add(item.outside());
        }
        let own = if count == 0 { 0 } else { lists(1, count, size_of::<T::Of>()) };
        Ok(Items { bytes: own.saturating_add(outside), of: PhantomData })
    }
}

/// Implements [`Weigh`] for types that stand for themselves and have no memory outside of
/// themselves.
macro_rules! flat {
    ($($type:ty),*) => {$(
        impl Weigh for $type {
            type Of = $type;

            fn outside(&self) -> u64 {
                0
            }
        }
    )*};
}

flat!(u8, bool, u32, i32, Range<u32>);

impl<A: Weigh, B: Weigh> Weigh for (A, B) {
    type Of = (A::Of, B::Of);

    fn outside(&self) -> u64 {
        self.0.outside().saturating_add(self.1.outside())
    }
}

/// Defines a struct with the fields of the struct for which it stands. `outside` lists the fields
/// that have memory outside of themselves.
macro_rules! weighed {
    ($name:ident for $of:ty { $($field:ident: $type:ty,)* } outside { $($list:ident),* }) => {
        #[derive(Deserialize)]
        #[expect(dead_code, reason = "fields are read to get past them")]
        pub(crate) struct $name { $(pub $field: $type,)* }

        impl Weigh for $name {
            type Of = $of;

            fn outside(&self) -> u64 {
                [$(self.$list.outside()),*].into_iter().fold(0, u64::saturating_add)
            }
        }
    };
}

impl<T: Weigh> Weigh for Option<T> {
    type Of = Option<T::Of>;

    fn outside(&self) -> u64 {
        self.as_ref().map_or(0, Weigh::outside)
    }
}

weighed!(HeadWeight for () {
    first: u64,
    queries: u64,
    encoding: Encoding,
    digest: u64,
    batches: Items<u32>,
    batch_state: Option<BatchState>,
    searched: Items<bool>,
} outside { batches, searched });

weighed!(TextWeight for Query {
    title: Bytes,
    ids: Items<IdWeight>,
    length: u64,
    lower_case: Items<Range<u32>>,
    unnamed: u64,
    range: Option<Range<u32>>,
    messages: Items<Bytes>,
} outside { title, ids, lower_case, messages });

weighed!(HeaderWeight for () {
    program: Bytes,
    version: Bytes,
    options: Items<(Bytes, OptionWeight)>,
    environment: Items<(Bytes, Bytes)>,
    command: Bytes,
    inputs: Items<(Bytes, Bytes)>,
    restriction: Option<RestrictionWeight>,
    encodings: EncodingChoice,
    hitlist_size: u64,
    database: DatabaseWeight,
} outside { program, version, options, environment, command, inputs, restriction, database });

weighed!(RestrictionWeight for Restriction {
    ids: ListWeight,
    negative: bool,
} outside { ids });

weighed!(NamesWeight for () {
    ids: Items<Bytes>,
    binary: bool,
    database_residues: u64,
} outside { ids });

weighed!(DatabaseWeight for () {
    label: Bytes,
    paragraphs: Items<ParagraphWeight>,
    is_subject: bool,
    fingerprint: DatabaseFingerprint,
} outside { label, paragraphs });

weighed!(ParagraphWeight for Paragraph {
    title: Bytes,
    date: Bytes,
    masked_using: Bytes,
    sequences: i64,
    residues: i64,
} outside { title, date, masked_using });

weighed!(EndWeight for () {
    queries: u64,
    blocks: u64,
    counted: u64,
    has_report: bool,
    closing: Bytes,
} outside { closing });

weighed!(IterationsWeight for () {
    is_document: bool,
    before: u64,
    queries: Items<QueryIterationsWeight>,
} outside { queries });

weighed!(QueryIterationsWeight for QueryIterations {
   iterations: Items<IterationResultWeight>,
    converged: bool,
} outside { iterations });

weighed!(IterationResultWeight for IterationResult {
    statistics: Option<[KarlinParameters; 2]>,
    known: Option<Items<u32>>,
    messages: Items<Bytes>,
    hidden: u64,
    exceeds: bool,
} outside { known, messages });

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are read to get past them")]
pub(crate) enum OptionWeight {
    Flag,
    Text(Bytes),
    Integer(i64),
    Real(f64),
    Boolean(bool),
}

impl Weigh for OptionWeight {
    type Of = OptionValue;

    fn outside(&self) -> u64 {
        match self {
            Self::Text(text) => text.bytes,
            Self::Flag | Self::Integer(_) | Self::Real(_) | Self::Boolean(_) => 0,
        }
    }
}

#[derive(Deserialize)]
pub(crate) enum ListWeight {
    Sequences(NamesWeight),
    Gis(Items<u32>),
    Taxids(Items<i32>),
}

impl Weigh for ListWeight {
    type Of = ();

    fn outside(&self) -> u64 {
        match self {
            Self::Sequences(names) => names.outside(),
            Self::Gis(numbers) => numbers.bytes,
            Self::Taxids(numbers) => numbers.bytes,
        }
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are read to get past them")]
pub(crate) enum TagWeight {
    Number(i64),
    Text(Bytes),
}

impl Weigh for TagWeight {
    type Of = ();

    fn outside(&self) -> u64 {
        match self {
            Self::Text(text) => text.bytes,
            Self::Number(_) => 0,
        }
    }
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "fields are read to get past them")]
pub(crate) enum IdWeight {
    Local(TagWeight),
    General { db: Bytes, tag: TagWeight },
    Gi(i64),
    Pdb { mol: Bytes, chain: Bytes },
    Patent { country: Bytes, number: Bytes, sequence: i64 },
    Text { kind: TextKind, accession: Bytes, version: Option<u32>, name: Bytes, release: Bytes },
    Numbered(NumberKind, i64),
}

impl Weigh for IdWeight {
    type Of = SeqId;

    fn outside(&self) -> u64 {
        let texts = match self {
            Self::Local(tag) => [tag.outside(), 0, 0],
            Self::General { db, tag } => [db.bytes, tag.outside(), 0],
            Self::Pdb { mol: first, chain: second }
            | Self::Patent { country: first, number: second, .. } => [first.bytes, second.bytes, 0],
            Self::Text { accession, name, release, .. } => {
                [accession.bytes, name.bytes, release.bytes]
            }
            Self::Gi(_) | Self::Numbered(..) => [0; 3],
        };
        texts.into_iter().fold(0, u64::saturating_add)
    }
}
