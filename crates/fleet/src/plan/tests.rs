//! Layouts.

use super::*;

const GIB: u64 = 1 << 30;

fn request(ranks: u32, memory: u64, bytes: u64) -> Request {
    Request {
        ranks,
        ranks_per_host: 2,
        threads: 4,
        memory,
        database: Size { bytes, residues: bytes, sequences: bytes / 300 },
        blocks: None,
        wishes: Wishes::default(),
    }
}

fn plan(request: &Request) -> Result<Plan, PlanError> {
    request.plan(&Config::default())
}

#[test]
fn everybody_works_in_a_small_job() {
    for ranks in 1..=3 {
        let plan = plan(&request(ranks, 8 * GIB, GIB)).unwrap();
        assert_eq!(plan.topology.workers.len(), ranks as usize);
        assert_eq!(plan.shape.replicas, ranks, "the database fits into each rank");
        assert_eq!((plan.bytes_read, plan.bytes_broadcast), (GIB, u64::from(ranks - 1) * GIB));
    }
}

#[test]
fn a_large_database_is_shared_out() {
    let plan = plan(&request(16, 8 * GIB, 40 * GIB)).unwrap();
    assert_eq!((plan.shape.groups, plan.shape.replicas), (1, 2));
    assert!(plan.memory <= 8 * GIB && plan.database_memory >= 5 * GIB, "{plan:?}");
}

#[test]
fn what_does_not_fit_is_refused_with_numbers() {
    let error = plan(&request(4, 2 * GIB, 40 * GIB)).unwrap_err();
    let PlanError::Memory { needed, available, least_ranks, .. } = error else {
        panic!("{error:?}")
    };
    assert!(needed > 10 * GIB && available == 2 * GIB && (24..30).contains(&least_ranks));
    let error = plan(&request(4, GIB / 8, GIB)).unwrap_err();
    assert!(matches!(error, PlanError::NoMemory { .. }), "{error:?}");
}

#[test]
fn wishes_are_kept_or_refused() {
    let mut request = request(256, 8 * GIB, GIB);
    assert_eq!(plan(&request).unwrap().shape.groups, 2);
    request.wishes =
        Wishes { groups: Some(8), replicas: Some(2), partitions: Some(61), dedicated: Some(true) };
    let plan = plan(&request).unwrap();
    let expected = Shape { ranks: 256, groups: 8, replicas: 2, partitions: 61, dedicated: true };
    assert_eq!(plan.shape, expected);
    assert_eq!(plan.topology.workers.len(), 256 - 9);
    request.wishes.groups = Some(257);
    let error = request.plan(&Config::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "-groups 257 is not possible: it must be from 1 to 256 (a rank each)"
    );
}

#[test]
fn plans_print() {
    let text = plan(&request(2, 8 * GIB, GIB)).unwrap().to_string();
    assert!(text.contains("partitions                  8\n"), "{text}");
    assert!(text.ends_with("expected balance            100.0 %"), "{text}");
}
