//! The thread that writes: one round, one transaction, one wait for the disk.
//!
//! A round begins with a request that someone waits for and takes in what else has come; what nobody waits for rides along. While
//! one round waits for the disk the next one gathers, so the more is asked at once, the fewer commits each costs.

use std::collections::HashSet;
use std::mem::take;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::actor::JournalError;
use super::entry::{Intention, OpenObligation, Settlement};
use super::obligation::Closing;
use super::staging::StagingName;
use super::status::{Ending, IntentId, Resolution};
use super::token::IntentToken;
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::store::{Batch, Recorded, Store, StoreError};

/// How long what nobody waits for may ride before it gets a transaction of its own.
pub const RIDE: Duration = Duration::from_millis(20);

/// How long a round stays open for others, where others are at work. A lone worker never waits.
const GATHER: Duration = Duration::from_millis(1);

/// Why an intent is settled that was asked for in vain.
const GIVEN_UP: &str = "it was given up before it was on disk";

/// The most requests in one transaction.
const MAX_ROUND: usize = 1024;

/// What is asked of the writer.
pub(super) enum Request {
    Intend(Box<Intention>, Reply<IntentToken>),
    Write(Box<Write>),
    Flush(Reply<()>),
    Owed { owner: OwnerName, subscriber: ResourceId, reply: Reply<Vec<OpenObligation>> },
    Stop,
}

/// What is to be written with nobody waiting for it.
pub(super) enum Write {
    Settle { intent: IntentId, settlement: Settlement },
    Resolve { intent: IntentId, resolution: Resolution, detail: Option<String> },
    Record { owner: OwnerName, resource: ResourceId, record: Box<Recorded> },
    Close { obligation: i64, closing: Closing, detail: Option<String> },
}

type Intended = Result<(IntentId, StagingName), StoreError>;
type Reply<T> = oneshot::Sender<Result<T, JournalError>>;
type Asked = (Box<Intention>, Reply<IntentToken>);
type AskedOwed = (OwnerName, ResourceId, Reply<Vec<OpenObligation>>);

pub(super) struct Writer {
    store: Store,
    run: RunId,
    inbox: Receiver<Request>,
    /// Not yet on disk, in the order in which they came. Kept until they are, through full disks and other errors.
    riding: Vec<Write>,
    /// Since when the first of them rides.
    since: Instant,
    /// Intents of this run that are not yet settled: how many others are at work.
    at_work: HashSet<IntentId>,
    /// What went wrong with something nobody waits for, until a flush asks.
    trouble: Option<JournalError>,
}

#[derive(Default)]
struct Round {
    intends: Vec<Asked>,
    flushes: Vec<Reply<()>>,
    owed: Vec<AskedOwed>,
    stop: bool,
}

impl Round {
    /// Whether nobody waits for it: only what rides has come.
    fn is_unasked(&self) -> bool {
        self.intends.is_empty() && self.flushes.is_empty() && self.owed.is_empty() && !self.stop
    }
}

impl Writer {
    pub(super) fn new(store: Store, run: RunId, inbox: Receiver<Request>) -> Self {
        let since = Instant::now();
        Self { store, run, inbox, riding: Vec::new(), since, at_work: HashSet::new(), trouble: None }
    }

    /// Works until told to stop, or until all handles are gone, and gives the store back.
    pub(super) fn work(mut self) -> Store {
        loop {
            let round = self.gather();
            let stop = round.stop;
            self.carry_out(round);
            if stop {
                return self.store;
            }
        }
    }

