use fleetblast_seq::nucleotide::{blastna, encode};

use super::*;
use crate::nucleotide::testing;
use crate::testing::{RandomSequences, pool};
use crate::xdrop::GapCosts;
use fastrand::Rng;

fn letters(text: &str) -> Vec<u8> {
    let code = |byte| blastna::from_ncbi4na(encode(byte).expect("a letter"));
    text.bytes().map(code).collect()
}

fn traceback(
    aligner: Aligner,
    (reward, penalty): (i32, i32),
    gaps: (i32, i32),
    x_drop: i32,
) -> Traceback {
    let gaps = GapCosts { open: gaps.0, extend: gaps.1 };
    let scores = testing::scores(reward, penalty);
    Traceback {
        aligner,
        scoring: Scoring { reward, penalty, gaps },
        vectors: ByteTracer::new(&scores, gaps, x_drop),
        scores,
        x_drop,
        perc_identity: 0.0,
        separation: 6,
    }
}

/// Creates a preliminary HSP that consists of a run of pairs.
fn run(q: u32, s: u32, length: u32) -> PrelimHsp {
    PrelimHsp {
        score: length as i32,
        q_start: q,
        q_end: q + length,
        s_start: s,
        s_end: s + length,
        q_seed: q + length / 2,
        s_seed: s + length / 2,
        evalue: 0.0,
        linked: 1,
        context: 0,
        frame: Frame::Strand(Strand::Plus),
    }
}

fn evaluate(_: u8, _: i32) -> Evaluation {
    Evaluation { evalue: 0.0, bit_score: 0.0 }
}

/// Formats the columns of an alignment as BLAST+ prints them in `btop`.
fn btop(query: &[u8], subject: &[u8], alignment: &Alignment) -> String {
    let mut text = String::new();
    let (mut q, mut s) = (alignment.query.start as usize, alignment.subject.start as usize);
    let mut equal = 0;
    for edit in &alignment.edits {
        for _ in 0..edit.len {
            let a = (edit.op != EditOp::GapInQuery).then(|| query[q]);
            let b = (edit.op != EditOp::GapInSubject).then(|| subject[s]);
            q += usize::from(a.is_some());
            s += usize::from(b.is_some());
            if a == b {
                equal += 1;
                continue;
            }
            if equal > 0 {
                text += &equal.to_string();
                equal = 0;
            }
            let letter = |code: Option<u8>| {
                code.map_or('-', |code| char::from(blastna::LETTERS[usize::from(code)]))
            };
            text.extend([letter(a), letter(b)]);
        }
    }
    text + &equal.to_string()
}

