//! Passes events to the roles of a rank, and carries out the actions that the roles return.

use fleetblast_fleet::end::JobEnd;
use fleetblast_fleet::ids::{Address, Rank};
use fleetblast_fleet::message::{Outgoing, ToMaster, ToSupermaster, ToWorker};
use fleetblast_fleet::role::{Action, Event, Role};
use fleetblast_fleet::work::{MasterOutcome, SupermasterOutcome, WorkClass, WorkerOutcome};

use super::{Driver, RankEnd};
use crate::error::Error;
use crate::ranks::execution::lanes::{MasterRequest, WorkerRequest};
use crate::ranks::transport::{Envelope, Receipt, Transport};
use crate::ranks::wire::Bytes;

pub(super) type SupermasterEvent = Event<ToSupermaster<Bytes>, SupermasterOutcome<Bytes>>;
pub(super) type MasterEvent = Event<ToMaster<Bytes>, MasterOutcome<Bytes>>;
pub(super) type WorkerEvent = Event<ToWorker<Bytes>, WorkerOutcome<Bytes>>;

impl<T: Transport> Driver<'_, T> {
    /// Passes a message to the role that it is for, and updates the progress.
    pub(super) fn deliver(&mut self, envelope: Envelope) -> Result<(), Error> {
        let Envelope { from, message } = envelope;
        match message {
            Outgoing::Supermaster(message) => {
                match (&message, &mut self.progress) {
                    (ToSupermaster::Finished { block, .. }, Some(progress)) => {
                        progress.close_block(*block)
                    }
                    (ToSupermaster::Advanced { blocks }, Some(progress)) => {
                        progress.add_progress(blocks)
                    }
                    _ => {}
                }
                self.supermaster(Event::Message { from, message })
            }
            Outgoing::Master(_, message) => {
                if let ToMaster::Result { block, .. } | ToMaster::Reply { block, .. } = &message {
                    match &mut self.progress {
                        Some(progress) => progress.add_progress(&[(*block, 1)]),
                        None => self.tally.add_progress(*block),
                    }
                }
                self.master(Event::Message { from, message })
            }
            Outgoing::Worker(_, message) => self.worker(Event::Message { from, message }),
        }
    }

    /// Passes an event to the supermaster, and carries out its actions.
    pub(super) fn supermaster(&mut self, event: SupermasterEvent) -> Result<(), Error> {
        let (now, mut actions) = (self.now(), Vec::new());
        let Some(slot) = self.supermaster.as_mut().filter(|slot| !slot.exited) else {
            return Ok(());
        };
        slot.role.handle(now, event, &mut actions);
        let executor = slot.executor.clone();
        for action in actions {
            let Some(action) = self.carry_out(Address::Supermaster, action)? else { continue };
            if let Action::Run { ticket, work } = action {
                let _ = executor.send((ticket, work));
            }
        }
        Ok(())
    }

    /// Passes an event to the master, and carries out its actions.
    pub(super) fn master(&mut self, event: MasterEvent) -> Result<(), Error> {
        let (now, mut actions) = (self.now(), Vec::new());
        let Some((id, slot)) = self.master.as_mut().filter(|(_, slot)| !slot.exited) else {
            return Ok(());
        };
        slot.role.handle(now, event, &mut actions);
        let (executor, from) = (slot.executor.clone(), Address::Master(*id));
        for action in actions {
            match self.carry_out(from, action)? {
                Some(Action::Run { ticket, work }) => {
                    let _ = executor.send(MasterRequest::Work(ticket, work));
                }
                Some(Action::Placed { block }) => {
                    let _ = executor.send(MasterRequest::Forget(block));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Passes an event to the worker, and carries out its actions.
    pub(super) fn worker(&mut self, event: WorkerEvent) -> Result<(), Error> {
        let (now, mut actions) = (self.now(), Vec::new());
        let Some((id, slot)) = self.worker.as_mut().filter(|(_, slot)| !slot.exited) else {
            return Ok(());
        };
        slot.role.handle(now, event, &mut actions);
        let (executor, from) = (slot.executor.clone(), Address::Worker(*id));
        for action in actions {
            match self.carry_out(from, action)? {
                Some(Action::Run { ticket, work }) => match (work.class(), &self.output_thread) {
                    (WorkClass::Io, Some(output_thread)) => {
                        let _ = output_thread.send((ticket, work));
                    }
                    _ => {
                        let _ = executor.send(WorkerRequest::Work(ticket, work));
                    }
                },
                Some(Action::Forget { block, pass }) => {
                    let _ = executor.send(WorkerRequest::Forget(block, pass));
                }
                Some(Action::RaiseCut { block, pass, cut }) => {
                    if let Some(shared) = &self.shared {
                        shared.set_cut((block, pass), cut);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Carries out an action that all roles have in common. Returns any other action for the
    /// caller.
    fn carry_out<W>(
        &mut self,
        from: Address,
        action: Action<Bytes, W>,
    ) -> Result<Option<Action<Bytes, W>>, Error> {
        match action {
            Action::Send { message, receipt } => {
                if let (
                    Outgoing::Master(group, ToMaster::AssignBlocks { blocks }),
                    Some(progress),
                ) = (&message, &mut self.progress)
                {
                    progress.add_blocks(*group, blocks);
                }
                if let Outgoing::Supermaster(message) = &message {
                    self.tally.note_message(message);
                }
                let to = self.rank_of(&message);
                let envelope = Envelope { from, message };
                let receipt = receipt.map(|ticket| Receipt { role: from, ticket });
                if to == self.rank {
                    self.local.push_back((envelope, receipt));
                } else {
                    self.traffic.add(envelope.message.bytes());
                    self.transport.send(to, envelope, receipt)?;
                }
            }
            Action::Fail(failure) => {
                self.end.get_or_insert(RankEnd::Failed(failure));
            }
            Action::Exit(exit) => self.exit_role(from, exit),
            action => return Ok(Some(action)),
        }
        Ok(None)
    }

    fn rank_of(&self, message: &Outgoing<Bytes>) -> Rank {
        match message {
            Outgoing::Supermaster(_) => self.topology.supermaster,
            Outgoing::Master(group, _) => self.topology.group(*group).master,
            Outgoing::Worker(worker, _) => self.topology.worker(*worker).rank,
        }
    }

    fn exit_role(&mut self, role: Address, exit: JobEnd) {
        match role {
            Address::Supermaster => self.supermaster.iter_mut().for_each(|slot| slot.exited = true),
            Address::Master(_) => self.master.iter_mut().for_each(|(_, slot)| slot.exited = true),
            Address::Worker(_) => self.worker.iter_mut().for_each(|(_, slot)| slot.exited = true),
        }
        let all = self.supermaster.iter().all(|slot| slot.exited)
            && self.master.iter().all(|(_, slot)| slot.exited)
            && self.worker.iter().all(|(_, slot)| slot.exited);
        if all {
            self.end.get_or_insert(RankEnd::Exited(exit));
        }
    }
}
