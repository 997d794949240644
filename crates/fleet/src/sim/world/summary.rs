//! Computes the figures of a run that has ended.

use crate::ids::Time;
use crate::sim::ledger::Checkpoint;
use crate::worker::Worker;

use super::{Outcome, RunEnd, World};

impl World<'_> {
    pub(super) fn finish(mut self) -> Outcome {
        let end = self.end.take().unwrap_or(RunEnd::Stuck);
        let topology = &self.job.topology;
        let seconds = |nanoseconds: u64| Time(nanoseconds).seconds();
        let mut report = std::mem::take(&mut self.report);
        if report.makespan == 0.0 {
            report.makespan = self.now.seconds();
        }
        report.ranks = topology.ranks;
        report.workers = topology.workers.len() as u32;
        report.groups = topology.groups.len() as u32;
        report.search = seconds(self.sums.search);
        report.answer = seconds(self.sums.answer);
        report.blocked = seconds(self.sums.blocked);
        report.output = seconds(self.sums.output);
        let makespan = report.makespan.max(1e-9);
        let lanes = f64::from(report.workers) * makespan;
        let useful = report.search + report.answer;
        report.idle = lanes - useful - report.blocked;
        let last: f64 = self.sums.last_work.iter().map(|time| makespan - time.seconds()).sum();
        report.tail = last / f64::from(report.workers.max(1));
        report.worker_efficiency = useful / lanes;
        report.efficiency = useful / (f64::from(report.ranks) * makespan);
        report.output_share = report.blocked / lanes;
        report.supermaster_load = seconds(self.sums.supermaster) / makespan;
        report.reading_load = seconds(self.sums.reading) / makespan;
        let busiest = self.sums.masters.iter().max().copied().unwrap_or(0);
        report.master_load = seconds(busiest) / makespan;
        report.master_messages = self.sums.master_messages.iter().max().copied().unwrap_or(0);
        let masters: u64 = self.sums.masters.iter().sum();
        report.master_per_task = masters as f64 / 1e3 / report.tasks.max(1) as f64;
        let peaks = self.workers.iter().map(Worker::peak_memory);
        report.peak_memory = peaks.max().unwrap_or(0);
        report.written = self.files.bytes;
        report.file_load = report.written as f64 / self.job.machine.file_rate / makespan;
        report.events = self.queue.added_events();
        let (checkpoint, violations, written_at) = match self.ledger {
            Some(ledger) => (ledger.checkpoint, ledger.violations, ledger.written_at),
            None => (Checkpoint::default(), Vec::new(), Vec::new()),
        };
        Outcome { end, report, checkpoint, violations, written_at }
    }
}
