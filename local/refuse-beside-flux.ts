import { z } from "zod";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";

const controllers = ["source-controller", "kustomize-controller"] as const;
/** Flux renews its leases every five seconds, and holds one for 35 s without. */
const renewedWithinMs = 12_000;
const pollMs = 500;

/** Not allowed, or an API server without leases, as the embedded one. */
const unknowable: ReadonlySet<string> = new Set(["Forbidden", "NoMatch"]);

const HeldLease = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({ holderIdentity: z.string().min(1), renewTime: z.string() }),
});

/**
 * Throws where a Flux runs on this cluster: both would reconcile the same objects under the same field manager, and what
 * one of them does not honour it would call stalled. A Flux runs where one of its controllers renews its lease; that is
 * looked at and not compared with a clock of ours, so a start where Flux was killed waits for up to 12 s.
 */
export async function refuseBesideFlux(
  cluster: Pick<Cluster, "list">,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const before = await fluxLeases(cluster, log, signal);
  if (before.size === 0) return;
  log.info("Flux has been here: looking whether it still runs", { leases: [...before.keys()] });
  const giveUpAt = clock.monotonic() + renewedWithinMs;
  while (clock.monotonic() < giveUpAt) {
    await clock.sleep(pollMs, signal);
    for (const [id, renewTime] of await fluxLeases(cluster, log, signal)) {
      if (renewTime !== before.get(id)) throw new Error(refusal(id));
    }
  }
}

function refusal(id: string): string {
  const [namespace = "", controller = ""] = id.split("/");
  const why = `Flux's ${controller} runs in namespace ${namespace} of this cluster, and both would reconcile the same objects`;
  return `${why}: stop it first, kubectl -n ${namespace} scale deployment ${controllers.join(" ")} --replicas=0`;
}

/** `namespace/controller` to when its lease was renewed, of each that somebody holds. */
async function fluxLeases(
  cluster: Pick<Cluster, "list">,
  log: Log,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  try {
    const leases = await cluster.list({ group: "coordination.k8s.io", version: "v1", kind: "Lease" }, signal);
    return new Map(leases.flatMap(heldByFlux));
  } catch (error) {
    if (!(error instanceof ApiError && unknowable.has(error.reason))) throw error;
    log.warn("leases cannot be listed here, so a Flux that runs would not be noticed", { error: error.message });
    return new Map();
  }
}

function heldByFlux(lease: LiveObject): readonly (readonly [string, string])[] {
  const held = HeldLease.safeParse(lease);
  if (!held.success) return [];
  const { metadata, spec } = held.data;
  // A shard's lease ends with eight more characters.
  const controller = controllers.find((name) => metadata.name.startsWith(`${name}-leader-election`));
  return controller === undefined ? [] : [[`${metadata.namespace}/${controller}`, spec.renewTime]];
}
