import { digestOf } from "../../lib/core/digest.ts";
import type { StatePorts } from "../../lib/flows/kinds/outages.ts";
import { keyOf } from "./state-back-end.ts";

const key = keyOf("web");
const fence = { key, token: 1 };
const owner = { uid: "uid", clusterUid: "cluster" };
const digest = digestOf("artifact");
const claim = { id: "apps_a__ConfigMap", ownerUid: "uid", owner: "Kustomization/apps/web" };
const entry = { id: claim.id, version: "v1", state: "planned" } as const;
const indexed = { state: "ready", type: "generic", events: [], resources: [] } as const;

/** Every call that a flow makes to the state, under the first lease of object `web`. */
export const stateCalls: readonly {
  readonly call: string;
  readonly make: (state: StatePorts, signal: AbortSignal) => Promise<unknown>;
}[] = [
  {
    call: "subscriptions.subscribe",
    make: ({ subscriptions }, signal) => subscriptions.subscribe(["x"], fence, signal),
  },
  { call: "subscriptions.followers", make: ({ subscriptions }, signal) => subscriptions.followers("x", signal) },
  { call: "subscriptions.subscribers", make: ({ subscriptions }, signal) => subscriptions.subscribers("x", signal) },
  { call: "inventories.load", make: ({ inventories }, signal) => inventories.load(owner, fence, signal) },
  { call: "inventories.savedUnder", make: ({ inventories }, signal) => inventories.savedUnder(owner, fence, signal) },
  { call: "inventories.clusters", make: ({ inventories }, signal) => inventories.clusters(owner, fence, signal) },
  { call: "inventories.save", make: ({ inventories }, signal) => inventories.save(owner, [entry], fence, signal) },
  { call: "inventories.remove", make: ({ inventories }, signal) => inventories.remove(owner, fence, signal) },
  { call: "ledger.claim", make: ({ ledger }, signal) => ledger.claim("cluster", [claim], fence, signal) },
  { call: "ledger.release", make: ({ ledger }, signal) => ledger.release("cluster", "uid", [claim.id], fence, signal) },
  { call: "ledger.claims", make: ({ ledger }, signal) => ledger.claims("cluster", [claim.id], signal) },
  { call: "records.record", make: ({ records }, signal) => records.record(key, "uid", digest, fence, signal) },
  { call: "records.retain", make: ({ records }, signal) => records.retain(key, "uid", [], fence, signal) },
  { call: "records.recorded", make: ({ records }, signal) => records.recorded(key, "uid", digest, signal) },
  {
    call: "receivers.save",
    make: ({ receivers }, signal) => receivers.save("/hook/x", indexed, fence, signal),
  },
  { call: "receivers.remove", make: ({ receivers }, signal) => receivers.remove(fence, signal) },
  { call: "receivers.find", make: ({ receivers }, signal) => receivers.find("/hook/x", signal) },
  {
    call: "imageTags.put",
    make: ({ imageTags }, signal) => imageTags.put({ tags: ["1"], revision: "1" }, fence, signal),
  },
  { call: "imageTags.get", make: ({ imageTags }, signal) => imageTags.get(key, signal) },
  { call: "imageTags.describe", make: ({ imageTags }, signal) => imageTags.describe(key, signal) },
  { call: "imageTags.remove", make: ({ imageTags }, signal) => imageTags.remove(fence, signal) },
  { call: "requests.request", make: ({ requests }, signal) => requests.request(key, "test", signal) },
];
