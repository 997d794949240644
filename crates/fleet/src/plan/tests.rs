//! Tests of layouts.

use super::*;

const GIB: u64 = 1 << 30;

fn request(ranks: u32, memory: u64, bytes: u64) -> PlanInput {
    PlanInput {
        ranks,
        ranks_per_host: 2,
        hosts: ranks.div_ceil(2),
        broadcast: false,
        stream: false,
        threads: 4,
        memory,
        database: DatabaseSize { bytes, residues: bytes, sequences: bytes / 300 },
        queries: None,
        batch_residues: 10_000,
        most_block_residues: BLOCK_RESIDUES,
        block_queries: BLOCK_QUERIES,
        user_settings: UserSettings::default(),
    }
}

fn residues(residues: u64) -> Option<Weight> {
    Some(Weight { sequences: residues / 300, residues })
}

fn plan(request: &PlanInput) -> Result<Layout, LayoutError> {
    request.plan(&Config::default())
}

#[test]
fn every_rank_works_in_a_small_job() {
    for ranks in 1..=3 {
        let layout = plan(&request(ranks, 8 * GIB, GIB)).unwrap();
        assert_eq!(layout.topology.workers.len(), ranks as usize);
        assert_eq!(layout.shape.replicas, ranks, "the database fits into each rank");
    }
}

#[test]
fn plans_count_bytes_read_and_broadcast() {
    let mut request = request(6, 8 * GIB, GIB);
    let loading_bytes = |request: &PlanInput| {
        let layout = plan(request).unwrap();
        (layout.bytes_read, layout.bytes_broadcast, layout.host_memory)
    };
    assert_eq!(
        loading_bytes(&request),
        (3 * GIB, 0, GIB),
        "each of three hosts reads the database"
    );
    request.queries = residues(100_000);
    request.user_settings.block_residues = Some(50_000);
    assert_eq!(
        loading_bytes(&request),
        (2 * GIB, 0, GIB),
        "each block is searched once in each partition"
    );
    request.broadcast = true;
    assert_eq!(loading_bytes(&request), (GIB, 2 * GIB, GIB));
    request.user_settings =
        UserSettings { replicas: Some(1), partitions: Some(6), ..request.user_settings };
    assert_eq!(loading_bytes(&request), (GIB, 0, GIB / 3), "each host holds a third");
    request.user_settings =
        UserSettings { replicas: Some(2), partitions: Some(6), ..request.user_settings };
    assert_eq!(
        loading_bytes(&request),
        (GIB, GIB, 2 * GIB / 3),
        "the replicas are cut at different places"
    );
}

#[test]
fn a_large_database_is_divided_among_ranks() {
    let layout = plan(&request(16, 8 * GIB, 40 * GIB)).unwrap();
    assert_eq!((layout.shape.groups, layout.shape.replicas), (1, 2));
    assert!(layout.memory <= 8 * GIB && layout.database_memory >= 5 * GIB, "{layout:?}");
}

#[test]
fn a_database_that_does_not_fit_is_refused_with_numbers() {
    let error = plan(&request(4, 2 * GIB, 40 * GIB)).unwrap_err();
    let LayoutError::Memory { needed, available, least_ranks, .. } = error else {
        panic!("{error:?}")
    };
    assert!(needed > 10 * GIB && available == 2 * GIB && (22..30).contains(&least_ranks));
    let error = plan(&request(4, GIB / 8, GIB)).unwrap_err();
    assert!(matches!(error, LayoutError::NoMemory { .. }), "{error:?}");
}

#[test]
fn a_database_that_does_not_fit_may_be_read_part_by_part() {
    let mut request = request(4, 2 * GIB, 40 * GIB);
    request.stream = true;
    // 150,000 residues in blocks of 50,000 make three blocks.
    request.queries = residues(150_000);
    request.user_settings.block_residues = Some(50_000);
    let layout = plan(&request).unwrap();
    let buffers = layout.streamed.expect("it does not fit");
    assert_eq!(
        (layout.shape.replicas, layout.shape.groups),
        (1, 1),
        "each part is read by one rank"
    );
    assert!(
        buffers > GIB && layout.database_memory == buffers && layout.memory <= 2 * GIB,
        "{layout:?}"
    );
    assert_eq!(layout.bytes_read, 120 * GIB);
    assert!(layout.to_string().contains("part by part"), "{layout}");
    request.database.bytes = GIB;
    assert_eq!(request.plan(&Config::default()).unwrap().streamed, None);
}

