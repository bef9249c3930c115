import { expect, test } from "vitest";
import type { IndexedReceiver, ReceiverEntry } from "../../../lib/core/ports/receiver-index.ts";
import { Secret } from "../../../lib/core/secret.ts";
import { formatWorkKey, type WorkKey } from "../../../lib/core/work-key.ts";
import { authentications } from "../../../lib/receiver/authenticate.ts";
import { handleDelivery } from "../../../lib/receiver/handle-delivery.ts";
import { webhookPath } from "../../../lib/receiver/webhook-path.ts";
import { noCel } from "../../doubles/no-cel.ts";
import { recordedLog } from "../../doubles/recorded-log.ts";

const own = { namespace: "retail", name: "shop-hook" };
const path = webhookPath(Buffer.from("q7Zt"), own);
const never = new AbortController().signal;

/** Receivers of one path, one for each entry, in clusters of their own. */
function world(entries: Readonly<Record<string, Partial<ReceiverEntry>>>, token = "q7Zt") {
  const found = Object.entries(entries).map(([cluster, entry]): IndexedReceiver => {
    const key = { cluster, group: "notification.toolkit.fluxcd.io", kind: "Receiver", ...own };
    return { key, entry: { state: "ready", type: "generic", events: [], resources: [], ...entry } };
  });
  const calls: string[] = [];
  const log = recordedLog();
  const hint = async (key: WorkKey) => void calls.push(`wake ${formatWorkKey(key)}`);
  const receive = () =>
    handleDelivery(
      { uri: path, header: () => undefined, body: Buffer.from("") },
      {
        receivers: { find: async () => found },
        secretOf: async ({ cluster, namespace, name }) => {
          calls.push(`read ${cluster} ${namespace}/${name}`);
          return new Map([["token", new Secret(token)]]);
        },
        requests: { hint },
        isFirstContact: (cluster) => calls.push(`first contact with ${JSON.stringify(cluster)}`) > 0,
        refused: () => undefined,
        ...{ authentications, log },
        cel: { withBudget: () => (calls.push("a budget for expressions"), noCel) },
      },
      { authentic: never, firstAuthentic: never, woken: never },
    );
  return { receive, calls, log };
}

const source = { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", label: "x" };
const selected = (namespace: string, ...names: readonly string[]) => ({
  ...source,
  namespace,
  objects: names.map((name) => ({ name })),
});

test("a delivery reads the Secret in each Receiver's own cluster and wakes the objects there", async () => {
  const { calls, receive } = world({
    prod: { secret: "token", resources: [selected("retail", "a")] },
    "prod-old": { secret: "token-old", resources: [selected("retail-old", "b")] },
  });
  expect(await receive()).toBe(200);
  expect(calls.filter((call) => call.startsWith("read"))).toEqual([
    "read prod retail/token",
    "read prod-old retail/token-old",
  ]);
  expect(new Set(calls.filter((call) => call.startsWith("wake")))).toEqual(
    new Set([
      `wake ${formatWorkKey({ cluster: "prod", ...source, namespace: "retail", name: "a" })}`,
      `wake ${formatWorkKey({ cluster: "prod-old", ...source, namespace: "retail-old", name: "b" })}`,
    ]),
  );
});

test.each([
  ["a Receiver with a Secret", { secret: "token" }, ['first contact with ""', 'first contact with "prod"']],
  ["one without, whose path can be guessed", {}, ['first contact with ""']],
])("the first contact with a cluster is for %s", async (_what, entry, contacts) => {
  const { calls, receive } = world({ prod: entry });
  await receive();
  expect(calls.filter((call) => call.startsWith("first"))).toEqual(contacts);
});

test("the log counts the objects that all entries of a Receiver wake", async () => {
  const { log, receive } = world({ prod: { resources: [selected("n", "a", "b"), selected("m", "c"), selected("o")] } });
  expect(await receive()).toBe(200);
  expect(log.infos).toEqual([expect.objectContaining({ message: "webhook accepted", woken: 3, isWhole: true })]);
});

test("all entries of a Receiver share one budget for their expressions", async () => {
  const { calls, receive } = world({ prod: { resources: [selected("n", "a"), selected("m", "b")] } });
  await receive();
  expect(calls.filter((call) => call.startsWith("a budget"))).toHaveLength(1);
});

test("a path of an earlier token wakes only the Receiver", async () => {
  const { calls, receive } = world({ prod: { secret: "token", resources: [selected("retail", "a")] } }, "newer");
  expect(await receive()).toBe(404);
  const receiver = { cluster: "prod", group: "notification.toolkit.fluxcd.io", kind: "Receiver", ...own };
  expect(calls.filter((call) => call.startsWith("wake"))).toEqual([`wake ${formatWorkKey(receiver)}`]);
});
