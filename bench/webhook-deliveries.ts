import { createHmac } from "node:crypto";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { z } from "zod";
import { systemClock } from "../lib/process/system-clock.ts";
import { reconcileRequests } from "../lib/queue/request-reconcile.ts";
import { rules } from "../lib/queue/rules.ts";
import { startReceiver } from "../local/start-receiver.ts";
import { openStateDatabase } from "../local/state/state-database.ts";
import { sqliteWorkItems } from "../local/state/work-items.ts";
import { silentLog } from "../test/doubles/silent-log.ts";
import { receiverWorld, token } from "../test/unit/receiver/receiver-world.ts";
import { type Figure, figure, type Limit } from "./figure.ts";
import { Answers, type Task } from "./webhook-sender.ts";

const deliveries = 2_000;
const connections = 16;
const rounds = 5;
/** About the size of a push with a few commits. */
const payloadBytes = 8_192;
const [leastASecond, maxP99Ms] = [1_000, 50];

/**
 * Deliveries to a Receiver of type github over loopback, with a right and with a wrong signature: how many one core takes a second,
 * by the processor time of the thread that answers them, and how long the slowest of a hundred takes. The state is in memory.
 */
export async function webhookDeliveries(): Promise<readonly Figure[]> {
  using database = closing(openStateDatabase(":memory:"));
  const wakeUps = { send: async () => undefined };
  const items = sqliteWorkItems(database.of);
  const requests = reconcileRequests({ items, wakeUps, clock: systemClock, log: silentLog, rules });
  const world = receiverWorld({ requests });
  await world.ready({ type: "github" });
  const receiver = await startReceiver({ port: 0, receive: world.receive, log: silentLog });
  try {
    const url = `${receiver.url}${world.path()}`;
    const body = JSON.stringify({ ref: "refs/heads/main", filler: "x".repeat(payloadBytes) });
    const signed = (key: string): Task => ({
      ...{ url, body, count: deliveries, connections },
      headers: {
        "content-type": "application/json",
        "x-github-event": "push",
        "x-hub-signature-256": `sha256=${createHmac("sha256", key).update(body).digest("hex")}`,
      },
    });
    // Node compiles what runs often.
    await deliver(signed(token));
    const [right, wrong]: Measured[][] = [[], []];
    for (let round = 0; round < rounds; round++) {
      right?.push(await measured(signed(token), 200));
      wrong?.push(await measured(signed("another"), 400));
    }
    return [...figures("right signature", right ?? []), ...figures("wrong signature", wrong ?? [])];
  } finally {
    await receiver.close();
  }
}

interface Measured {
  readonly aSecond: number;
  readonly p99: number;
}

function figures(what: string, of: readonly Measured[]): readonly Figure[] {
  const least: Limit = { of: "median", atLeast: leastASecond };
  const most: Limit = { of: "median", atMost: maxP99Ms };
  const rates = of.map(({ aSecond }) => aSecond);
  const slowest = of.map(({ p99 }) => p99);
  return [
    figure(`webhooks with a ${what}, by processor time`, "deliveries a second", rates, least),
    figure(`webhooks with a ${what}, p99 of their answers`, "ms", slowest, most),
  ];
}

async function measured(task: Task, status: number): Promise<Measured> {
  const before = process.threadCpuUsage();
  const { times, statuses } = await deliver(task);
  const { user, system } = process.threadCpuUsage(before);
  if (statuses.some((one) => one !== status)) throw new Error(`answers ${statuses.join()} in place of ${status}`);
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(0.99 * times.length)] ?? Number.NaN;
  return { aSecond: times.length / ((user + system) / 1_000_000), p99 };
}

async function deliver(task: Task) {
  const worker = new Worker(new URL("./webhook-sender.ts", import.meta.url), { workerData: task });
  return Answers.parse(z.array(z.unknown()).parse(await once(worker, "message"))[0]);
}

function closing<Opened extends { close(): void }>(of: Opened): { readonly of: Opened } & Disposable {
  return { of, [Symbol.dispose]: () => of.close() };
}
