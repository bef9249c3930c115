import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { z } from "zod";
import type { Cluster } from "../lib/core/ports/cluster.ts";
import type { NotificationEvent } from "../lib/notify/notification-event.ts";

/** Events for the Alerts of a bench. */
export const Load = z.object({
  title: z.string(),
  events: z.int(),
  /** Pause after each event, in milliseconds; 0: all at once. */
  gapMs: z.number(),
  alerts: z.int(),
  /** Whether an event is for one of the Alerts; otherwise for all. */
  isForOne: z.boolean(),
});
export type Load = z.infer<typeof Load>;

const alerts = 10;
/** The loads of the benches of notifications. */
export const loads: readonly Load[] = [
  { title: "one event every 5 ms to one of ten Alerts", events: 400, gapMs: 5, isForOne: true, alerts },
  { title: "2,000 events at once, each to one of ten Alerts", events: 2_000, gapMs: 0, isForOne: true, alerts },
  { title: "2,000 events at once, each to ten Alerts", events: 2_000, gapMs: 0, isForOne: false, alerts },
];

/** The event of this number, from now; one below zero is a warm-up. The moment is in its message, by the machine's monotonic clock. */
export function eventOf(index: number, { alerts: count, isForOne }: Load): NotificationEvent {
  return {
    involvedObject: {
      apiVersion: "kustomize.toolkit.fluxcd.io/v1",
      kind: "Kustomization",
      namespace: "default",
      name: isForOne ? `app-${Math.abs(index) % count}` : "app",
      uid: "00000000-0000-0000-0000-000000000000",
      resourceVersion: "1",
    },
    severity: "info",
    timestamp: new Date().toISOString(),
    message: `${index} at ${process.hrtime.bigint()}`,
    reason: "ReconciliationSucceeded",
    reportingController: "kustomize-controller",
    reportingInstance: "bench",
  };
}

const patienceMs = 120_000;
const Posted = z.object({ message: z.string() });

/** The host of all Providers of a bench. */
export interface Receiver {
  readonly address: string;
  /** From the event to its request, in milliseconds; without warm-ups. */
  readonly waits: number[];
  /** The paths of the Providers that a warm-up has reached. */
  readonly warm: Set<string>;
  /** The connections that were open at the same time, at most. */
  connections(): number;
  /** When every delivery of the load has arrived. Throws after two minutes. */
  readonly all: () => Promise<void>;
}

export async function startReceiver(
  { alerts: count, events, isForOne }: Load,
  open: AsyncDisposableStack,
): Promise<Receiver> {
  const expected = events * (isForOne ? 1 : count);
  const waits: number[] = [];
  const warm = new Set<string>();
  const arrived = Promise.withResolvers<void>();
  const connected = { now: 0, most: 0 };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      response.end();
      const [, index, sentAt] = /^(-?\d+) at (\d+)$/.exec(Posted.parse(JSON.parse(body)).message) ?? [];
      if (Number(index) < 0) return void warm.add(request.url ?? "");
      waits.push(Number(process.hrtime.bigint() - BigInt(sentAt ?? 0)) / 1_000_000);
      if (waits.length === expected) arrived.resolve();
    });
  });
  server.on("connection", (socket) => {
    connected.now += 1;
    connected.most = Math.max(connected.most, connected.now);
    socket.once("close", () => (connected.now -= 1));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the Provider has no port");
  return {
    address: `http://127.0.0.1:${address.port}`,
    ...{ waits, warm, connections: () => connected.most },
    all: () => inTime(arrived.promise, () => `${waits.length} of ${expected} notifications have arrived`),
  };
}

async function inTime(work: Promise<void>, why: () => string): Promise<void> {
  const over = new AbortController();
  const late = setTimeout(patienceMs, true, { signal: over.signal }).catch(() => false);
  const isLate = await Promise.race([work.then(() => false), late]);
  over.abort();
  if (isLate) throw new Error(`${why()} within ${patienceMs / 1_000} s`);
}

/** A Provider of type generic for each Alert of the load. */
export async function applyAlerts({ alerts: count, isForOne }: Load, address: string, cluster: Cluster): Promise<void> {
  const signal = AbortSignal.timeout(patienceMs);
  const options = { manager: "bench", force: true };
  const apiVersion = "notification.toolkit.fluxcd.io/v1beta3";
  for (let index = 0; index < count; index++) {
    const metadata = { name: `alert-${index}`, namespace: "default" };
    const provider = { type: "generic", address: `${address}/${index}` };
    await cluster.apply({ apiVersion, kind: "Provider", metadata, spec: provider }, options, signal);
    const name = isForOne ? `app-${index}` : "app";
    const spec = { providerRef: { name: metadata.name }, eventSources: [{ kind: "Kustomization", name }] };
    await cluster.apply({ apiVersion, kind: "Alert", metadata, spec }, options, signal);
  }
}
