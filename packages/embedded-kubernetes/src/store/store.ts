import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { ApiObject } from "../core/api-object.ts";
import { checkStoredSize } from "./check-stored-size.ts";
import { historyFrom, type StoreEvent } from "./history.ts";
import { openDatabase } from "./open-database.ts";
import { type ObjectKey, type StoredObject, storedObject } from "./stored-object.ts";

export interface ListRange {
  readonly resource: string;
  /** Without one: all namespaces. */
  readonly namespace?: string | undefined;
  /** Of a namespace: at least all names after this one, so that a later page need not read those before it again. */
  readonly after?: string | undefined;
  /** Leaves out the bodies, which makes a metadata list cheap. */
  readonly metadataOnly?: boolean;
}

/**
 * All objects of the cluster, in SQLite; one counter gives every change its revision. Every call is synchronous, so a
 * caller that reads, decides and writes without waiting in between has the store to itself.
 */
export interface Store {
  revision(): number;
  /** The oldest revision that a watch or a continued list may start from. */
  oldestRevision(): number;
  get(key: ObjectKey): StoredObject | undefined;
  /** Ordered by namespace and name. */
  list(range: ListRange): readonly StoredObject[];
  /** The list as it was at that revision, which must not be older than `oldestRevision`. */
  listAt(range: ListRange, revision: number): readonly StoredObject[];
  /** The keys of all resources of which an object exists. */
  resources(): readonly string[];
  /** Creates or replaces; the stored object's resourceVersion is the new revision. Throws a `StatusError` for one that is too large. */
  write(key: ObjectKey, object: ApiObject): StoredObject;
  /** Removes; `last` is what watchers are told the object was. Nothing happens if it is gone. */
  remove(key: ObjectKey, last: ApiObject): void;
  eventsAfter(revision: number): readonly StoreEvent[];
  /** Listeners are called in the order of revisions, before the write returns, and must not throw. */
  subscribe(listener: (event: StoreEvent) => void): () => void;
  /** Forgets revisions before now. */
  compact(): void;
  close(): void;
}

/** @param open opens the database's file; `new DatabaseSync(file)` by default */
export function openStore(stateFolder: string, open?: (file: string) => DatabaseSync): Store {
  return storeIn(openDatabase(stateFolder, open));
}

/** The store in an open database, which it closes at its end. */
export function storeIn(database: DatabaseSync): Store {
  const statements = prepare(database);
  const listeners = new Set<(event: StoreEvent) => void>();
  let revision = numberOf(statements.revision.get()?.["value"]);
  const history = historyFrom(revision);

  const get = (key: ObjectKey): StoredObject | undefined => {
    const row = statements.get.get(key.resource, key.namespace, key.name);
    return row === undefined ? undefined : fromRow(row);
  };

  const list = ({ resource, namespace, after = "", metadataOnly = false }: ListRange): readonly StoredObject[] => {
    if (namespace === undefined) {
      return (metadataOnly ? statements.listMetadata : statements.list).all(resource).map(fromRow);
    }
    return (metadataOnly ? statements.listNamespaceMetadata : statements.listNamespace)
      .all(resource, namespace, after)
      .map(fromRow);
  };

  const inTransaction = (act: () => void): void => {
    database.exec("BEGIN IMMEDIATE");
    try {
      act();
      database.exec("COMMIT");
    } catch (error) {
      // On a full disk, for example, SQLite has rolled back itself.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  };

  const commit = (event: StoreEvent, act: () => void): void => {
    inTransaction(() => {
      act();
      statements.setRevision.run(event.revision);
    });
    revision = event.revision;
    history.push(event);
    for (const listener of listeners) listener(event);
  };

  return {
    revision: () => revision,
    oldestRevision: () => history.oldest(),
    get,
    list,
    listAt: (range, at) => rewound(list(range), range, history.after(at)),
    resources: () => statements.resources.all().map((row) => String(row["resource"])),
    write(key, object) {
      const previous = get(key);
      const current = storedObject(key, object, revision + 1);
      checkStoredSize(current, object);
      const type = previous === undefined ? "ADDED" : "MODIFIED";
      commit({ ...key, type, revision: current.revision, current, previous }, () => {
        const { resource, namespace, name, uid, labels, metadata, body } = current;
        statements.put.run(resource, namespace, name, current.revision, uid, labels, metadata, body);
      });
      return current;
    },
    remove(key, last) {
      const previous = get(key);
      if (previous === undefined) return;
      const current = storedObject(key, last, revision + 1);
      commit({ ...key, type: "DELETED", revision: current.revision, current, previous }, () => {
        statements.remove.run(key.resource, key.namespace, key.name);
      });
    },
    eventsAfter: (after) => history.after(after),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    compact: () => history.compact(revision),
    close: () => database.close(),
  };
}

/** Takes back later changes from a list. */
function rewound(
  now: readonly StoredObject[],
  { resource, namespace }: ListRange,
  later: readonly StoreEvent[],
): readonly StoredObject[] {
  const mine = later.filter(
    (event) => event.resource === resource && (namespace === undefined || event.namespace === namespace),
  );
  if (mine.length === 0) return now;
  const byName = new Map(now.map((stored) => [nameOf(stored), stored]));
  for (const event of mine.toReversed()) {
    if (event.previous === undefined) byName.delete(nameOf(event));
    else byName.set(nameOf(event), event.previous);
  }
  return [...byName.values()].toSorted((a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name));
}

function nameOf({ namespace, name }: ObjectKey): string {
  return `${namespace}/${name}`;
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

type Row = Record<string, SQLOutputValue>;

function fromRow(row: Row): StoredObject {
  return {
    resource: String(row["resource"]),
    namespace: String(row["namespace"]),
    name: String(row["name"]),
    revision: numberOf(row["revision"]),
    uid: String(row["uid"]),
    labels: String(row["labels"]),
    metadata: String(row["metadata"]),
    body: String(row["body"] ?? ""),
  };
}

function numberOf(value: SQLOutputValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function prepare(database: DatabaseSync) {
  const metadata = "resource, namespace, name, revision, uid, labels, metadata";
  const all = `${metadata}, body`;
  const inNamespace = "resource = ? AND namespace = ? AND name > ?";
  return {
    get: database.prepare(`SELECT ${all} FROM objects WHERE resource = ? AND namespace = ? AND name = ?`),
    list: database.prepare(`SELECT ${all} FROM objects WHERE resource = ? ORDER BY namespace, name`),
    listMetadata: database.prepare(`SELECT ${metadata} FROM objects WHERE resource = ? ORDER BY namespace, name`),
    listNamespace: database.prepare(`SELECT ${all} FROM objects WHERE ${inNamespace} ORDER BY name`),
    listNamespaceMetadata: database.prepare(`SELECT ${metadata} FROM objects WHERE ${inNamespace} ORDER BY name`),
    resources: database.prepare("SELECT DISTINCT resource FROM objects"),
    put: database.prepare(`INSERT OR REPLACE INTO objects (${all}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    remove: database.prepare("DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?"),
    revision: database.prepare("SELECT value FROM counters WHERE name = 'revision'"),
    setRevision: database.prepare("INSERT OR REPLACE INTO counters (name, value) VALUES ('revision', ?)"),
  };
}