#[test]
fn user_settings_are_kept_or_refused() {
    let mut request = request(256, 8 * GIB, GIB);
    assert_eq!(plan(&request).unwrap().shape.groups, 2);
    request.user_settings = UserSettings {
        groups: Some(8),
        replicas: Some(2),
        partitions: Some(61),
        dedicated: Some(true),
        ..UserSettings::default()
    };
    let layout = plan(&request).unwrap();
    let expected =
        TopologyShape { ranks: 256, groups: 8, replicas: 2, partitions: 61, dedicated: true };
    assert_eq!(layout.shape, expected);
    assert_eq!(layout.topology.workers.len(), 256 - 9);
    request.user_settings.groups = Some(257);
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

#[test]
fn results_get_the_remaining_memory() {
    let result_memory = |memory: u64, wish| {
        let mut request = request(2, memory, GIB);
        request.user_settings.result_memory = wish;
        plan(&request).map(|layout| (layout.config.result_memory >> 20, layout.memory <= memory))
    };
    let mib = |mib: u64| mib << 20;
    assert_eq!(result_memory(8 * GIB, None).unwrap(), (256, true));
    // In MiB: 192 for program and threads, and 512 for half of the database.
    assert_eq!(result_memory(mib(192 + 512 + 100), None).unwrap(), (100, true));
    assert_eq!(result_memory(mib(192 + 512 + 100), Some(mib(30))).unwrap(), (30, true));
    let most = mib(192 + 512 + 19);
    assert!(
        matches!(result_memory(most, None), Err(LayoutError::Memory { .. })),
        "four buffers and one"
    );
}

#[test]
fn blocks_are_smaller_where_tasks_would_be_few() {
    let block = |ranks, queries| {
        let mut request = request(ranks, 8 * GIB, GIB);
        request.user_settings.partitions = Some(32);
        request.queries = queries;
        plan(&request).unwrap().block_residues
    };
    assert_eq!(block(32_768, None), BLOCK_RESIDUES, "what comes from a pipe cannot be counted");
    assert_eq!(block(4, residues(700_000)), BLOCK_RESIDUES);
    // 256 groups of 128 workers. Each worker needs 32 tasks and a block has 32 partitions, so there
    // are 32,768 blocks.
    assert_eq!(block(32_768, residues(32_768 * 25_000)), 20_000, "whole batches");
    assert_eq!(block(32_768, residues(32_768 * 60_000)), BLOCK_RESIDUES);
    assert_eq!(block(32_768, residues(1_000_000)), 10_000, "a batch is never cut");
    let mut finer = request(32_768, 8 * GIB, GIB);
    finer.queries = residues(256 * 80 * 30_000);
    // However finely the database is cut, a group waits for half a block at the end of the job.
    assert_eq!(plan(&finer).unwrap().block_residues, 30_000);
    let mut wish = request(32_768, 8 * GIB, GIB);
    wish.queries = residues(1_000_000);
    wish.user_settings.block_residues = Some(123);
    assert_eq!(plan(&wish).unwrap().block_residues, 123);
}

#[test]
fn the_database_is_cut_so_that_every_worker_has_many_tasks() {
    let partitions = |blocks: u64| {
        let mut request = request(128, 8 * GIB, GIB);
        request.queries = residues(blocks * BLOCK_RESIDUES);
        plan(&request).unwrap().shape.partitions
    };
    assert_eq!([1, 16, 100, 1000, 100_000].map(partitions), [512, 512, 128, 33, 32]);
    // Partitions of a small database would be too small, so the plan accepts fewer tasks.
    let mut small = request(128, 8 * GIB, GIB / 16);
    small.queries = residues(100 * BLOCK_RESIDUES);
    assert_eq!(plan(&small).unwrap().shape.partitions, 82);
}

#[test]
fn limits_grow_with_the_ranks() {
    let config = |ranks| plan(&request(ranks, 8 * GIB, GIB)).unwrap().config;
    let (few, many) = (config(4), config(32_768));
    let usual = Config::default();
    assert_eq!(Config { result_memory: usual.result_memory, ..few }, usual);
    assert_eq!(many.waiting_limit, 32_768 * (32 << 20));
    let mut of_few_partitions = request(128, 8 * GIB, GIB);
    of_few_partitions.user_settings.partitions = Some(4);
    of_few_partitions.queries = residues(1 << 40);
    let config = plan(&of_few_partitions).unwrap().config;
    assert_eq!(
        (config.most_unfinished_blocks, config.segment_residues),
        (128, 32 * BLOCK_RESIDUES)
    );
    let queries = (config.most_unfinished_queries, config.segment_queries);
    assert_eq!(queries, (128 * BLOCK_QUERIES, 32 * BLOCK_QUERIES));
    assert_eq!(config.total, of_few_partitions.queries);
    assert!(config.heartbeat.is_some());
    of_few_partitions.user_settings.segment_residues = Some(7);
    assert_eq!(plan(&of_few_partitions).unwrap().config.segment_residues, 7);
}
