//! What a unit is, as systemd tells it.

use std::collections::HashMap;

use zbus::{Connection, OwnedObjectPath, OwnedVariant};

use super::error::{SystemdError, cut};
use super::manager::{Manager, UNIT_INTERFACE, property};
use super::name::UnitName;

/// The most names, or drop-in files, of a unit that are told.
const MAX_LIST: usize = 256;

/// A unit at one moment. The words are systemd's own: it may have more of them one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its canonical name.
    pub id: String,
    /// All its names, the canonical one among them, sorted.
    pub names: Vec<String>,
    /// Its description.
    pub description: String,
    /// `loaded`, `not-found`, `masked`, `bad-setting`, `error`, `merged`, `stub`.
    pub load_state: String,
    /// `active`, `reloading`, `inactive`, `failed`, `activating`, `deactivating`, `maintenance`, `refreshing`.
    pub active_state: String,
    /// Finer, for each kind of unit: `running`, `exited`, `auto-restart`, `start-pre`.
    pub sub_state: String,
    /// Of its file, read now: `enabled`, `disabled`, `static`, `masked`, `alias`, `indirect`, `generated`, `transient`, `linked`, `bad`, or one of
    /// these with `-runtime`. None without a file.
    pub file_state: Option<String>,
    /// Where its file is.
    pub fragment_path: Option<String>,
    /// Files that add to it.
    pub drop_ins: Vec<String>,
    /// Whether its files are others than those that systemd has read.
    pub need_daemon_reload: bool,
    /// Whether it can be asked to reload.
    pub can_reload: bool,
    /// The main process of a service that runs.
    pub main_pid: Option<u32>,
    /// How a service last ended: `success`, `exit-code`, `signal`, `timeout`.
    pub result: Option<String>,
}

impl Unit {
    /// Whether it is on its way from one state to another. A service that waits for its next restart is not: it may do so for ever.
    pub fn is_changing(&self) -> bool {
        matches!(self.active_state.as_str(), "activating" | "deactivating" | "reloading" | "refreshing")
            && !self.sub_state.starts_with("auto-restart")
    }
}

/// Reads a unit. One that does not exist is read too: its load state says so.
pub(super) async fn read(manager: &Manager, name: &UnitName) -> Result<Unit, SystemdError> {
    let path: OwnedObjectPath = manager.ask("LoadUnit", &name.as_str()).await?;
    let connection = manager.connection();
    let mut properties = Properties(all(connection, &path).await?);
    let id = properties.text("Id")?;
    let names = properties.list("Names")?;
    let file_state = match UnitName::parse(&id) {
        Ok(id) => file_state(manager, &id).await?,
        Err(_) => None,
    };
    let is_service = UnitName::parse(&id).is_ok_and(|id| id.is_service());
    let (main_pid, result) = if is_service { service(connection, &path).await? } else { (None, None) };
    let mut names = names;
    names.sort();
    Ok(Unit {
        names,
        description: properties.text("Description")?,
        load_state: properties.text("LoadState")?,
        active_state: properties.text("ActiveState")?,
        sub_state: properties.text("SubState")?,
        file_state,
        fragment_path: Some(properties.text("FragmentPath")?).filter(|path| !path.is_empty()),
        drop_ins: properties.list("DropInPaths")?,
        need_daemon_reload: properties.flag("NeedDaemonReload")?,
        can_reload: properties.flag("CanReload")?,
        main_pid,
        result,
        id,
    })
}

/// The canonical name and all names; none if there is no such unit.
pub(super) async fn identity(manager: &Manager, name: &UnitName) -> Result<Option<(String, Vec<String>)>, SystemdError> {
    let path: OwnedObjectPath = manager.ask("LoadUnit", &name.as_str()).await?;
    let get = |property_name| property(manager.connection(), &path, UNIT_INTERFACE, property_name);
    let state = text(get("LoadState").await?, "LoadState")?;
    if state == "not-found" {
        return Ok(None);
    }
    let id = text(get("Id").await?, "Id")?;
    let names: Vec<String> = get("Names").await?.try_into().map_err(|_| malformed("Names"))?;
    let mut names: Vec<String> = names.iter().take(MAX_LIST).map(|name| cut(name)).collect();
    names.sort();
    Ok(Some((id, names)))
}

/// The state of the unit's file as it is now: the property of the unit is what systemd last looked at.
async fn file_state(manager: &Manager, name: &UnitName) -> Result<Option<String>, SystemdError> {
    match manager.ask::<_, String>("GetUnitFileState", &name.as_str()).await {
        Ok(state) => Ok(Some(cut(&state)).filter(|state| !state.is_empty())),
        Err(SystemdError::NoSuchUnit) => Ok(None),
        Err(other) => Err(other),
    }
}

async fn all(connection: &Connection, path: &OwnedObjectPath) -> Result<HashMap<String, OwnedVariant>, SystemdError> {
    let reply = connection
        .call_method(
            Some(super::manager::DESTINATION),
            path.as_ref(),
            Some("org.freedesktop.DBus.Properties"),
            "GetAll",
            &UNIT_INTERFACE,
        )
        .await?;
    Ok(reply.body().deserialize()?)
}

async fn service(connection: &Connection, path: &OwnedObjectPath) -> Result<(Option<u32>, Option<String>), SystemdError> {
    const INTERFACE: &str = "org.freedesktop.systemd1.Service";
    let pid: u32 = property(connection, path, INTERFACE, "MainPID").await?.try_into().map_err(|_| malformed("MainPID"))?;
    let result = text(property(connection, path, INTERFACE, "Result").await?, "Result")?;
    Ok(((pid != 0).then_some(pid), Some(result)))
}

/// The properties of a unit, taken one at a time.
struct Properties(HashMap<String, OwnedVariant>);

impl Properties {
    fn take(&mut self, name: &'static str) -> Result<OwnedVariant, SystemdError> {
        self.0.remove(name).ok_or_else(|| malformed(name))
    }

    fn text(&mut self, name: &'static str) -> Result<String, SystemdError> {
        text(self.take(name)?, name)
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, SystemdError> {
        self.take(name)?.try_into().map_err(|_| malformed(name))
    }

    fn list(&mut self, name: &'static str) -> Result<Vec<String>, SystemdError> {
        let list: Vec<String> = self.take(name)?.try_into().map_err(|_| malformed(name))?;
        Ok(list.iter().take(MAX_LIST).map(|item| cut(item)).collect())
    }
}

fn text(value: OwnedVariant, name: &'static str) -> Result<String, SystemdError> {
    String::try_from(value).map(|text| cut(&text)).map_err(|_| malformed(name))
}

fn malformed(property: &str) -> SystemdError {
    SystemdError::Bus(format!("property `{property}` of a unit is not there, or is of another type than it should be"))
}
