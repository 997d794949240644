//! Heartbeats between a rank and its peers, the ranks that it depends on, in a job with I/O ranks.
//!
//! A rank pings its peers while it polls for messages. Before it does anything else that takes
//! long, it announces that no pings will come. So a peer counts as silent only if its last
//! announcement was a ping.

use fleetblast_fleet::config::Heartbeat;
use fleetblast_fleet::health::PeerMonitor;
use fleetblast_fleet::ids::Time;

/// Time between two checks of the peers: 0.1 s in nanoseconds.
const CHECK_INTERVAL: Time = Time(100_000_000);

/// The peers of a rank, and the time of the last message from each.
pub struct Heartbeats {
    heartbeat: Option<Heartbeat>,
    peers: PeerMonitor,
    /// The rank of each peer.
    ranks: Vec<usize>,
    /// For each peer, whether further pings are expected, because its last announcement was a ping.
    is_expected: Vec<bool>,
    /// Whether this rank pings its peers at present. False before the first pings and during a
    /// pause.
    is_present: bool,
    /// When this rank last checked its peers.
    last_checked: Time,
}

impl Heartbeats {
    /// Creates the heartbeats between this rank and the peers `ranks`. Without `heartbeat`, no peer
    /// ever counts as silent.
    pub fn new(ranks: Vec<usize>, heartbeat: Option<Heartbeat>) -> Self {
        let peers = PeerMonitor::new(ranks.len(), heartbeat);
        let is_expected = vec![false; ranks.len()];
        let (is_present, last_checked) = (false, Time(0));
        Heartbeats { heartbeat, peers, ranks, is_expected, is_present, last_checked }
    }

    /// Adds ranks to the peers, and keeps the present peers.
    pub fn add(&mut self, ranks: impl IntoIterator<Item = usize>) {
        for rank in ranks {
            if !self.ranks.contains(&rank) {
                self.ranks.push(rank);
                self.is_expected.push(false);
            }
        }
        self.peers = PeerMonitor::new(self.ranks.len(), self.heartbeat);
        self.is_present = false;
    }

    /// Removes all peers.
    pub fn clear(&mut self) {
        *self = Heartbeats::new(Vec::new(), self.heartbeat);
    }

    /// Stops pinging until the next call of [`due`](Self::due). Returns the peers to inform of the
    /// pause. The list is empty if this rank was not pinging.
    pub fn pause_heartbeats(&mut self) -> &[usize] {
        let was_present = std::mem::take(&mut self.is_present);
        if was_present { &self.ranks } else { &[] }
    }

    /// Records that a rank sent a message, which arrived at time `now`.
    pub fn note_received(&mut self, rank: usize, now: Time) {
        if let Some(peer) = self.peer(rank) {
            self.peers.note_received(peer, now);
        }
    }

    /// Sets whether further pings are expected from a rank.
    pub fn set_expected(&mut self, rank: usize, is_expected: bool) {
        if let Some(peer) = self.peer(rank) {
            self.is_expected[peer] = is_expected;
        }
    }

    /// Returns the ranks to ping now, and records the pings as sent. After a pause, these are all
    /// peers.
    pub fn due(&mut self, now: Time) -> Vec<usize> {
        let mut due = self.peers.peers_to_ping(now);
        if !self.is_present {
            self.is_present = true;
            (0..self.ranks.len()).for_each(|peer| self.peers.note_sent(peer, now));
            due = (0..self.ranks.len()).collect();
        }
        due.into_iter().map(|peer| self.ranks[peer]).collect()
    }

    /// Returns whether it is time to check the peers.
    pub fn is_check_due(&self, now: Time) -> bool {
        now.since(self.last_checked) >= CHECK_INTERVAL
    }

    /// Checks the peers. Returns the rank with the longest silence above the limit, and the length
    /// of that silence. The caller must first record all messages that have arrived.
    pub fn find_silent(&mut self, now: Time) -> Option<(usize, Time)> {
        // If this rank did not check for a while, it may not have received its peers' last
        // messages.
        let pause = now.since(self.last_checked);
        let was_stopped = self.heartbeat.is_some_and(|beat| pause > beat.interval);
        self.last_checked = now;
        for (peer, is_expected) in self.is_expected.iter().enumerate() {
            if was_stopped || !is_expected {
                self.peers.note_received(peer, now);
            }
        }
        self.peers.longest_silent(now).map(|(peer, silence)| (self.ranks[peer], silence))
    }

