import { digestOf } from "../../lib/core/digest.ts";
import type { StatePorts } from "../../lib/flows/patient-state.ts";
import { keyOf } from "./state-back-end.ts";

const key = keyOf("web");
const fence = { key, token: 1 };
const owner = { uid: "uid", clusterUid: "cluster" };
const digest = digestOf("artifact");
const claim = { id: "apps_a__ConfigMap", ownerUid: "uid", owner: "Kustomization/apps/web" };
const entry = { id: claim.id, version: "v1", state: "planned" } as const;

/** Every call that a flow makes to the state, under the first lease of object `web`. */
export const stateCalls: readonly {
  readonly call: string;
  readonly make: (state: StatePorts, signal: AbortSignal) => Promise<unknown>;
}[] = [
  { call: "edges.listen", make: ({ edges }, signal) => edges.listen(["x"], fence, signal) },
  { call: "edges.listeners", make: ({ edges }, signal) => edges.listeners("x", signal) },
  { call: "inventories.load", make: ({ inventories }, signal) => inventories.load(owner, fence, signal) },
  { call: "inventories.savedUnder", make: ({ inventories }, signal) => inventories.savedUnder(owner, fence, signal) },
  { call: "inventories.save", make: ({ inventories }, signal) => inventories.save(owner, [entry], fence, signal) },
  { call: "inventories.remove", make: ({ inventories }, signal) => inventories.remove(owner, fence, signal) },
  { call: "ledger.claim", make: ({ ledger }, signal) => ledger.claim("cluster", [claim], fence, signal) },
  { call: "ledger.release", make: ({ ledger }, signal) => ledger.release("cluster", "uid", [claim.id], fence, signal) },
  { call: "ledger.claims", make: ({ ledger }, signal) => ledger.claims("cluster", [claim.id], signal) },
  { call: "records.record", make: ({ records }, signal) => records.record(key, "uid", digest, fence, signal) },
  { call: "records.retain", make: ({ records }, signal) => records.retain(key, "uid", [], fence, signal) },
  { call: "records.recorded", make: ({ records }, signal) => records.recorded(key, "uid", digest, signal) },
  { call: "requests.request", make: ({ requests }, signal) => requests.request(key, "test", signal) },
];