/// A test case: query; subject, without its first letters `ACGTTG`; a run of pairs (start in the
/// query, start in the subject, length); score and columns of the alignment of `blastn` 2.12.0.
type Case = (&'static str, &'static str, (u32, u32, u32), i32, &'static str);

fn check(traceback: &Traceback, cases: &[Case]) {
    for &(query, subject, (q, s, length), score, columns) in cases {
        let (query, subject) = (letters(query), letters(&format!("ACGTTG{subject}")));
        let contexts = [Context::new(query[..].into(), query[..].into(), 9)];
        for kernel in Kernel::available() {
            let made = traceback.align(
                &contexts,
                &subject,
                &[run(q, s, length)],
                evaluate,
                &mut Scratch::new(kernel),
            );
            assert_eq!(made.len(), 1);
            assert_eq!((made[0].query.clone(), made[0].subject.start), (0..110, 6));
            let found = (made[0].score, btop(&query, &subject, &made[0]));
            assert_eq!(found, (score, columns.to_owned()));
        }
    }
}

#[test]
fn greedy_alignments_are_those_of_blast() {
    check(
        &traceback(Aligner::Greedy, (1, -2), (0, 0), 54),
        &[
            (
                "GGATCACAGTCTACACTGCTCACTCCAACCCCGGCCCCTGAGTCCGAGGAGAGGGTGCTTCAGAGTATGTATACCACTGGGTAGGATACGGCGGAGGGCACGTCAATACG",
                "GGATCACAGTCTACACTGCTCACTACACCAACCCCGGCCCCAGAGTCCGAGGAGAGYGTGCTGCAGAATATGTATACCCTGGGTAGGATACTGCGGAGGGCACGTCAATACG",
                (0, 6, 24),
                84,
                "24-A-C-A14TA14GY5TG4GA10A-13GT20",
            ),
            (
                "ACTGCATGCTCTTGTGGTTCATCTGCATGGAGAGGGTGGGCATGGGTGGGGGTGCTGGCCCGTGATCTGGACCTCCCATCCACAGCTCATTGTACCGAGTGTAGAGAGGG",
                "ACTGCATGCTCTTGTGGTTCATTTGCATGGAGAGGYTGTATGGCATGGGTGGGGGTGCTGGCCCGTATCTGGACCTCCCATCCACAGCTCATTGTACCGAGTGTAGAGAGGG",
                (64, 72, 46),
                93,
                "22CT12-Y-T2-AGT25G-46",
            ),
        ],
    );
}

#[test]
fn greedy_alignments_with_gap_costs_are_those_of_blast() {
    check(
        &traceback(Aligner::Greedy, (1, -2), (2, 1), 53),
        &[
            (
                "CCACACATGGCTGGATCCCCATGATATTCAAGAACTATACATTAAGTTGAACCTCCAGAACACATGTTTCAGTCACGTAGTGCCATCATCGATCACGGAATGTAGCATCA",
                "CCACACATGGCTTGATCCCCATGATATTCGAAGAACTATACATTAAGTTGAACCTCCAGAAGACGTTTCAGTCRCGTAGTGCCATCATCGATCACGGAATGTAGCATCA",
                (75, 80, 35),
                93,
                "12GT16-G31CG2A-T-9AR35",
            ),
            (
                "GGAAAAAACGTGACTCGCGGACCAGCCTTTAGGTCTTCTACTTAACTACAACTGTTCCGCGGCGGCATTGCCCTTAACTAGCGTTACTAACTAGAGTTTTACTGACGGAA",
                "GGAAAAAACGTGACTCGTGGACGCAGCCTTTAGGTCTTCTACTTAACTAYAAGTGTTCCGCGGCGGCATTGCCCTTAACTAGCGAACTAACTAGAGTTTTACTCACGGAA",
                (52, 59, 31),
                89,
                "17CT4-G26CY2CG31TAT-18GC6",
            ),
        ],
    );
}

#[test]
fn dynamic_alignments_are_those_of_blast() {
    check(
        &traceback(Aligner::Dynamic, (2, -3), (5, 2), 110),
        &[
            (
                "GATAGCGTTTCTGTTTCGGTGTAGGTGCTAATCGACTATGCTACTGCGGTTAACGGGGATGGCAAGTACATTTTTTCGTAGATGTGCCTTGCTAACGAAAGTATTAAACA",
                "GATAGCGTTTCTGTTTCGGTGTACAACGTGCTAATCYACTATGCTACTGCGGTTAACGGGGATGGCAGTACATTTTTTCGTAGATGTGCCTTGCTAACTCAAGTATTAAACA",
                (64, 72, 32),
                180,
                "23GC-A-A-C9GY30A-31GTAC12",
            ),
            (
                "TAGAATCATAGTTGGACGCGCGACGGCCGTTCCAGAAAATCTTTGAATACTCAATCCTGCGGGTTCGGTGACCTAAAACCCATTGATTGTGTTACCCAGTTCGAGCGCAT",
                "TAGAATCATAATTGGACGCGCGAACACGGCCGTTCCAGAAAATCTTTGACTACACATTCCTGCGGGTTCGGACRTAAAACCCATTGATTGTGTTACCCAGTTCTAGCGCAT",
                (23, 32, 23),
                166,
                "10GA12-A-C-A23AC3TA2AT13G-T-3CR29GT7",
            ),
        ],
    );
}

#[test]
fn alignments_score_what_their_columns_do() {
    let mut random = Rng::with_seed(31);
    let kinds = [
        traceback(Aligner::Greedy, (1, -2), (0, 0), 54),
        traceback(Aligner::Greedy, (2, -3), (5, 2), 110),
        traceback(Aligner::Dynamic, (2, -3), (5, 2), 110),
    ];
    let mut gapped = 0;
    for round in 0..400 {
        let len = random.usize(60..360);
        let mut query = if round % 2 == 0 { random.bases(len) } else { random.repetitive(len) };
        let mut subject = random.mutated(&query, 8);
        random.blur(&mut subject, 40);
        if round % 3 == 0 {
            random.blur(&mut query, 60);
        }
        let contexts = [Context::new(query[..].into(), query[..].into(), 9)];
        let seeds: Vec<PrelimHsp> =
            (0..5).map(|_| run(random.u32(..40), random.u32(..40), 10)).collect();
        for kind in &kinds {
            let mut scratch = Scratch::new(Kernel::detect());
            for made in kind.align(&contexts, &subject, &seeds, evaluate, &mut scratch) {
                let Scoring { reward, penalty, gaps } = kind.scoring;
                let linear = reward - 2 * penalty;
                let (mut q, mut s) = (made.query.start as usize, made.subject.start as usize);
                let mut twice = 0;
                for edit in &made.edits {
                    let len = edit.len as usize;
                    if edit.op == EditOp::Substitution {
                        let pairs = query[q..q + len].iter().zip(&subject[s..]);
                        let scores = pairs.map(|(&a, &b)| kind.scores.score(a.into(), b));
                        twice += 2 * scores.sum::<i32>();
                    } else if kind.scoring.is_linear() {
                        twice -= linear * edit.len as i32;
                    } else {
                        twice -= 2 * (gaps.open + gaps.extend * edit.len as i32);
                    }
                    q += if edit.op == EditOp::GapInQuery { 0 } else { len };
                    s += if edit.op == EditOp::GapInSubject { 0 } else { len };
                }
                assert_eq!((q, s), (made.query.end as usize, made.subject.end as usize));
                // If the start is no pair, the gaps on its two sides may become one, which costs
                // less. The score of a greedy alignment already includes that.
                let saved = twice / 2 - made.score;
                let joined = kind.aligner == Aligner::Dynamic && saved == gaps.open;
                assert!(saved == 0 || joined, "{kind:?} {saved}");
                gapped += usize::from(made.edits.len() > 1);
            }
        }
    }
    assert!(gapped > 100, "{gapped}");
}

fn hsp(q: (u32, u32), s: (u32, u32), score: i32, edits: &[(EditOp, u32)]) -> Hsp {
    let bounds = Bounds { q_start: q.0, q_end: q.1, s_start: s.0, s_end: s.1 };
    let edits = edits.iter().map(|&(op, len)| Edit { op, len }).collect();
    Hsp { context: 0, score, bounds, edits }
}

#[test]
fn what_reaches_beyond_a_common_begin_or_end_is_kept() {
    use EditOp::{GapInQuery, Substitution};
    let best = hsp((10, 30), (10, 30), 20, &[(Substitution, 20)]);
    let longer =
        hsp((10, 50), (10, 52), 15, &[(Substitution, 25), (GapInQuery, 2), (Substitution, 15)]);
    let mut hsps = vec![longer.clone(), best.clone()];
    assert_eq!(endpoints::purge_keeping_tails(&mut hsps), 1);
    assert_eq!(hsps[0], best);
    let rest = [(Substitution, 5), (GapInQuery, 2), (Substitution, 15)];
    assert_eq!(hsps[1], hsp((30, 50), (30, 52), 15, &rest));
    // At the end, the alignment stops where the better one starts.
    let better = hsp((40, 50), (42, 52), 30, &[(Substitution, 10)]);
    let mut hsps = vec![longer.clone(), better.clone()];
    assert_eq!(endpoints::purge_keeping_tails(&mut hsps), 1);
    let rest = [(Substitution, 25), (GapInQuery, 2), (Substitution, 5)];
    assert_eq!(hsps[1], hsp((10, 40), (10, 42), 15, &rest));
    let mut hsps = vec![longer, better.clone()];
    endpoints::purge(&mut hsps);
    assert_eq!(hsps, [better]);
}

#[test]
fn an_hsp_whose_only_pair_is_its_last_has_no_alignment() {
    let query = letters("TAGGAAC");
    let subject = letters("TTNNNNNNC");
    let contexts = [Context::new(query[..].into(), query[..].into(), 1)];
    let traceback = traceback(Aligner::Dynamic, (2, -3), (5, 2), 110);
    let mut scratch = Scratch::new(Kernel::detect());
    let made = traceback.align(&contexts, &subject, &[run(0, 2, 7)], evaluate, &mut scratch);
    assert_eq!(made, []);
}

#[test]
fn nothing_is_read_of_a_long_subject_beyond_the_reach_of_its_hsps() {
    let mut random = Rng::with_seed(7);
    for round in 0..12 {
        let query = random.repetitive(500);
        let mut subject = random.bases(120_000);
        let places = [200, 30_000, 30_900, 119_000].map(|at| at + random.usize(..300));
        let mut hsps = Vec::new();
        for at in places {
            let copy = random.mutated(&query, 12);
            subject[at..at + copy.len()].copy_from_slice(&copy);
            let mut hsp = run(0, at as u32, 500.min(copy.len() as u32));
            (hsp.q_seed, hsp.s_seed) = (hsp.q_seed + 3, hsp.s_seed + 3);
            hsps.push(hsp);
        }
        let reach = hsps.iter().map(|hsp| reach(500, hsp, subject.len() as u32));
        let mut near = vec![blastna::SENTINEL; subject.len()];
        for range in reach {
            let range = range.start as usize..range.end as usize;
            near[range.clone()].copy_from_slice(&subject[range]);
        }
        assert!(near.contains(&blastna::SENTINEL));
        let contexts = [Context::new(query[..].into(), query[..].into(), 20)];
        let aligner = if round % 2 == 0 { Aligner::Greedy } else { Aligner::Dynamic };
        let gaps = if round % 2 == 0 { (0, 0) } else { (5, 2) };
        let traceback = traceback(aligner, (2, -3), gaps, 60);
        let [whole, part] = [&subject, &near].map(|subject| {
            let mut scratch = Scratch::new(Kernel::detect());
            traceback.align(&contexts, subject, &hsps, evaluate, &mut scratch)
        });
        assert!(!whole.is_empty());
        assert_eq!(whole, part);
    }
}

#[test]
fn a_part_of_a_subject_is_enough_if_no_path_comes_to_its_ends() {
    let mut random = Rng::with_seed(8);
    let (mut enough, mut not) = (0, 0);
    for _ in 0..150 {
        let query = random.bases(150);
        let mut subject = random.bases(2000);
        let copy = random.mutated(&query, 20);
        let at = random.usize(..2) * random.usize(900..920);
        subject[at..at + copy.len()].copy_from_slice(&copy);
        let hsp = run(60, at as u32 + 60, 20);
        let contexts = [Context::new(query[..].into(), query[..].into(), 9)];
        let traceback = traceback(Aligner::Greedy, (1, -2), (0, 0), 40);
        let margin = random.u32(60..260);
        let near =
            hsp.s_start.saturating_sub(margin)..(hsp.s_end + margin).min(subject.len() as u32);
        let moved = PrelimHsp {
            s_start: hsp.s_start - near.start,
            s_end: hsp.s_end - near.start,
            s_seed: hsp.s_seed - near.start,
            ..hsp
        };
        for kernel in Kernel::available() {
            let mut scratch = Scratch::new(kernel);
            let whole = traceback.align(&contexts, &subject, &[hsp], evaluate, &mut scratch);
            scratch.take_met_subject_end();
            let letters = &subject[near.start as usize..near.end as usize];
            let mut part = traceback.align(&contexts, letters, &[moved], evaluate, &mut scratch);
            if scratch.take_met_subject_end() {
                not += 1;
                continue;
            }
            enough += 1;
            for Alignment { subject, .. } in &mut part {
                *subject = subject.start + near.start..subject.end + near.start;
            }
            assert_eq!(whole, part);
        }
    }
    assert!(enough > 20 && not > 20, "{enough} {not}");
}

#[test]
fn threads_align_as_one_does() {
    let mut random = Rng::with_seed(9);
    let pools = [pool(1), pool(3)];
    for round in 0..12 {
        // Copies of a repeat, so that alignments contain later HSPs.
        let repeat = random.bases(90);
        let with_copies = |random: &mut Rng| {
            let copies = (0..20).flat_map(|_| [random.bases(15), random.mutated(&repeat, 12)]);
            copies.collect::<Vec<_>>().concat()
        };
        let (query, subject) = (with_copies(&mut random), with_copies(&mut random));
        let ends = (query.len() as u32 - 20, subject.len() as u32 - 20);
        let hsp = |_| run(random.u32(..ends.0), random.u32(..ends.1), 20);
        let hsps: Vec<PrelimHsp> = (0..400).map(hsp).collect();
        let contexts = [Context::new(query[..].into(), query[..].into(), 9)];
        let aligner = if round % 2 == 0 { Aligner::Greedy } else { Aligner::Dynamic };
        let gaps = if round % 2 == 0 { (0, 0) } else { (5, 2) };
        let traceback = traceback(aligner, (2, -3), gaps, 30);
        for kernel in Kernel::available() {
            let [one, three] = pools.each_ref().map(|pool| {
                let mut scratch = Scratch::new(kernel);
                let align = || traceback.align(&contexts, &subject, &hsps, evaluate, &mut scratch);
                let made = pool.install(align);
                (made, scratch.take_met_subject_end())
            });
            assert!(one.0.len() > 5);
            assert_eq!(one.0, three.0);
            // A needless alignment may come to the end of the subject, too.
            assert!(one.1 <= three.1);
        }
    }
}
