-- State format 2. docs/formats/state.md describes it; a change here is another format.

-- Which root this state describes: one row.
CREATE TABLE binding (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    root BLOB NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL
) STRICT;

-- A bundle that this node accepted. `at` is for people: Unix time in milliseconds, never used for order.
CREATE TABLE receipts (
    receipt INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    bundle BLOB NOT NULL CHECK (length(bundle) = 32),
    serial INTEGER NOT NULL CHECK (serial >= 0),
    components TEXT NOT NULL,
    policy TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX receipts_of_owner ON receipts (owner, receipt);

-- Runs in the order in which they began. A run without an ending was lost.
CREATE TABLE runs (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE CHECK (length(run) = 32),
    kind TEXT NOT NULL CHECK (kind IN ('apply', 'recover', 'release')),
    owner TEXT,
    receipt INTEGER REFERENCES receipts (receipt),
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    ending TEXT CHECK (ending IN ('converged', 'incomplete', 'failed', 'refused', 'unresolved', 'released')),
    CHECK ((ended_at IS NULL) = (ending IS NULL))
) STRICT;
CREATE INDEX runs_of_owner ON runs (owner, sequence);

-- What was about to be done to one resource, written before it was done.
CREATE TABLE intents (
    intent INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    resource TEXT NOT NULL,
    staging_name TEXT NOT NULL UNIQUE,
    component BLOB NOT NULL CHECK (length(component) = 32),
    schema_version INTEGER NOT NULL,
    desired TEXT NOT NULL,
    reason TEXT NOT NULL CHECK (reason IN ('converge', 'refresh', 'perform')),
    action TEXT CHECK (action IN ('create', 'update', 'replace', 'delete')),
    -- The key of the shared action that is performed.
    shared TEXT,
    cgroup TEXT,
    status TEXT NOT NULL CHECK (status IN (
        'intended', 'partial', 'unknown', 'partial_unknown', 'done', 'not_started', 'recovered', 'abandoned')),
    CHECK ((reason = 'converge') = (action IS NOT NULL)),
    CHECK ((reason = 'perform') = (shared IS NOT NULL))
) STRICT;
CREATE INDEX intents_of_run ON intents (run);
-- An open intent blocks its resource.
CREATE UNIQUE INDEX one_open_intent ON intents (owner, resource)
    WHERE status IN ('intended', 'partial', 'unknown', 'partial_unknown');

-- The journal: what happened, in the order of `sequence`.
CREATE TABLE events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    intent INTEGER REFERENCES intents (intent) ON DELETE CASCADE,
    event TEXT NOT NULL CHECK (event IN (
        'run_began', 'admitted', 'released', 'reported', 'run_ended',
        'intended', 'partial', 'unknown', 'partial_unknown', 'done', 'not_started', 'recovered', 'abandoned')),
    detail TEXT,
    CHECK ((intent IS NULL) = (event IN ('run_began', 'admitted', 'released', 'reported', 'run_ended')))
) STRICT;
CREATE INDEX events_of_run ON events (run, sequence);
CREATE INDEX events_of_intent ON events (intent, sequence);
-- Each intent begins once, is ended at most once by its run, and is settled at most once by anyone.
CREATE UNIQUE INDEX one_beginning ON events (intent) WHERE event = 'intended';
CREATE UNIQUE INDEX one_ending ON events (intent)
    WHERE event IN ('partial', 'unknown', 'partial_unknown', 'done', 'not_started');
CREATE UNIQUE INDEX one_settlement ON events (intent) WHERE event IN ('done', 'not_started', 'recovered', 'abandoned');

CREATE TRIGGER settled_stays_settled BEFORE UPDATE OF status ON intents
WHEN OLD.status IN ('done', 'not_started', 'recovered', 'abandoned')
BEGIN SELECT RAISE(ABORT, 'a settled intent cannot change'); END;

CREATE TRIGGER open_stays_on_record BEFORE DELETE ON intents
WHEN OLD.status IN ('intended', 'partial', 'unknown', 'partial_unknown')
BEGIN SELECT RAISE(ABORT, 'an open intent cannot be deleted'); END;

CREATE TRIGGER events_stay BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'the journal is only appended to'); END;

-- `subscriber` owes a refresh because the resource of `intent` changed.
CREATE TABLE obligations (
    obligation INTEGER PRIMARY KEY AUTOINCREMENT,
    intent INTEGER NOT NULL REFERENCES intents (intent) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    subscriber TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN (
        'pending', 'owed', 'dropped', 'refreshed', 'handled', 'suppressed', 'orphaned')),
    detail TEXT,
    UNIQUE (intent, subscriber)
) STRICT;
CREATE INDEX open_obligations ON obligations (owner, subscriber) WHERE status IN ('pending', 'owed');

CREATE TRIGGER closed_stays_closed BEFORE UPDATE OF status ON obligations
WHEN OLD.status NOT IN ('pending', 'owed')
BEGIN SELECT RAISE(ABORT, 'a closed obligation cannot change'); END;

CREATE TRIGGER open_obligations_stay_on_record BEFORE DELETE ON obligations
WHEN OLD.status IN ('pending', 'owed')
BEGIN SELECT RAISE(ABORT, 'an open obligation cannot be deleted'); END;

-- What each owner holds. `desired` is the digest of the canonical desired state, null while that waits for the node.
CREATE TABLE claims (
    domain TEXT NOT NULL,
    key BLOB NOT NULL,
    qualifier TEXT NOT NULL,
    owner TEXT NOT NULL,
    resource TEXT NOT NULL,
    desired BLOB CHECK (desired IS NULL OR length(desired) = 32),
    component BLOB NOT NULL CHECK (length(component) = 32),
    PRIMARY KEY (domain, key, qualifier, owner, resource)
) STRICT, WITHOUT ROWID;
CREATE INDEX claims_of_owner ON claims (owner, resource);

-- What the last run that managed a resource left behind.
CREATE TABLE recorded (
    owner TEXT NOT NULL,
    resource TEXT NOT NULL,
    component BLOB NOT NULL CHECK (length(component) = 32),
    schema_version INTEGER NOT NULL,
    inputs TEXT NOT NULL,
    outputs TEXT,
    observed TEXT,
    configuration TEXT,
    secrets TEXT,
    converged INTEGER NOT NULL CHECK (converged IN (0, 1)),
    run TEXT NOT NULL,
    PRIMARY KEY (owner, resource)
) STRICT, WITHOUT ROWID;

-- The report of each run, and how many resources ended in each way, as JSON: many runs are listed without reading their reports.
CREATE TABLE reports (
    run TEXT PRIMARY KEY REFERENCES runs (run) ON DELETE CASCADE,
    report TEXT NOT NULL,
    summary TEXT NOT NULL
) STRICT;

-- Every format has this view, so that any version can say what another left open.
CREATE VIEW open_work (intents, obligations) AS SELECT
    (SELECT count(*) FROM intents WHERE status IN ('intended', 'partial', 'unknown', 'partial_unknown')),
    (SELECT count(*) FROM obligations WHERE status IN ('pending', 'owed'));
