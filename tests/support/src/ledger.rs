//! What is in a state folder, read from a copy, as docs/formats/state.md describes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;

/// An intent with all that happened to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    /// Its number.
    pub intent: i64,
    /// Its resource: `file.motd`.
    pub resource: String,
    /// Where it stands.
    pub status: String,
    /// Its events, in order.
    pub events: Vec<String>,
}

/// A claim that an owner holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// The path, or other key.
    pub key: String,
    /// The manifest's name.
    pub owner: String,
    /// The resource.
    pub resource: String,
}

/// A look at the state of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ledger {
    /// Every intent, oldest first.
    pub intents: Vec<Intent>,
    /// Every claim, sorted.
    pub claims: Vec<Held>,
    /// How each run ended, oldest first; none for one that was lost.
    pub endings: Vec<Option<String>>,
    /// Every refresh obligation, oldest first, as `bell.b because of file.a: owed`.
    pub obligations: Vec<String>,
}

/// Events that settle an intent.
const SETTLED: [&str; 4] = ["done", "not_started", "recovered", "abandoned"];

impl Ledger {
    /// Reads the state in `folder`, which is left as it is.
    ///
    /// # Panics
    /// If there is none, or it is damaged.
    #[track_caller]
    pub fn read(folder: &Path) -> Self {
        let copy = tempfile::tempdir().expect("a temporary folder can be made");
        for name in ["state.db", "state.db-wal"] {
            let from = folder.join(name);
            if from.exists() {
                fs::copy(&from, copy.path().join(name)).expect("the state can be copied");
            }
        }
        let database = Connection::open(copy.path().join("state.db")).expect("the state can be opened");
        let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("it can be checked");
        assert_eq!(check, "ok", "the database is whole");
        Self {
            intents: intents(&database),
            claims: claims(&database),
            endings: endings(&database),
            obligations: obligations(&database),
        }
    }

    /// Intents that are neither done nor undone.
    pub fn open(&self) -> Vec<&Intent> {
        self.intents.iter().filter(|intent| !SETTLED.contains(&intent.status.as_str())).collect()
    }

    /// Asserts that each intent began once, and was settled exactly once, as the last thing that happened to it.
    ///
    /// # Panics
    /// If one was not.
    #[track_caller]
    pub fn assert_settled(&self) {
        for intent in &self.intents {
            let settlements = intent.events.iter().filter(|event| SETTLED.contains(&event.as_str())).count();
            let begun = intent.events.iter().filter(|event| *event == "intended").count();
            assert_eq!((begun, settlements), (1, 1), "{intent:?}");
            assert_eq!(intent.events.last(), Some(&intent.status), "{intent:?}");
        }
    }

    /// What `owner` holds: resource by key.
    pub fn claims_of(&self, owner: &str) -> BTreeMap<&str, &str> {
        let own = self.claims.iter().filter(|held| held.owner == owner);
        own.map(|held| (held.key.as_str(), held.resource.as_str())).collect()
    }
}

fn intents(database: &Connection) -> Vec<Intent> {
    let mut statement = database.prepare("SELECT intent, resource, status FROM intents ORDER BY intent").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, String, String)> = rows.collect::<Result<_, _>>().unwrap();
    let mut events = database.prepare("SELECT event FROM events WHERE intent = ?1 ORDER BY sequence").unwrap();
    let mut intents = Vec::new();
    for (intent, resource, status) in rows {
        let events = events.query_map([intent], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        intents.push(Intent { intent, resource, status, events });
    }
    intents
}

fn obligations(database: &Connection) -> Vec<String> {
    let query = "SELECT subscriber || ' because of ' || resource || ': ' || obligations.status \
                 FROM obligations JOIN intents USING (intent) ORDER BY obligation";
    let mut statement = database.prepare(query).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn claims(database: &Connection) -> Vec<Held> {
    let mut statement = database.prepare("SELECT key, owner, resource FROM claims").unwrap();
    let held = statement.query_map([], |row| {
        let key: Vec<u8> = row.get(0)?;
        Ok(Held { key: String::from_utf8_lossy(&key).into_owned(), owner: row.get(1)?, resource: row.get(2)? })
    });
    let mut claims: Vec<Held> = held.unwrap().collect::<Result<_, _>>().unwrap();
    claims.sort();
    claims
}

fn endings(database: &Connection) -> Vec<Option<String>> {
    let mut statement = database.prepare("SELECT ending FROM runs ORDER BY sequence").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
