//! The manager of systemd as an object on the bus: method calls, and the end of jobs.

use std::num::NonZeroUsize;
use std::pin::Pin;
use std::time::Duration;

use serde::Serialize;
use zbus::export::futures_core::Stream as _;
use zbus::message::Type;
use zbus::names::OwnedUniqueName;
use zbus::{Connection, DynamicType, MatchRule, MessageStream, ObjectPath, OwnedObjectPath, OwnedVariant};

use super::error::{SystemdError, cut};
use super::name::UnitName;

pub(super) const DESTINATION: &str = "org.freedesktop.systemd1";
pub(super) const UNIT_INTERFACE: &str = "org.freedesktop.systemd1.Unit";
const PATH: &str = "/org/freedesktop/systemd1";
const INTERFACE: &str = "org.freedesktop.systemd1.Manager";

/// How many ends of jobs may wait to be looked at: those of everything that a large transaction pulls in.
const MAX_ENDS: usize = 4_096;

/// How long a job that is too late may take to be given up.
const CANCEL: Duration = Duration::from_secs(1);

/// The manager, over one connection.
pub(super) struct Manager {
    connection: Connection,
}

impl Manager {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Calls a method, and gives what it returns.
    pub(super) async fn ask<B, R>(&self, method: &'static str, body: &B) -> Result<R, SystemdError>
    where
        B: Serialize + DynamicType,
        R: for<'r> zbus::wire::DynamicDeserialize<'r>,
    {
        let reply = self.connection.call_method(Some(DESTINATION), PATH, Some(INTERFACE), method, body).await?;
        Ok(reply.body().deserialize()?)
    }

    /// Has systemd do `method` with a unit, and waits until that has ended. The job is given up when `deadline` passes first: what has
    /// begun by then goes on.
    pub(super) async fn run_job(
        &self,
        method: &'static str,
        unit: &UnitName,
        deadline: tokio::time::Instant,
    ) -> Result<String, SystemdError> {
        let mut ends = self.ends().await?;
        let job: OwnedObjectPath = self.ask(method, &(unit.as_str(), "replace")).await?;
        match tokio::time::timeout_at(deadline, ends.of(&job)).await {
            Ok(result) => result,
            Err(_) => {
                let _ = tokio::time::timeout(CANCEL, self.cancel(&job)).await;
                Err(SystemdError::Deadline)
            }
        }
    }

    /// Begins to listen for the ends of jobs: before one is started, so that none is missed.
    async fn ends(&self) -> Result<Ends, SystemdError> {
        // Anybody on the bus may say that a job has ended; only systemd is believed.
        let owner: OwnedUniqueName = self
            .connection
            .call_method(
                Some("org.freedesktop.DBus"),
                "/org/freedesktop/DBus",
                Some("org.freedesktop.DBus"),
                "GetNameOwner",
                &DESTINATION,
            )
            .await?
            .body()
            .deserialize()?;
        let rule = MatchRule::builder().msg_type(Type::Signal).sender(&owner).path(PATH).interface(INTERFACE);
        let rule = rule.member("JobRemoved").build()?.to_owned();
        let stream = MessageStream::for_match_rule(rule, &self.connection, NonZeroUsize::new(MAX_ENDS)).await?;
        match self.ask::<_, ()>("Subscribe", &()).await {
            // It says so when it is asked a second time.
            Ok(()) | Err(SystemdError::Refused(_)) => {}
            Err(other) => return Err(other),
        }
        Ok(Ends { stream, owner })
    }

    async fn cancel(&self, job: &OwnedObjectPath) -> Result<(), SystemdError> {
        let path: ObjectPath<'_> = job.as_ref();
        let interface = Some("org.freedesktop.systemd1.Job");
        self.connection.call_method(Some(DESTINATION), path, interface, "Cancel", &()).await?;
        Ok(())
    }
}

/// The ends of jobs, as they come.
struct Ends {
    stream: MessageStream,
    owner: OwnedUniqueName,
}

impl Ends {
    /// How the job ended, in systemd's words: `done`, `failed`, `canceled`, `timeout`, `dependency`, `skipped`.
    async fn of(&mut self, job: &OwnedObjectPath) -> Result<String, SystemdError> {
        loop {
            let message = std::future::poll_fn(|context| Pin::new(&mut self.stream).poll_next(context)).await;
            let message =
                message.ok_or_else(|| SystemdError::Bus("the connection has ended while a job was at work".to_owned()))??;
            if message.header().sender().is_none_or(|sender| sender != &self.owner) {
                continue;
            }
            let body = message.body();
            let (_, path, _, result): (u32, ObjectPath<'_>, &str, &str) = body.deserialize()?;
            if path == job.as_ref() {
                return Ok(cut(result));
            }
        }
    }
}

/// One property of an object.
pub(super) async fn property(
    connection: &Connection,
    path: &OwnedObjectPath,
    interface: &'static str,
    name: &'static str,
) -> Result<OwnedVariant, SystemdError> {
    let reply = connection
        .call_method(Some(DESTINATION), path.as_ref(), Some("org.freedesktop.DBus.Properties"), "Get", &(interface, name))
        .await?;
    Ok(reply.body().deserialize()?)
}
