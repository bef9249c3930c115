import type { Digest } from "../../../lib/core/digest.ts";
import type { Clock } from "../../../lib/core/ports/clock.ts";
import type { Fence } from "../../../lib/core/ports/fence.ts";
import type { HistoryRecord } from "../../../lib/core/ports/history.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import type { FlowParts } from "../../../lib/flows/kinds/kind.ts";
import { sqliteArtifactRecords } from "../../../local/state/artifact-records.ts";
import { sqliteHistory } from "../../../local/state/history.ts";
import { sqliteImageTags } from "../../../local/state/image-tags.ts";
import { sqliteInventoryStore } from "../../../local/state/inventory-store.ts";
import { sqliteLedger } from "../../../local/state/ledger.ts";
import { sqliteReceiverIndex } from "../../../local/state/receiver-index.ts";
import { openStateDatabase, textColumn } from "../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { leased } from "../../contract/state-back-end.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";

type Ports =
  | "subscriptions"
  | "requests"
  | "artifacts"
  | "records"
  | "inventories"
  | "ledger"
  | "history"
  | "receivers"
  | "imageTags";

/** What a run of a Kustomization reads and writes of it. */
export type MemoryPorts = Pick<FlowParts, Ports>;

/** See {@link memoryState}. */
export type MemoryState = ReturnType<typeof memoryState>;

const { signal } = new AbortController();

/**
 * What an installation keeps, in memory, as a Kustomization's run sees it: the stores of `sluice local`, so that fences, cluster
 * uids and sources are told apart as the ports' contracts say. `published` has the artifacts by digest.
 */
export function memoryState(published: ReadonlyMap<string, unknown>, clock: Clock, fault: Fault) {
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  const subscriptions = sqliteSubscriptions(database);
  const records = sqliteArtifactRecords(database);
  const inventories = sqliteInventoryStore(database, clock);
  const history = sqliteHistory(database);
  const requested: string[] = [];
  const remembered: HistoryRecord[] = [];
  const through = <Port extends object>(port: string, real: Port): Port => faultyPort(port, real, fault);
  const ports: MemoryPorts = {
    subscriptions: through("subscriptions", subscriptions),
    requests: { request: async (wanted) => void requested.push(`${wanted.kind}/${wanted.name}`) },
    artifacts: through("artifacts", {
      put: async () => {},
      get: async (digest) => (published.has(digest) ? new TextEncoder().encode(digest) : undefined),
      has: async (digest) => published.has(digest),
    }),
    records,
    receivers: sqliteReceiverIndex(database),
    imageTags: sqliteImageTags(database),
    inventories: through("inventories", inventories),
    ledger: through("ledger", sqliteLedger(database)),
    history: through("history", {
      ...history,
      append: async (key, record, stop) => {
        remembered.push(record);
        await history.append(key, record, stop);
      },
    }),
  };
  const tables = (): readonly string[] => {
    const rows = database.connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
    return rows.map((row) => textColumn(row, "name"));
  };
  /** Takes the object's lease; a run that was killed has left its own behind. */
  const take = (key: WorkKey): Promise<Fence> => leased({ items }, key);
  return {
    ports,
    requested,
    remembered,
    take,
    /** Ends a lease, so that nothing more is written under it. */
    async drop({ key, token }: Fence): Promise<void> {
      const item = await items.get(key, signal);
      if (item?.token === token) await items.put({ ...item, version: item.version + 1, lease: undefined }, signal);
    },
    /** As the source's own flow does when it has stored an artifact. */
    async record(source: WorkKey, sourceUid: string, digest: Digest): Promise<void> {
      await records.record(source, sourceUid, digest, await take(source), signal);
    },
    /** The store itself, without faults: for what a test looks at or puts there. */
    inventories,
    subscriptionsOf(key: WorkKey): readonly string[] {
      const rows = database.connection.prepare("SELECT what FROM edges WHERE key = ?").all(formatWorkKey(key));
      return rows.map((row) => textColumn(row, "what"));
    },
    /** Every row of every table, as text. */
    text(): string {
      const rows = tables().map((table) => database.connection.prepare(`SELECT * FROM ${table}`).all());
      return JSON.stringify({ rows, requested });
    },
    /** Empties every table, as if they had been lost and made anew. */
    lose(): void {
      for (const table of tables()) database.connection.exec(`DELETE FROM ${table}`);
    },
  };
}
