import type { HistoryRecord } from "../../../lib/core/ports/history.ts";
import type { InventoryEntry } from "../../../lib/core/ports/inventory-store.ts";
import type { Claim } from "../../../lib/core/ports/ledger.ts";
import { formatWorkKey, parseWorkKey } from "../../../lib/core/work-key.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/deps.ts";
import { type Fault, faultyPort } from "./faulty-port.ts";

type Ports = "edges" | "requests" | "artifacts" | "records" | "inventories" | "ledger" | "history";

/** What an installation keeps, in memory, as a Kustomization's run sees it. `published` has the artifacts by digest. */
export function memoryState(published: ReadonlyMap<string, unknown>, fault: Fault) {
  /** By uid. */
  const inventories = new Map<string, readonly InventoryEntry[]>();
  /** The generation of its owner that each was saved under. */
  const savedUnder = new Map<string, number | undefined>();
  /** By work key. */
  const edges = new Map<string, readonly string[]>();
  const claims = new Map<string, Claim[]>();
  const requested: string[] = [];
  const remembered: HistoryRecord[] = [];
  const through = <Port extends object>(port: string, real: Port): Port => faultyPort(port, real, fault);
  const ports: Pick<KustomizationDeps, Ports> = {
    edges: through("edges", {
      listen: async (whats, { key: listener }) => void edges.set(formatWorkKey(listener), whats),
      listeners: async (what) =>
        [...edges].filter(([, whats]) => whats.includes(what)).map(([listener]) => parseWorkKey(listener)),
    }),
    requests: { request: async (wanted) => void requested.push(`${wanted.kind}/${wanted.name}`) },
    artifacts: through("artifacts", {
      put: async () => {},
      get: async (digest) => (published.has(digest) ? new TextEncoder().encode(digest) : undefined),
    }),
    records: {
      record: async () => {},
      retain: async () => {},
      recorded: async (_source, _uid, digest) => published.has(digest),
    },
    inventories: through("inventories", {
      load: async ({ uid }) => inventories.get(uid),
      savedUnder: async ({ uid }) => savedUnder.get(uid),
      save: async ({ uid, generation }, entries) => {
        inventories.set(uid, structuredClone(entries));
        savedUnder.set(uid, generation);
      },
      remove: async ({ uid }) => void inventories.delete(uid),
    }),
    ledger: through("ledger", {
      claim: async (_cluster, made) => {
        for (const claim of made) {
          const others = (claims.get(claim.id) ?? []).filter(({ ownerUid }) => ownerUid !== claim.ownerUid);
          claims.set(claim.id, [...others, claim]);
        }
      },
      release: async (_cluster, ownerUid, ids) => {
        for (const id of ids)
          claims.set(
            id,
            (claims.get(id) ?? []).filter((claim) => claim.ownerUid !== ownerUid),
          );
      },
      claims: async (_cluster, ids) => new Map(ids.map((id) => [id, claims.get(id) ?? []])),
    }),
    history: through("history", {
      append: async (_key, record) => void remembered.push(record),
      latest: async () => [],
    }),
  };
  return { ports, inventories, savedUnder, edges, claims, requested, remembered };
}
