import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { reconcileHandler } from "../../../functions/reconcile.ts";
import { Failure } from "../../../lib/core/failure.ts";

import { systemClock } from "../../../lib/process/system-clock.ts";
import { writeLog } from "../../../lib/process/write-log.ts";
import { rules } from "../../../lib/queue/rules.ts";
import { runPlaces } from "../../../lib/queue/run-places.ts";
import { refusalLog } from "../../../lib/receiver/refusal-log.ts";
import { queuedWakeUps, sqliteDeadLetters, sqliteMessageQueue } from "../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../local/state/state-database.ts";
import { sqliteWorkItems } from "../../../local/state/work-items.ts";
import { keyOf, never, workItem } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { readLogLine, runQuery } from "../infra/logs-insights.ts";

const page = await readFile(join(import.meta.dirname, "../../../docs/logs.md"), "utf8");
const inBlocks = [...page.matchAll(/^```text\n(filter [^]*?)^```$/gm)].map(([, text = ""]) =>
  text.trim().split(/\n\| /),
);
const inCommands = [...page.matchAll(/--query-string\s(?:\\\n)?\s*'([^']+)'/g)].map(([, text = ""]) =>
  text.split(" | "),
);
const queries = [...inBlocks, ...inCommands];

const metrics = { record: () => undefined };
const notCalled = () => Promise.reject(new Error("not called"));

/** The lines of a run of `apps/web` that fails, and of a webhook that is refused. */
async function writtenLines(): Promise<readonly string[]> {
  const lines: string[] = [];
  const log = writeLog((line) => lines.push(line), "info");
  const database = openStateDatabase(":memory:");
  const items = sqliteWorkItems(database);
  await items.put(workItem(keyOf("web")), never);
  const failure = new Failure("BuildFailed", "no such folder");
  const handle = reconcileHandler({
    ...{ items, wakeUps: queuedWakeUps(sqliteMessageQueue(database, systemClock)), log, rules },
    ...{ metrics, clock: systemClock, runPlaces: runPlaces(systemClock), limits: openLimits },
    ...{ newHolder: () => "h", inputOf: async () => "i", onParked: async () => undefined },
    ...{ extendVisibility: async () => undefined, sweepCluster: notCalled, lookAtObject: notCalled },
    deadLetters: sqliteDeadLetters(database, systemClock),
    clusters: { get: () => ({ gate: openGate }) },
    flowOf: () => async () => ({ outcome: "failed", dueInMs: 60_000, failure }),
  });
  const body = JSON.stringify({ key: "home/kustomize.toolkit.fluxcd.io/Kustomization/apps/web" });
  await handle({ Records: [{ messageId: "m", receiptHandle: "r", body }] }, never);
  const refused = refusalLog({ log, metrics, clock: systemClock });
  refused(keyOf("hook"), { status: 400, why: "no signature", isMeant: true });
  database.close();
  return lines;
}

test("each query of the page about logs finds what the code writes, and every field that it shows", async () => {
  const lines = (await writtenLines()).map((line) => readLogLine(line.trim()));
  expect([inBlocks.length, inCommands.length]).toEqual([4, 1]);
  for (const query of queries) {
    const found = runQuery(query, lines);
    expect({ query, found: found.lines.length }).toEqual({ query, found: 1 });
    const shown = new Set(found.lines.flatMap((line) => [...line.keys()]));
    expect(found.fields.filter((field) => !shown.has(field))).toEqual([]);
  }
});
