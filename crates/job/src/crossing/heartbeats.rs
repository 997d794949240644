//! Signs of life between a rank and those that it depends on, in a job with I/O ranks.
//!
//! A rank sends pings to its peers while it looks after its messages, and before it does something
//! else for long says that none will come. So a peer is missed only after it has sent a ping.

use fleetblast_fleet::config::Heartbeat;
use fleetblast_fleet::health::Peers;
use fleetblast_fleet::ids::Time;

/// Between two looks at signs of life.
const LOOK: Time = Time(100_000_000);

/// The peers of a rank, and when these sent something.
pub struct Heartbeats {
    heartbeat: Option<Heartbeat>,
    peers: Peers,
    /// The rank of each peer.
    ranks: Vec<usize>,
    /// Whether a peer has promised more pings.
    is_expected: Vec<bool>,
    /// Whether the peers were sent pings since this rank began, or stepped aside.
    is_present: bool,
    /// When this rank last looked.
    looked: Time,
}

impl Heartbeats {
    /// With these ranks.
    pub fn new(ranks: Vec<usize>, heartbeat: Option<Heartbeat>) -> Self {
        let peers = Peers::new(ranks.len(), heartbeat);
        let is_expected = vec![false; ranks.len()];
        Heartbeats { heartbeat, peers, ranks, is_expected, is_present: false, looked: Time(0) }
    }

    /// These ranks are peers from now on, too.
    pub fn add(&mut self, ranks: impl IntoIterator<Item = usize>) {
        for rank in ranks {
            if !self.ranks.contains(&rank) {
                self.ranks.push(rank);
                self.is_expected.push(false);
            }
        }
        self.peers = Peers::new(self.ranks.len(), self.heartbeat);
        self.is_present = false;
    }

    /// Nobody is a peer any more.
    pub fn clear(&mut self) {
        *self = Heartbeats::new(Vec::new(), self.heartbeat);
    }

    /// The ranks that must know that no pings will come for a while.
    pub fn step_aside(&mut self) -> &[usize] {
        let was_present = std::mem::take(&mut self.is_present);
        if was_present { &self.ranks } else { &[] }
    }

    /// A rank has sent something.
    pub fn note_received(&mut self, rank: usize, now: Time) {
        if let Some(peer) = self.peer(rank) {
            self.peers.note_received(peer, now);
        }
    }

    /// Whether a rank will send pings, as it says.
    pub fn expect(&mut self, rank: usize, more: bool) {
        if let Some(peer) = self.peer(rank) {
            self.is_expected[peer] = more;
        }
    }

    /// The ranks that are to be sent a ping now, which is noted as sent.
    pub fn due(&mut self, now: Time) -> Vec<usize> {
        let mut due = self.peers.quiet(now);
        if !self.is_present {
            self.is_present = true;
            (0..self.ranks.len()).for_each(|peer| self.peers.note_sent(peer, now));
            due = (0..self.ranks.len()).collect();
        }
        due.into_iter().map(|peer| self.ranks[peer]).collect()
    }

    /// Whether this rank did not look for a while.
    pub fn must_look(&self, now: Time) -> bool {
        now.since(self.looked) >= LOOK
    }

    /// The rank that was silent for too long, and for how long. All that has arrived must have been
    /// noted before.
    pub fn silent(&mut self, now: Time) -> Option<(usize, Time)> {
        // Who did not look for a while may not have received yet what others sent meanwhile.
        let pause = now.since(self.looked);
        let slept = self.heartbeat.is_some_and(|beat| pause > beat.interval);
        self.looked = now;
        for (peer, is_expected) in self.is_expected.iter().enumerate() {
            if slept || !is_expected {
                self.peers.note_received(peer, now);
            }
        }
        self.peers.silent(now).map(|(peer, silence)| (self.ranks[peer], silence))
    }

    fn peer(&self, rank: usize) -> Option<usize> {
        self.ranks.iter().position(|&own| own == rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Ranks 2 and 3 are peers, and looked for at 100 s.
    fn heartbeats() -> Heartbeats {
        let heartbeat = Heartbeat { interval: seconds(2.0), limit: seconds(20.0) };
        let mut heartbeats = Heartbeats::new(vec![2, 3], Some(heartbeat));
        assert_eq!(heartbeats.silent(seconds(100.0)), None);
        heartbeats
    }

    fn seconds(number: f64) -> Time {
        Time::from_seconds(number)
    }

    /// Looks every second between two times, and returns the silence found.
    fn look(heartbeats: &mut Heartbeats, from: u64, to: u64) -> Option<(usize, Time)> {
        (from..=to).find_map(|second| heartbeats.silent(Time(second * SECOND)))
    }

    fn ping(heartbeats: &mut Heartbeats, rank: usize, time: f64) {
        heartbeats.note_received(rank, seconds(time));
        heartbeats.expect(rank, true);
    }

    #[test]
    fn a_rank_is_missed_after_its_last_ping() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 3, 101.0);
        assert_eq!(look(&mut heartbeats, 101, 121), None);
        assert_eq!(look(&mut heartbeats, 122, 122), Some((3, seconds(21.0))));
    }

    #[test]
    fn a_rank_is_not_missed_before_its_first_ping_or_after_it_has_stepped_aside() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 3, 101.0);
        heartbeats.expect(3, false);
        assert_eq!(look(&mut heartbeats, 101, 500), None);
        ping(&mut heartbeats, 3, 500.0);
        assert_eq!(look(&mut heartbeats, 501, 521).map(|(rank, _)| rank), Some(3));
    }

    #[test]
    fn whatever_comes_of_a_rank_is_a_sign_of_life() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        assert_eq!(look(&mut heartbeats, 101, 115), None);
        heartbeats.note_received(2, seconds(115.0));
        heartbeats.note_received(7, seconds(115.0));
        assert_eq!(look(&mut heartbeats, 116, 135), None);
    }

    #[test]
    fn who_was_stopped_blames_nobody() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        assert_eq!(look(&mut heartbeats, 101, 104), None);
        // It is stopped for less than the limit, and sees no message at first.
        assert_eq!(look(&mut heartbeats, 123, 143), None);
        assert_eq!(look(&mut heartbeats, 144, 144), Some((2, seconds(21.0))));
    }

    #[test]
    fn added_ranks_get_pings_and_known_ones_stay() {
        let mut heartbeats = heartbeats();
        ping(&mut heartbeats, 2, 100.0);
        assert!(heartbeats.step_aside().is_empty(), "nobody waits for pings");
        assert_eq!(heartbeats.due(seconds(0.5)), [2, 3]);
        assert!(heartbeats.due(seconds(1.0)).is_empty());
        assert_eq!(heartbeats.due(seconds(2.5)), [2, 3]);
        assert_eq!(heartbeats.step_aside(), [2, 3]);
        assert_eq!(heartbeats.due(seconds(3.0)), [2, 3], "it is back");
        heartbeats.add([3, 1]);
        assert_eq!(heartbeats.due(seconds(101.0)), [2, 3, 1]);
        assert_eq!(look(&mut heartbeats, 101, 122), Some((2, seconds(21.0))));
        heartbeats.clear();
        assert!(heartbeats.due(seconds(200.0)).is_empty());
        assert_eq!(look(&mut heartbeats, 122, 300), None);
    }
}
