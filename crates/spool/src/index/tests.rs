use super::*;
use crate::codec::Codec;
use crate::key::{Kind, Share};
use crate::layout::FileId;

const KEY: Key = Key { block: 7, kind: Kind::RESULT };

fn run() -> Run {
    Run { root: "job".into(), number: 3, job: 0, codec: Codec::Zstd }
}

/// Returns the place of the bytes from `start` to `end` of a result of 100 bytes.
fn share(start: u64, end: u64) -> Place {
    Place {
        file: FileId { run: 1, writer: 0 },
        offset: 1000 * start + end,
        key: KEY,
        share: Share { start, total: 100 },
        at: 10,
        length: end - start,
        content: end,
    }
}

/// Returns the shares that cover the result. Checks that adding them forward or backward gives the
/// same.
fn chosen(shares: &[(u64, u64)]) -> Option<Vec<(u64, u64)>> {
    let cover = |shares: &mut dyn Iterator<Item = &(u64, u64)>| {
        let mut index = Index::default();
        shares.for_each(|&(start, end)| index.add(&run(), share(start, end)).expect("no conflict"));
        let complete: Vec<(Key, u64)> = index.complete().collect();
        let cover = index.cover(KEY);
        assert_eq!(complete, cover.iter().map(|_| (KEY, 100)).collect::<Vec<_>>());
        cover.map(|places| places.iter().map(|place| (place.share.start, place.end())).collect())
    };
    let (forward, backward) = (cover(&mut shares.iter()), cover(&mut shares.iter().rev()));
    assert_eq!(forward, backward);
    forward
}

#[test]
fn shares_of_any_parting_make_a_result() {
    assert_eq!(chosen(&[(0, 100)]), Some(vec![(0, 100)]));
    assert_eq!(chosen(&[(0, 30), (30, 100)]), Some(vec![(0, 30), (30, 100)]));
    assert_eq!(chosen(&[(0, 30), (0, 100), (30, 100), (99, 100)]), Some(vec![(0, 100)]));
    assert_eq!(chosen(&[(0, 40), (10, 20), (20, 60), (30, 70), (50, 80), (65, 100)]), {
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
        assert_eq!(chosen(shares), None, "{shares:?}");
    }
}

#[test]
fn an_empty_result_is_complete_with_its_record() {
    let mut index = Index::default();
    assert_eq!(index.cover(KEY), None);
    index
        .add(&run(), Place { share: Share::whole(0), length: 0, ..share(0, 0) })
        .expect("the first");
    assert_eq!(index.cover(KEY), Some(vec![]));
    assert_eq!(index.complete().collect::<Vec<_>>(), [(KEY, 0)]);
}

#[test]
fn results_that_differ_are_refused() {
    let mut index = Index::default();
    let first = share(0, 50);
    index.add(&run(), first).expect("the first");
    index.add(&run(), Place { offset: 1, ..first }).expect("an equal one");
    // The share that was added first is kept.
    index.add(&run(), share(50, 100)).expect("the rest");
    assert_eq!(index.cover(KEY), Some(vec![first, share(50, 100)]));
    for other in [
        Place { content: 0, ..first },
        Place { share: Share { total: 101, ..first.share }, ..first },
        Place { share: Share { start: 20, total: 99 }, ..first },
    ] {
        let error = index.add(&run(), other).expect_err("another result");
        assert!(matches!(&error, Error::Conflict { .. }), "{error}");
    }
    // Another kind of data about the same block is another result.
    let other = Place { key: Key { kind: Kind(1), ..KEY }, share: Share::whole(50), ..first };
    index.add(&run(), other).expect("the first of its kind");
}
