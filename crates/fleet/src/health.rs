//! Records when each peer of a role last sent something, and finds silent peers.

use std::cmp::Reverse;

use crate::config::Heartbeat;
use crate::ids::Time;

/// Times of the last messages between one role and its peers. Peers are numbered from 0.
#[derive(Clone, Debug)]
pub struct PeerMonitor {
    heartbeat: Option<Heartbeat>,
    /// Time of this role's last check for silence. If it is longer ago than the limit, this role
    /// could not receive messages meanwhile. Then the silence until now counts for no peer.
    last_checked: Option<Time>,
    last_received: Vec<Time>,
    last_sent: Vec<Time>,
}

impl PeerMonitor {
    /// Starts to observe `count` peers. Without a heartbeat, no peer ever counts as silent.
    pub fn new(count: usize, heartbeat: Option<Heartbeat>) -> PeerMonitor {
        let never = vec![Time(0); count];
        PeerMonitor {
            heartbeat,
            last_checked: None,
            last_received: never.clone(),
            last_sent: never,
        }
    }

    /// Notes that a peer sent something.
    pub fn note_received(&mut self, peer: usize, now: Time) {
        self.last_received[peer] = now;
    }

    /// Notes that this role sends something to a peer.
    pub fn note_sent(&mut self, peer: usize, now: Time) {
        self.last_sent[peer] = now;
    }

    /// Returns the peer with the longest silence, if it exceeds the limit, and the length of that
    /// silence. Peers with shorter silences may themselves be waiting for this peer.
    pub fn longest_silent(&mut self, now: Time) -> Option<(usize, Time)> {
        let limit = self.heartbeat?.limit;
        let before = self.last_checked.replace(now);
        if before.is_none_or(|before| now.since(before) > limit) {
            self.last_received.fill(now);
        }
        let silence = self.last_received.iter().map(|&last_received| now.since(last_received));
        // On a tie, the first peer wins.
        let longest = silence.enumerate().min_by_key(|&(_, silence)| Reverse(silence));
        longest.filter(|&(_, silence)| silence > limit)
    }

    /// Returns the peers to which this role has sent nothing for an interval. The caller must send
    /// each of them a ping. The call counts as the time of the ping.
    pub fn peers_to_ping(&mut self, now: Time) -> Vec<usize> {
        let Some(Heartbeat { interval, .. }) = self.heartbeat else { return Vec::new() };
        let quiet = |&peer: &usize| now.since(self.last_sent[peer]) >= interval;
        let peers: Vec<usize> = (0..self.last_sent.len()).filter(quiet).collect();
        for &peer in &peers {
            self.last_sent[peer] = now;
        }
        peers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: usize) -> PeerMonitor {
        PeerMonitor::new(count, Some(Heartbeat { interval: Time(10), limit: Time(30) }))
    }

    #[test]
    fn the_silent_peer_is_found() {
        let mut peers = peers(3);
        assert_eq!(peers.longest_silent(Time(100)), None);
        for now in [120, 130] {
            peers.note_received(0, Time(now));
            peers.note_received(2, Time(now));
            assert_eq!(peers.longest_silent(Time(now)), None);
        }
        peers.note_received(0, Time(131));
        assert_eq!(peers.longest_silent(Time(131)), Some((1, Time(31))));
    }

    #[test]
    fn the_longest_silent_peer_is_found() {
        let mut peers = peers(3);
        assert_eq!(peers.longest_silent(Time(100)), None);
        peers.note_received(0, Time(105));
        peers.note_received(2, Time(104));
        assert_eq!(peers.longest_silent(Time(120)), None);
        peers.note_received(1, Time(121));
        assert_eq!(peers.longest_silent(Time(140)), Some((2, Time(36))));
    }

    #[test]
    fn a_role_that_did_not_check_blames_nobody() {
        let mut peers = peers(2);
        assert_eq!(peers.longest_silent(Time(0)), None);
        assert_eq!(peers.longest_silent(Time(1000)), None);
        assert_eq!(peers.longest_silent(Time(1030)), None);
        assert_eq!(peers.longest_silent(Time(1031)), Some((0, Time(31))));
    }

    #[test]
    fn pings_go_to_peers_that_were_sent_nothing() {
        let mut peers = peers(2);
        peers.note_sent(0, Time(95));
        assert_eq!(peers.peers_to_ping(Time(100)), [1]);
        assert_eq!(peers.peers_to_ping(Time(105)), [0]);
    }
}
