import { expect, test } from "vitest";
import { runnerDeps } from "../../../functions/runner-deps.ts";
import { kinds } from "../../../lib/flows/kinds/kinds.ts";
import { servedClusters } from "../../../lib/gate/served-clusters.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { queuedWakeUps, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never } from "../../contract/state-back-end.ts";
import { noHome, noTarget } from "../../doubles/no-cluster.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { silentLog } from "../../doubles/silent-log.ts";

const clusters = servedClusters([
  { id: "home", open: () => ({ home: noHome, targetAs: () => noTarget, gated: () => noTarget, gate: openGate }) },
]);

test("each dead letter is counted once it is sent", async () => {
  const database = openStateDatabase(":memory:");
  const metrics = recordedMetrics();
  const queue = {
    items: sqliteWorkItems(database),
    wakeUps: queuedWakeUps(sqliteMessageQueue(database, systemClock)),
    ...{ clock: systemClock, log: silentLog, rules },
  };
  const key = keyOf("web");
  const letter = { key, attempts: 3, message: "no" };
  const failing = { send: () => Promise.reject(new Error("queue away")) };
  const refused = runnerDeps(queue, { clusters, deadLetters: failing, metrics, kinds });
  await expect(refused.deadLetters.send(letter, never)).rejects.toThrow("queue away");
  expect(metrics.recorded).toEqual([]);

  const sent: unknown[] = [];
  const deadLetters = { send: async (each: unknown) => void sent.push(each) };
  await runnerDeps(queue, { clusters, deadLetters, metrics, kinds }).deadLetters.send(letter, never);
  expect(sent).toEqual([letter]);
  expect(metrics.recorded).toEqual([[`${key.kind}/${key.namespace}/${key.name}`, { ReconcilesParked: 1 }]]);
  database.close();
});

test("each lease gets a random name of 122 bits, so that no message can guess it", () => {
  const database = openStateDatabase(":memory:");
  const queue = {
    items: sqliteWorkItems(database),
    wakeUps: queuedWakeUps(sqliteMessageQueue(database, systemClock)),
    ...{ clock: systemClock, log: silentLog, rules },
  };
  const deadLetters = { send: async () => undefined };
  const deps = runnerDeps(queue, { clusters, deadLetters, metrics: recordedMetrics(), kinds });
  const names = Array.from({ length: 1_000 }, () => deps.newHolder());
  expect(new Set(names).size).toBe(1_000);
  for (const name of names)
    expect(name).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  database.close();
});
