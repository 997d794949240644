//! Ungapped extensions, one base at a time.

use super::super::Segment;
use super::Run;

impl Run<'_> {
    pub fn exact(&self, q: usize, s: usize, x: i32) -> Segment {
        let length = self.of.contexts.length() as usize;
        let score_at = |q: usize, s: usize| {
            self.of.rules.matrix[usize::from(self.letter(q))][usize::from(self.subject[s])]
        };
        let (mut score, mut sum, mut begin) = (0, 0, 0);
        for i in 1..=q.min(s) {
            sum += score_at(q - i, s - i);
            if sum > 0 {
                begin = i;
                score += sum;
                sum = 0;
            } else if sum < -x {
                break;
            }
        }
        let (mut end, mut current) = (0, -x);
        sum = 0;
        for i in 0..(length - q).min(self.subject.len() - s) {
            sum += score_at(q + i, s + i);
            if sum > 0 {
                end = i + 1;
                score += sum;
                current = (-score).max(-x);
                sum = 0;
            } else if sum < current {
                break;
            }
        }
        self.segment(q, s, q - begin, s - begin, begin + end, score)
    }

    pub fn approximate(&self, q: usize, s: usize, s_end: i32, x: i32, reduced: i32) -> Segment {
        let group = |q: usize, s: usize| -> i32 {
            let letters: u32 =
                (0..4).map(|i| u32::from(self.letter(q + i)) << (6 - 2 * i)).fold(0, |a, b| a | b);
            if (1..4).any(|i| (4..15).contains(&self.letter(q + i))) {
                self.note("ambiguous group");
            }
            let pair = |i: usize| {
                let same = letters >> (6 - 2 * i) & 3 == u32::from(self.subject[s + i]);
                if same { self.of.rules.reward } else { self.of.rules.penalty }
            };
            (0..4).map(pair).sum()
        };
        let pad = (4 - s % 4) % 4;
        let (q_ext, s_ext) = (q + pad, s + pad);
        let (mut score, mut sum, mut q_start) = (0, 0, q_ext);
        for i in 1..=q_ext.min(s_ext) / 4 {
            sum += group(q_ext - 4 * i, s_ext - 4 * i);
            if sum > 0 {
                q_start = q_ext - 4 * i;
                score += sum;
                sum = 0;
            }
            if sum < -x {
                break;
            }
        }
        let s_start = s_ext - (q_ext - q_start);
        let length = self.of.contexts.length() as i64;
        let room = (length - q_ext as i64).min(self.subject.len() as i64 - s_ext as i64) / 4;
        let mut last = q_ext;
        sum = 0;
        for i in 0..room.max(0) as usize {
            sum += group(q_ext + 4 * i, s_ext + 4 * i);
            if sum > 0 {
                last = q_ext + 4 * i + 3;
                score += sum;
                sum = 0;
            }
            if sum < -x {
                break;
            }
        }
        if score >= reduced {
            return self.exact(q, s, x);
        }
        self.note("approximate extension");
        let length = (s_end - s_start as i32).max((last - q_start) as i32 + 1);
        self.segment(q, s, q_start, s_start, length as usize, score)
    }

    fn segment(
        &self,
        q: usize,
        s: usize,
        q_start: usize,
        s_start: usize,
        length: usize,
        score: i32,
    ) -> Segment {
        Segment {
            q_start: q_start as u32,
            s_start: s_start as u32,
            length: length as u32,
            score,
            q_seed: q as u32,
            s_seed: s as u32,
        }
    }
}
