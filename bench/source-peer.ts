import { z } from "zod";
import { findCondition } from "../lib/api/condition.ts";
import { SourceStatus } from "../lib/api/source.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import { homeNetwork } from "../lib/core/network/network-policy.ts";
import { httpClient } from "../lib/http/http-client.ts";
import { type Figure, figure } from "./figure.ts";
import { apply, besideBoth, costOf, namespace, type Peer, request, served, timed, until } from "./peers.ts";
import { type MeasuredKind, type SourceHosts, sourceHosts, sourceKinds } from "./source-hosts.ts";

/** Runs before those that count: both programs are then as warm as in a cluster. */
const warmUps = 50;
const rounds = 50;
const mostOfFlux = 50;
const patienceMs = 120_000;

/** Of one run of an unchanged source. */
interface Spent {
  /** From the request until a client of the API server sees that it is done, in milliseconds, of each run. */
  readonly ms: readonly number[];
  /** Processor time of a run in milliseconds, the mean of all. */
  readonly cpuMs: number;
}

type Measured = Readonly<Record<MeasuredKind, Spent>>;

/**
 * A source of each kind that has not changed, by real source-controller and by Sluice, from the request of a run until a client of the API
 * server sees it done; and the processor time of its process. ExternalArtifacts are not here: nothing fetches them.
 */
export async function sourcePeer(): Promise<readonly Figure[]> {
  await using open = new AsyncDisposableStack();
  const http = httpClient({ network: homeNetwork });
  open.defer(() => http.close());
  const hosts = await sourceHosts(http, open);
  if (hosts === undefined) {
    process.stderr.write("sourcePeer is left out: it needs git, and the parts control-plane, registry and s3\n");
    return [];
  }
  const needed = { bench: "sourcePeer", flux: { "source-controller": [] } } as const;
  const measured = await besideBoth(needed, (peer) => measure(peer, hosts));
  if (measured === undefined) return [];
  const { flux, sluice } = measured;
  const limit = { of: "median", atMost: mostOfFlux } as const;
  return sourceKinds.flatMap((kind) => {
    const title = `${kind}, unchanged`;
    const time = (100 * median(sluice[kind].ms)) / median(flux[kind].ms);
    const cpu = (100 * sluice[kind].cpuMs) / flux[kind].cpuMs;
    return [
      figure(`${title}, Flux, request to observed`, "ms", flux[kind].ms),
      figure(`${title}, Sluice, request to observed`, "ms", sluice[kind].ms),
      figure(`${title}, Sluice, request to observed`, "percent of Flux's", [time], limit),
      figure(`${title}, Flux, processor time`, "ms", [flux[kind].cpuMs]),
      figure(`${title}, Sluice, processor time`, "ms", [sluice[kind].cpuMs]),
      figure(`${title}, Sluice, processor time`, "percent of Flux's", [cpu], limit),
    ];
  });
}

async function measure(peer: Peer, { bucketKeys, specs }: SourceHosts): Promise<Measured> {
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "bucket", namespace }, stringData: bucketKeys };
  await peer.cluster.apply(secret, { manager: "bench", force: true }, AbortSignal.timeout(patienceMs));
  const spent: Partial<Record<MeasuredKind, Spent>> = {};
  for (const kind of sourceKinds) {
    const name = kind.toLowerCase();
    await apply(peer, kind, name, { interval: "1h", ...specs[kind] });
    await until(peer, kind, name, isReady);
    await using handled = handledRequests(peer, kind);
    const run = async (): Promise<void> => handled.handles(await request(peer, kind, name));
    for (let round = 0; round < warmUps; round++) await run();
    const ms: number[] = [];
    const { used } = await costOf(peer, async () => {
      for (let round = 0; round < rounds; round++) ms.push(await timed(run));
    });
    const cpu = Object.values(used).reduce((sum, each) => sum + each.cpu, 0);
    spent[kind] = { ms, cpuMs: (1_000 * cpu) / rounds };
  }
  return allOf(spent);
}

function allOf({ OCIRepository, GitRepository, HelmRepository, HelmChart, Bucket }: Partial<Measured>): Measured {
  if (!(OCIRepository && GitRepository && HelmRepository && HelmChart && Bucket))
    throw new Error("a kind was left out");
  return { OCIRepository, GitRepository, HelmRepository, HelmChart, Bucket };
}

/** Hears by a watch which requests were handled: a client that asks again and again finds it later, and gives the API server work. */
function handledRequests(
  { cluster }: Peer,
  kind: MeasuredKind,
): AsyncDisposable & { handles(value: string): Promise<void> } {
  const end = new AbortController();
  let last: string | undefined;
  let awaited: { readonly value: string; readonly resolve: () => void } | undefined;
  const watching = async (): Promise<void> => {
    for await (const event of cluster.watch({ ...served(kind), namespace }, end.signal)) {
      if (event.type === "BOOKMARK") continue;
      last = Handled.parse(event.object).status?.lastHandledReconcileAt;
      if (last === awaited?.value) awaited?.resolve();
    }
  };
  const watch = watching()
    .catch(() => end.signal.throwIfAborted())
    .catch(() => undefined);
  return {
    handles(value) {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaited = { value, resolve };
      if (last === value) resolve();
      return promise;
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      await watch;
    },
  };
}

const Handled = z.object({ status: z.object({ lastHandledReconcileAt: z.string().optional() }).optional() });

function isReady(live: LiveObject): boolean {
  const { artifact, conditions = [] } = SourceStatus.parse(live["status"] ?? {});
  return artifact !== undefined && findCondition(conditions, "Ready")?.status === "True";
}

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;
}
