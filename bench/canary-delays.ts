import { join } from "node:path";
import { z } from "zod";
import { textColumn, readStateDatabase } from "../local/state/state-database.ts";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import { systemClock } from "../lib/process/system-clock.ts";

const Item = z.object({ dueAt: z.number().optional() });
const httpRoutes = { group: "gateway.networking.k8s.io", version: "v1", kind: "HTTPRoute", namespace: "default" };
/** Far shorter than the ten seconds for which a due time is in the queue. */
const lookEveryMs = 2_000;
/** A step whose due time is longer ago than this is not of it. */
const intervalMs = 10_000;

/**
 * From the time at which a step is due, as the queue in the state folder has it, to the moment in which a watch of the API server tells the
 * changed weight, in milliseconds, for each step until the signal is aborted. Nothing of it is told by the process that takes the steps.
 *
 * @param state the state folder of `sluice local`
 */
export async function delaysOfSteps(state: string, cluster: Cluster, signal: AbortSignal): Promise<readonly number[]> {
  using database = disposable(readStateDatabase(join(state, "state.db")));
  const select = database.connection.prepare("SELECT key, item FROM work_items WHERE key LIKE '%Canary%'");
  const due = new Map<string, Set<number>>();
  const changes: { readonly name: string; readonly at: number }[] = [];
  const look = (): void => {
    for (const row of select.all()) {
      const { dueAt } = Item.parse(JSON.parse(textColumn(row, "item")));
      const name = textColumn(row, "key").split("/").at(-1) ?? "";
      if (dueAt !== undefined) due.set(name, (due.get(name) ?? new Set()).add(dueAt));
    }
  };
  const looking = async (): Promise<void> => {
    for (;;) {
      look();
      await systemClock.sleep(lookEveryMs, signal);
    }
  };
  const watching = async (): Promise<void> => {
    let isListed = false;
    for await (const event of cluster.watch({ ...httpRoutes, isMetadataOnly: true }, signal)) {
      if (event.type === "BOOKMARK") isListed ||= event.initialEventsEnd;
      else if (isListed) changes.push({ name: event.object.metadata.name, at: Date.now() });
    }
  };
  await Promise.all(
    [looking(), watching()].map((work) => work.catch(() => signal.throwIfAborted()).catch(() => undefined)),
  );
  return changes.flatMap(({ name, at }) => {
    const before = [...(due.get(name) ?? [])].filter((time) => time <= at && time > at - intervalMs);
    return before.length === 0 ? [] : [at - Math.max(...before)];
  });
}

function disposable<Database extends { close(): void }>(database: Database): Database & Disposable {
  return { ...database, [Symbol.dispose]: () => database.close() };
}
