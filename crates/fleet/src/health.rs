//! Who was heard of when.

use std::cmp::Reverse;

use crate::config::Heartbeat;
use crate::ids::Time;

/// What one role knows of the life of others, its peers, by their numbers from 0.
#[derive(Clone, Debug)]
pub struct Peers {
    heartbeat: Option<Heartbeat>,
    /// When this role last looked; nobody is blamed for a silence during which it did not listen itself.
    looked: Option<Time>,
    heard: Vec<Time>,
    told: Vec<Time>,
}

impl Peers {
    /// This many peers.
    pub fn new(count: usize, heartbeat: Option<Heartbeat>) -> Peers {
        let never = vec![Time(0); count];
        Peers { heartbeat, looked: None, heard: never.clone(), told: never }
    }

    /// A peer sent something.
    pub fn note_received(&mut self, peer: usize, now: Time) {
        self.heard[peer] = now;
    }

    /// A peer is sent something.
    pub fn note_sent(&mut self, peer: usize, now: Time) {
        self.told[peer] = now;
    }

    /// Looks around: of the peers that were silent for too long, the one that was so for longest, with the length of its
    /// silence. Others may be waiting for that one.
    pub fn silent(&mut self, now: Time) -> Option<(usize, Time)> {
        let limit = self.heartbeat?.limit;
        let before = self.looked.replace(now);
        if before.is_none_or(|before| now.since(before) > limit) {
            self.heard.fill(now);
        }
        let silence = self.heard.iter().map(|&heard| now.since(heard));
        // The first of equals.
        let longest = silence.enumerate().min_by_key(|&(_, silence)| Reverse(silence));
        longest.filter(|&(_, silence)| silence > limit)
    }

    /// The peers that were told nothing for an interval and so need a ping, which is noted as sent.
    pub fn quiet(&mut self, now: Time) -> Vec<usize> {
        let Some(Heartbeat { interval, .. }) = self.heartbeat else { return Vec::new() };
        let quiet = |&peer: &usize| now.since(self.told[peer]) >= interval;
        let peers: Vec<usize> = (0..self.told.len()).filter(quiet).collect();
        for &peer in &peers {
            self.told[peer] = now;
        }
        peers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(count: usize) -> Peers {
        Peers::new(count, Some(Heartbeat { interval: Time(10), limit: Time(30) }))
    }

    #[test]
    fn the_silent_one_is_found() {
        let mut peers = peers(3);
        assert_eq!(peers.silent(Time(100)), None);
        for now in [120, 130] {
            peers.note_received(0, Time(now));
            peers.note_received(2, Time(now));
            assert_eq!(peers.silent(Time(now)), None);
        }
        peers.note_received(0, Time(131));
        assert_eq!(peers.silent(Time(131)), Some((1, Time(31))));
    }

    #[test]
    fn of_several_the_longest_silent_is_found() {
        let mut peers = peers(3);
        assert_eq!(peers.silent(Time(100)), None);
        peers.note_received(0, Time(105));
        peers.note_received(2, Time(104));
        assert_eq!(peers.silent(Time(120)), None);
        peers.note_received(1, Time(121));
        assert_eq!(peers.silent(Time(140)), Some((2, Time(36))));
    }

    #[test]
    fn who_slept_blames_nobody() {
        let mut peers = peers(2);
        assert_eq!(peers.silent(Time(0)), None);
        assert_eq!(peers.silent(Time(1000)), None);
        assert_eq!(peers.silent(Time(1030)), None);
        assert_eq!(peers.silent(Time(1031)), Some((0, Time(31))));
    }

    #[test]
    fn pings_go_to_those_told_nothing() {
        let mut peers = peers(2);
        peers.note_sent(0, Time(95));
        assert_eq!(peers.quiet(Time(100)), [1]);
        assert_eq!(peers.quiet(Time(105)), [0]);
    }
}
