import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { ecrHosts } from "../../../../functions/ingest/ecr.ts";
import { type IngestDeps, ingestHandler } from "../../../../functions/ingest.ts";
import type { Subscription } from "../../../../lib/core/follows.ts";
import type { WorkKey } from "../../../../lib/core/work-key.ts";
import { sqliteObservedResources } from "../../../../local/state/observed-resources.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../../../local/state/subscriptions.ts";
import { sqliteWorkItems } from "../../../../local/state/work-items.ts";
import { keyOf, leased, never } from "../../../contract/state-back-end.ts";
import { recordedLog } from "../../../doubles/recorded-log.ts";
import { recordedMetrics } from "../../../doubles/recorded-metrics.ts";

const Sample = z.looseObject({ source: z.string(), "detail-type": z.string(), detail: z.looseObject({}) });
type Sample = z.infer<typeof Sample>;

/** An event as the documentation of its service shows it, with other fields of its detail. */
export async function sample(name: string, detail: object = {}): Promise<Sample> {
  const file = join(import.meta.dirname, `../../../fixtures/events/${name}.json`);
  const event = Sample.parse(JSON.parse(await readFile(file, "utf8")));
  return { ...event, detail: { ...event.detail, ...detail } };
}

/** Ingest with a state of its own, and these objects, each with what it subscribes to. */
export async function ingestWorld(
  listening: Readonly<Record<string, Subscription>>,
  deps: Partial<IngestDeps> = {},
  observed: readonly WorkKey[] = [],
) {
  const database = openStateDatabase(":memory:");
  const subscriptions = sqliteSubscriptions(database);
  const resources = sqliteObservedResources(database);
  const items = sqliteWorkItems(database);
  for (const [name, subscription] of Object.entries(listening)) {
    await subscriptions.subscribe([subscription], await leased({ items }, keyOf(name)), never);
  }
  for (const key of observed) await resources.put(key, "seen", never);
  const woken: string[] = [];
  const log = recordedLog();
  const metrics = recordedMetrics();
  const all: IngestDeps = {
    ...{ subscriptions, observed: resources, log, metrics },
    registryHosts: ecrHosts,
    isAdmitted: () => true,
    requests: { hint: async ({ name }) => void woken.push(name) },
    ...deps,
  };
  const ingest = ingestHandler(all);
  return {
    deps: all,
    log,
    metrics,
    woken,
    async ingest(event: unknown): Promise<readonly string[]> {
      woken.length = 0;
      await ingest(event, never);
      return woken;
    },
    refused: () => metrics.recorded.filter(([, measures]) => measures.EventsRefused === 1).length,
    [Symbol.dispose]: () => database.close(),
  };
}
