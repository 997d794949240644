//! A queue of events, ordered by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::Time;

/// Future events. Among events at the same time, the first one added comes first.
#[derive(Debug)]
pub struct Queue<E> {
    /// Time, number, and index in `events` of each event. The entries are small, because the heap
    /// moves them.
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    events: Vec<Option<E>>,
    free: Vec<u32>,
    added: u64,
}

impl<E> Queue<E> {
    /// Creates an empty queue.
    pub fn new() -> Queue<E> {
        Queue { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), added: 0 }
    }

    /// Adds an event that occurs at `time`.
    pub fn add(&mut self, time: Time, event: E) {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.events.push(None);
                self.events.len() as u32 - 1
            }
        };
        self.events[place as usize] = Some(event);
        self.heap.push(Reverse((time.0, self.added, place)));
        self.added += 1;
    }

    /// Removes and returns the next event, with its time.
    pub fn next(&mut self) -> Option<(Time, E)> {
        let Reverse((time, _, place)) = self.heap.pop()?;
        self.free.push(place);
        self.events[place as usize].take().map(|event| (Time(time), event))
    }

    /// Returns the number of events added so far.
    pub fn added_events(&self) -> u64 {
        self.added
    }
}