    fn gather(&mut self) -> Round {
        let mut round = Round::default();
        while round.is_unasked() {
            match self.next_request() {
                Ok(request) => self.take_in(request, &mut round),
                Err(RecvTimeoutError::Timeout) => return round,
                Err(RecvTimeoutError::Disconnected) => round.stop = true,
            }
        }
        let until = Instant::now() + if self.at_work.len() > self.riding.len() { GATHER } else { Duration::ZERO };
        while !round.stop && round.intends.len() + self.riding.len() < MAX_ROUND {
            match self.inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(request) => self.take_in(request, &mut round),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => round.stop = true,
            }
        }
        round
    }

    fn next_request(&self) -> Result<Request, RecvTimeoutError> {
        if self.riding.is_empty() {
            self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            self.inbox.recv_timeout((self.since + RIDE).saturating_duration_since(Instant::now()))
        }
    }

    fn take_in(&mut self, request: Request, round: &mut Round) {
        match request {
            Request::Intend(intention, reply) => round.intends.push((intention, reply)),
            Request::Write(write) => self.ride(*write),
            Request::Flush(reply) => round.flushes.push(reply),
            Request::Owed { owner, subscriber, reply } => round.owed.push((owner, subscriber, reply)),
            Request::Stop => round.stop = true,
        }
    }

    fn carry_out(&mut self, round: Round) {
        let written = self.write(&round.intends);
        let failure = written.as_ref().err().cloned();
        match written {
            Ok(intended) => self.hand_out(round.intends, intended),
            Err(error) => {
                // What rides is tried again later; so that it is not tried at once and for ever, its time begins anew.
                self.since = Instant::now();
                for (_, reply) in round.intends {
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
        for (owner, subscriber, reply) in round.owed {
            let owed = || Ok(self.store.view().owed(&owner, &subscriber)?);
            let _ = reply.send(failure.clone().map_or_else(owed, Err));
        }
        for reply in round.flushes {
            let answer = failure.clone().or_else(|| self.trouble.take()).map_or(Ok(()), Err);
            let _ = reply.send(answer);
        }
    }

    /// One transaction: first what rides, then the intents, which may be of resources that ride.
    fn write(&mut self, intends: &[Asked]) -> Result<Vec<Intended>, JournalError> {
        if self.riding.is_empty() && intends.is_empty() {
            return Ok(Vec::new());
        }
        let mut refused = None;
        let mut batch = self.store.batch()?;
        for write in &self.riding {
            match write_riding(&mut batch, &self.run, write) {
                Err(error) if error.is_refusal() => refused = refused.or(Some(error)),
                other => other?,
            }
        }
        let mut intended = Vec::with_capacity(intends.len());
        for (intention, _) in intends {
            match batch.intend(&self.run, intention) {
                Err(error) if !error.is_refusal() => return Err(error.into()),
                answer => intended.push(answer),
            }
        }
        batch.commit()?;
        self.trouble = take(&mut self.trouble).or(refused.map(JournalError::from));
        for write in self.riding.drain(..) {
            if let Write::Settle { intent, .. } = write {
                self.at_work.remove(&intent);
            }
        }
        Ok(intended)
    }

    fn hand_out(&mut self, intends: Vec<Asked>, intended: Vec<Intended>) {
        for ((intention, reply), answer) in intends.into_iter().zip(intended) {
            let answer = answer.map_err(|error| JournalError::Store(Arc::new(error))).map(|(intent, staging_name)| {
                self.at_work.insert(intent);
                IntentToken::new(intent, intention.resource, staging_name)
            });
            if let Err(Ok(token)) = reply.send(answer) {
                // Nobody waits for it any more, so nobody will change anything under it.
                let settlement =
                    Settlement { ending: Ending::NotStarted, record: None, detail: Some(GIVEN_UP.into()), closes: Vec::new() };
                self.ride(Write::Settle { intent: token.intent(), settlement });
            }
        }
    }

    fn ride(&mut self, write: Write) {
        if self.riding.is_empty() {
            self.since = Instant::now();
        }
        self.riding.push(write);
    }
}

fn write_riding(batch: &mut Batch<'_>, run: &RunId, write: &Write) -> Result<(), StoreError> {
    match write {
        Write::Settle { intent, settlement } => batch.settle(run, *intent, settlement),
        Write::Resolve { intent, resolution, detail } => batch.resolve(run, *intent, *resolution, detail.as_deref()),
        Write::Close { obligation, closing, detail } => batch.close_obligation(*obligation, *closing, detail.as_deref()),
        Write::Record { owner, resource, record } => batch.record(run, owner, resource, record),
    }
}
