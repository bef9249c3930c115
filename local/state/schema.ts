/**
 * The tables of the one state file. Keys are texts of work keys, times are milliseconds since 1970 by this machine's clock.
 * A changed table needs a new version of `folderLayout` in `state-folder.ts`; a column that may be NULL or has a default need not, in {@link addedColumns}.
 */
export const schema = `
  CREATE TABLE IF NOT EXISTS work_items (
    key TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    leased INTEGER NOT NULL,
    overdue_at REAL,
    item TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS work_items_overdue ON work_items (overdue_at) WHERE overdue_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS work_items_leased ON work_items (key) WHERE leased = 1;

  CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    body TEXT NOT NULL,
    visible_at REAL NOT NULL,
    receives INTEGER NOT NULL DEFAULT 0,
    hidden_at REAL,
    hidden_ms REAL,
    message_group TEXT NOT NULL DEFAULT ''
  );
  CREATE INDEX IF NOT EXISTS messages_visible ON messages (visible_at);
  CREATE TABLE IF NOT EXISTS dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    letter TEXT NOT NULL
  );

  CREATE TABLE IF NOT EXISTS edges (
    what TEXT NOT NULL,
    key TEXT NOT NULL,
    follows TEXT,
    PRIMARY KEY (what, key)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS edges_key ON edges (key);

  CREATE TABLE IF NOT EXISTS sightings (
    key TEXT PRIMARY KEY,
    sighting TEXT NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS cluster_states (
    cluster TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (cluster, name)
  ) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS inventories (
    key TEXT NOT NULL,
    owner_uid TEXT NOT NULL,
    cluster_uid TEXT NOT NULL,
    generation INTEGER NOT NULL,
    pages TEXT NOT NULL,
    saved_under INTEGER,
    PRIMARY KEY (key, owner_uid, cluster_uid)
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS inventory_pages (
    key TEXT NOT NULL,
    owner_uid TEXT NOT NULL,
    cluster_uid TEXT NOT NULL,
    page INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    replaced_at REAL,
    entries TEXT NOT NULL,
    PRIMARY KEY (key, owner_uid, cluster_uid, page, generation)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS inventory_pages_replaced ON inventory_pages (replaced_at) WHERE replaced_at IS NOT NULL;

  CREATE TABLE IF NOT EXISTS claims (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    cluster_uid TEXT NOT NULL,
    id TEXT NOT NULL,
    owner_uid TEXT NOT NULL,
    owner TEXT NOT NULL,
    UNIQUE (cluster_uid, id, owner_uid)
  );

  CREATE TABLE IF NOT EXISTS artifact_records (
    key TEXT NOT NULL,
    source_uid TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (key, source_uid, digest)
  ) WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS receivers (
    key TEXT PRIMARY KEY,
    path_digest TEXT NOT NULL,
    entry BLOB NOT NULL
  );
  CREATE INDEX IF NOT EXISTS receivers_path_digest ON receivers (path_digest);

  CREATE TABLE IF NOT EXISTS image_tags (
    key TEXT PRIMARY KEY,
    revision TEXT NOT NULL,
    count INTEGER NOT NULL,
    digest TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS image_tag_pages (
    key TEXT NOT NULL,
    page INTEGER NOT NULL,
    tags BLOB NOT NULL,
    PRIMARY KEY (key, page)
  );

  CREATE TABLE IF NOT EXISTS history (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    record TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS history_key ON history (key, position);
`;

/** Columns that files of an earlier release lack. */
export const addedColumns = [
  { table: "sightings", column: "not_ready_since", type: "REAL" },
  { table: "sightings", column: "not_ready_outcome", type: "TEXT NOT NULL DEFAULT ''" },
  { table: "inventories", column: "saved_under", type: "INTEGER" },
  // Since when a message is hidden by the wall clock, and for how long: `visible_at` is by the clock of one process.
  { table: "messages", column: "hidden_at", type: "REAL" },
  { table: "messages", column: "hidden_ms", type: "REAL" },
  { table: "messages", column: "message_group", type: "TEXT NOT NULL DEFAULT ''" },
  // What of the topic the object follows; NULL is everything.
  { table: "edges", column: "follows", type: "TEXT" },
] as const;