    fn peer(&self, rank: usize) -> Option<usize> {
        self.ranks.iter().position(|&own| own == rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns heartbeats with the peers 2 and 3, an interval of 2 s and a limit of 20 s. The last
    /// check was at 100 s.
    fn heartbeats() -> Heartbeats {
        let heartbeat = Heartbeat { interval: seconds(2.0), limit: seconds(20.0) };
        let mut heartbeats = Heartbeats::new(vec![2, 3], Some(heartbeat));
        assert_eq!(heartbeats.find_silent(seconds(100.0)), None);
        heartbeats
    }

    fn seconds(number: f64) -> Time {
        Time::from_seconds(number)
    }

    /// Checks every second between two times in seconds. Returns the first silence that is found.
    fn check(heartbeats: &mut Heartbeats, from: u64, to: u64) -> Option<(usize, Time)> {
        (from..=to).find_map(|second| heartbeats.find_silent(Time(second * SECOND)))
    }

    fn ping(heartbeats: &mut Heartbeats, rank: usize, time: f64) {
        heartbeats.note_received(rank, seconds(time));
        heartbeats.set_expected(rank, true);
    }

    #[test]
    fn a_rank_is_silent_after_its_last_ping() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 3, 101.0);
        assert_eq!(check(&mut heartbeats, 101, 121), None);
        assert_eq!(check(&mut heartbeats, 122, 122), Some((3, seconds(21.0))));
    }

    #[test]
    fn a_rank_is_not_silent_before_its_first_ping() {
        let mut heartbeats = heartbeats();
        heartbeats.note_received(3, seconds(101.0));
        assert_eq!(check(&mut heartbeats, 101, 500), None);
        ping(&mut heartbeats, 3, 500.0);
        assert_eq!(check(&mut heartbeats, 501, 521).map(|(rank, _)| rank), Some(3));
    }

    #[test]
    fn any_message_counts_as_a_heartbeat() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        assert_eq!(check(&mut heartbeats, 101, 115), None);
        heartbeats.note_received(2, seconds(115.0));
        heartbeats.note_received(7, seconds(115.0));
        assert_eq!(check(&mut heartbeats, 116, 135), None);
    }

    #[test]
    fn a_rank_that_was_stopped_blames_nobody() {
        // Seconds without a check: just above the interval, just below the limit, and far above it.
        for stopped in [3, 19, 500] {
            let mut heartbeats = heartbeats();
            ping(&mut heartbeats, 2, 100.0);
            assert_eq!(check(&mut heartbeats, 101, 104), None);
            // At first, this rank has not received the messages that came meanwhile.
            let back = 104 + stopped;
            assert_eq!(check(&mut heartbeats, back, back + 20), None, "{stopped} s");
            let silence = Some((2, seconds(21.0)));
            assert_eq!(check(&mut heartbeats, back + 21, back + 21), silence, "{stopped} s");
        }
    }

    #[test]
    fn a_rank_that_checks_late_but_within_an_interval_was_not_stopped() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        let late = (51..=60).map(|number| seconds(2.0 * f64::from(number)));
        assert_eq!(late.filter_map(|now| heartbeats.find_silent(now)).count(), 0, "until 120 s");
        assert_eq!(heartbeats.find_silent(seconds(122.0)), Some((2, seconds(22.0))));
    }

    /// A rank may take longer than the limit to open a slow pipe. It announces that once.
    #[test]
    fn a_rank_that_was_aside_is_silent_only_after_its_next_ping() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 101.0);
        heartbeats.set_expected(2, false);
        assert_eq!(check(&mut heartbeats, 101, 300), None);
        // A message during the pause does not announce pings.
        heartbeats.note_received(2, seconds(300.0));
        assert_eq!(check(&mut heartbeats, 301, 400), None);
        ping(&mut heartbeats, 2, 400.0);
        assert_eq!(check(&mut heartbeats, 401, 421), Some((2, seconds(21.0))));
    }

    #[test]
    fn added_ranks_get_pings_and_known_ones_stay() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        assert!(heartbeats.pause_heartbeats().is_empty(), "nobody expects pings");
        assert_eq!(heartbeats.due(seconds(0.5)), [2, 3]);
        assert!(heartbeats.due(seconds(1.0)).is_empty());
        assert_eq!(heartbeats.due(seconds(2.5)), [2, 3]);
        assert_eq!(heartbeats.pause_heartbeats(), [2, 3]);
        assert_eq!(heartbeats.due(seconds(3.0)), [2, 3], "it is back");
        heartbeats.add([3, 1]);
        assert_eq!(heartbeats.due(seconds(101.0)), [2, 3, 1]);
        assert_eq!(check(&mut heartbeats, 101, 122), Some((2, seconds(21.0))));
        heartbeats.clear();
        assert!(heartbeats.due(seconds(200.0)).is_empty());
        assert_eq!(check(&mut heartbeats, 122, 300), None);
    }
}
