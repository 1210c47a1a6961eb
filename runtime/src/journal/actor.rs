//! Handles to the thread that writes. They are for asynchronous and blocking callers alike; none of them touches the database.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::entry::{Intention, OpenObligation, Settlement};
use super::obligation::Closing;
use super::status::Resolution;
use super::token::IntentToken;
use super::writer::{Request, Write, Writer};
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::store::{OpenIntent, Recorded, Store, StoreError};

/// Why the journal could not take something.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    /// It could not be written, or it was refused. Others whose entries were in the same transaction see the same error.
    #[error("the journal could not take an entry")]
    Store(#[source] Arc<StoreError>),
    /// The run has finished with its journal, or the thread that writes has come to grief.
    #[error("the journal is closed")]
    Closed,
}

impl JournalError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Closed => None,
        }
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        Self::Store(Arc::new(error))
    }
}

/// The journal of one run. It has the state to itself until [`Journal::finish`] gives that back.
///
/// Dropped without that, it still writes what it was given, and then closes the state; errors are then lost.
#[derive(Debug)]
pub struct Journal {
    handle: JournalHandle,
    thread: Option<JoinHandle<Store>>,
}

/// A handle to a [`Journal`], as many as are needed.
#[derive(Debug, Clone)]
pub struct JournalHandle {
    requests: Sender<Request>,
}

impl Journal {
    /// Starts the journal of `run`, which has begun. This takes a thread of its own.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(store: Store, run: RunId) -> Result<Self, std::io::Error> {
        let (requests, inbox) = channel();
        let writer = Writer::new(store, run, inbox);
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || writer.work())?;
        Ok(Self { handle: JournalHandle { requests }, thread: Some(thread) })
    }

    /// A handle for those who work on resources.
    pub fn handle(&self) -> JournalHandle {
        self.handle.clone()
    }

    /// Waits until everything is on disk and gives the state back. Handles that are left answer [`JournalError::Closed`].
    /// Blocks, and panics in asynchronous code.
    ///
    /// # Errors
    /// If something given earlier could not be written or was refused. An intent whose settlement was lost so stays open.
    pub fn finish(mut self) -> Result<Store, JournalError> {
        let flushed = self.handle.flush_blocking();
        let store = self.stop().ok_or(JournalError::Closed);
        flushed.and(store)
    }

    fn stop(&mut self) -> Option<Store> {
        // A send fails only where the thread is gone, and then joining tells.
        let _ = self.handle.requests.send(Request::Stop);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.stop();
    }
}

impl JournalHandle {
    /// Writes an intent, and returns when it is on disk. Many that wait at once are written in one transaction.
    ///
    /// # Errors
    /// If an intent of the resource is open ([`StoreError::Blocked`]), or it cannot be written. Then nothing may be changed.
    pub async fn intend(&self, intention: Intention) -> Result<IntentToken, JournalError> {
        self.ask_intent(intention)?.await.map_err(|_| JournalError::Closed)?
    }

    /// As [`JournalHandle::intend`], for callers that are not asynchronous; it panics in asynchronous code.
    ///
    /// # Errors
    /// The same.
    pub fn intend_blocking(&self, intention: Intention) -> Result<IntentToken, JournalError> {
        self.ask_intent(intention)?.blocking_recv().map_err(|_| JournalError::Closed)?
    }

    /// Ends an intent of this run. Returns at once: it rides in the next transaction, at the latest after [`super::RIDE`]. What goes
    /// wrong with it comes out at the next flush; it is tried again with each transaction until then.
    ///
    /// # Errors
    /// If the journal is closed.
    pub fn settle(&self, token: IntentToken, settlement: Settlement) -> Result<(), JournalError> {
        self.write(Write::Settle { intent: token.intent(), settlement })
    }

    /// Takes up an intent that an earlier run left open, so that recovery may make changes under it.
    pub fn adopt(&self, open: &OpenIntent) -> IntentToken {
        IntentToken::new(open.intent, open.resource.clone(), open.staging_name.clone())
    }

    /// Settles an intent that was adopted. Rides as [`JournalHandle::settle`] does.
    ///
    /// # Errors
    /// If the journal is closed.
    pub fn resolve(&self, token: IntentToken, resolution: Resolution, detail: Option<String>) -> Result<(), JournalError> {
        self.write(Write::Resolve { intent: token.intent(), resolution, detail })
    }

    /// Keeps what was observed of a resource that needed no change. Rides as [`JournalHandle::settle`] does.
    ///
    /// # Errors
    /// If the journal is closed.
    pub fn keep(&self, owner: &OwnerName, resource: &ResourceId, record: Recorded) -> Result<(), JournalError> {
        self.write(Write::Record { owner: owner.clone(), resource: resource.clone(), record: Box::new(record) })
    }

    /// Closes a refresh obligation that is owed and lapses without a change. Rides as [`JournalHandle::settle`] does.
    ///
    /// # Errors
    /// If the journal is closed.
    pub fn close(&self, obligation: i64, closing: Closing, detail: Option<String>) -> Result<(), JournalError> {
        self.write(Write::Close { obligation, closing, detail })
    }

    /// The refreshes that `subscriber` owes, oldest first, once everything that was given before is on disk.
    ///
    /// # Errors
    /// If it cannot be written or read.
    pub async fn owed(&self, owner: &OwnerName, subscriber: &ResourceId) -> Result<Vec<OpenObligation>, JournalError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Owed { owner: owner.clone(), subscriber: subscriber.clone(), reply })?;
        answer.await.map_err(|_| JournalError::Closed)?
    }

    /// Returns when everything that was given before is on disk.
    ///
    /// # Errors
    /// The first thing that went wrong since the last flush.
    pub async fn flush(&self) -> Result<(), JournalError> {
        self.ask_flush()?.await.map_err(|_| JournalError::Closed)?
    }

    /// As [`JournalHandle::flush`], for callers that are not asynchronous; it panics in asynchronous code.
    ///
    /// # Errors
    /// The same.
    pub fn flush_blocking(&self) -> Result<(), JournalError> {
        self.ask_flush()?.blocking_recv().map_err(|_| JournalError::Closed)?
    }

    fn ask_intent(&self, intention: Intention) -> Result<oneshot::Receiver<Result<IntentToken, JournalError>>, JournalError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Intend(Box::new(intention), reply)).map(|()| answer)
    }

    fn ask_flush(&self) -> Result<oneshot::Receiver<Result<(), JournalError>>, JournalError> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Flush(reply)).map(|()| answer)
    }

    fn write(&self, write: Write) -> Result<(), JournalError> {
        self.send(Request::Write(Box::new(write)))
    }

    fn send(&self, request: Request) -> Result<(), JournalError> {
        self.requests.send(request).map_err(|_| JournalError::Closed)
    }
}
