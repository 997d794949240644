use super::*;
use crate::nucleotide::testing;
use crate::nucleotide::traceback::{Aligner, Scoring};
use crate::scores::rows_of_letters;
use crate::testing::RandomSequences;
use fastrand::Rng;

#[test]
fn bytes_find_what_wider_numbers_do() {
    let mut random = Rng::with_seed(77);
    let schemes = [
        (2, -3, 5, 2, 111),
        (1, -3, 2, 2, 50),
        (1, -2, 0, 2, 54),
        (1, -1, 3, 2, 100),
        (1, -4, 1, 1, 20),
        (4, -5, 12, 8, 126),
    ];
    let (mut gapped, mut in_frames, mut wide) = (0, 0, 0);
    for (reward, penalty, open, extend, x_drop) in schemes {
        let gaps = GapCosts { open, extend };
        let scores = testing::scores(reward, penalty);
        let traceback = Traceback {
            aligner: Aligner::Dynamic,
            scoring: Scoring { reward, penalty, gaps },
            vectors: ByteTracer::new(&scores, gaps, x_drop),
            scores,
            x_drop,
            perc_identity: 0.0,
            separation: 6,
        };
        for round in 0..200 {
            let len = 1 + random.usize(..if round % 10 == 0 { 2000 } else { 300 });
            let query = if round % 2 == 0 { random.bases(len) } else { random.repetitive(len) };
            let one_in = random.usize(3..33);
            let mut subject = random.mutated(&query, one_in);
            // Long gaps, which force frames to move.
            if round % 5 == 0 {
                let at = random.usize(..subject.len());
                let inserted = random.bases(20 + one_in);
                subject.splice(at..at, inserted);
            }
            if round % 3 == 0 {
                random.blur(&mut subject, 30);
            }
            let q = random.usize(..len);
            let s = if round % 4 == 0 { random.usize(..subject.len()) } else { q };
            let s = s.min(subject.len() - 1);
            let rows = rows_of_letters(&query);
            let rows_back: Vec<_> = rows.iter().rev().copied().collect();
            let rows = [&rows[..], &rows_back];
            let mut window = SubjectWindow::default();
            window.start(subject.len());
            window.load(&subject, 0..subject.len() as u32);
            let kernel = Kernel::Portable;
            let mut scratch = DynamicScratch::new(kernel);
            let expected = align(&traceback, kernel, rows, &window, (q, s), &mut scratch);
            gapped += usize::from(expected.edits.len() > 1);
            for kernel in Kernel::available() {
                let mut scratch = DynamicScratch::new(kernel);
                let in_bytes = in_bytes(&traceback, kernel, rows, &window, (q, s), &mut scratch);
                if let Some(traced) = in_bytes {
                    assert_eq!(traced, expected);
                    in_frames += 1;
                } else {
                    wide += 1;
                    let found = align(&traceback, kernel, rows, &window, (q, s), &mut scratch);
                    assert_eq!(found, expected);
                }
            }
        }
    }
    // Every kernel but the portable one has frames.
    let kernels = Kernel::available().count() - 1;
    assert!(gapped > 500 && in_frames >= 900 * kernels && wide > 0, "{gapped} {in_frames} {wide}");
}
