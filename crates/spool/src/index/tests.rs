use super::*;
use crate::codec::Codec;
use crate::key::{ResultKind, ShareRange};
use crate::layout::FileId;

const KEY: ResultKey = ResultKey { block: 7, kind: ResultKind::RESULT };

fn run() -> Run {
    Run { root: "job".into(), number: 3, job: 0, codec: Codec::Zstd }
}

/// Returns the place of the bytes from `start` to `end` of a result of 100 bytes.
fn share(start: u64, end: u64) -> StoredShare {
    StoredShare {
        file: FileId { run: 1, writer: 0 },
        offset: 1000 * start + end,
        key: KEY,
        share: ShareRange { start, total: 100 },
        contents_offset: 10,
        length: end - start,
        content: end,
    }
}

/// Returns the shares that cover the result. Checks that adding them forward or backward gives the
/// same.
fn choose(shares: &[(u64, u64)]) -> Option<Vec<(u64, u64)>> {
    let cover = |shares: &mut dyn Iterator<Item = &(u64, u64)>| {
        let mut index = ResultIndex::default();
        shares.for_each(|&(start, end)| index.add(&run(), share(start, end)).expect("no conflict"));
        let complete: Vec<(ResultKey, u64)> = index.complete().collect();
        let cover = index.shares_of_result(KEY);
        assert_eq!(complete, cover.iter().map(|_| (KEY, 100)).collect::<Vec<_>>());
        cover.map(|places| places.iter().map(|place| (place.share.start, place.end())).collect())
    };
    let (forward, backward) = (cover(&mut shares.iter()), cover(&mut shares.iter().rev()));
    assert_eq!(forward, backward);
    forward
}

#[test]
fn shares_of_any_parting_make_a_result() {
    assert_eq!(choose(&[(0, 100)]), Some(vec![(0, 100)]));
    assert_eq!(choose(&[(0, 30), (30, 100)]), Some(vec![(0, 30), (30, 100)]));
    assert_eq!(choose(&[(0, 30), (0, 100), (30, 100), (99, 100)]), Some(vec![(0, 100)]));
    assert_eq!(choose(&[(0, 40), (10, 20), (20, 60), (30, 70), (50, 80), (65, 100)]), {
        Some(vec![(0, 40), (30, 70), (65, 100)])
    });
}

#[test]
fn a_missing_byte_makes_it_incomplete() {
    for shares in [
        &[][..],
        &[(1, 100)],
        &[(0, 99)],
        &[(0, 50), (51, 100)],
        &[(0, 0), (100, 100)],
        &[(0, 50), (20, 50), (50, 50), (51, 100), (99, 100)],
    ] {
        assert_eq!(choose(shares), None, "{shares:?}");
    }
}

#[test]
fn an_empty_result_is_complete_with_its_record() {
    let mut index = ResultIndex::default();
    assert_eq!(index.shares_of_result(KEY), None);
    index
        .add(&run(), StoredShare { share: ShareRange::whole(0), length: 0, ..share(0, 0) })
        .expect("the first");
    assert_eq!(index.shares_of_result(KEY), Some(vec![]));
    assert_eq!(index.complete().collect::<Vec<_>>(), [(KEY, 0)]);
}

#[test]
fn results_that_differ_are_refused() {
    let mut index = ResultIndex::default();
    let first = share(0, 50);
    index.add(&run(), first).expect("the first");
    index.add(&run(), StoredShare { offset: 1, ..first }).expect("an equal one");
    // The share that was added first is kept.
    index.add(&run(), share(50, 100)).expect("the rest");
    assert_eq!(index.shares_of_result(KEY), Some(vec![first, share(50, 100)]));
    for other in [
        StoredShare { content: 0, ..first },
        StoredShare { share: ShareRange { total: 101, ..first.share }, ..first },
        StoredShare { share: ShareRange { start: 20, total: 99 }, ..first },
    ] {
        let error = index.add(&run(), other).expect_err("another result");
        assert!(matches!(&error, Error::Conflict { .. }), "{error}");
    }
    // Another kind of data about the same block is another result.
    let other = StoredShare {
        key: ResultKey { kind: ResultKind(1), ..KEY },
        share: ShareRange::whole(50),
        ..first
    };
    index.add(&run(), other).expect("the first of its kind");
}
