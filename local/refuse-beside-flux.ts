import { z } from "zod";
import type { KindDeclaration } from "../lib/api/kinds/declaration.ts";
import { flaggerParts } from "../lib/api/kinds/flagger-parts.ts";
import type { LiveObject } from "../lib/core/manifest.ts";
import type { Clock } from "../lib/core/ports/clock.ts";
import { ApiError, type Cluster } from "../lib/core/ports/cluster.ts";
import type { Log } from "../lib/core/ports/log.ts";

/** Flux renews its leases every five seconds, and holds one for 35 s without. */
const renewedWithinMs = 12_000;
const pollMs = 500;

const { eventSource: flagger } = flaggerParts;

/** Leases may not be listed, or the API server has none, like the embedded one. */
const unknowable: ReadonlySet<string> = new Set(["Forbidden", "NoMatch"]);

const HeldLease = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({ holderIdentity: z.string().min(1), renewTime: z.string() }),
});

interface RefusalDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** The kinds that Sluice reconciles: a Flux controller that writes events about one of them reconciles it too. */
  readonly kinds: readonly Pick<KindDeclaration, "eventSource">[];
}

/**
 * Throws if Flux reconciles one of these kinds on this cluster: both would reconcile the same objects under the same field manager, and each
 * would stall objects with fields that it does not support. Flux runs if one of its controllers renews its lease. This
 * watches for a renewal, and does not compare with our clock, so a start after Flux was killed waits for up to 12 s. Flagger has a
 * lease only with its flag `enable-leader-election`.
 */
export async function refuseBesideFlux(
  cluster: Pick<Cluster, "list">,
  { clock, log, kinds }: RefusalDeps,
  signal: AbortSignal,
): Promise<void> {
  const controllers = [...new Set(kinds.map(({ eventSource }) => eventSource))];
  const before = await fluxLeases(controllers, cluster, log, signal);
  if (before.size === 0) return;
  log.info("Flux has been here: looking whether it still runs", { leases: [...before.keys()] });
  const giveUpAt = clock.monotonic() + renewedWithinMs;
  while (clock.monotonic() < giveUpAt) {
    await clock.sleep(pollMs, signal);
    for (const [id, renewTime] of await fluxLeases(controllers, cluster, log, signal)) {
      if (renewTime !== before.get(id)) throw new Error(refusal(id, controllers));
    }
  }
}

function refusal(id: string, controllers: readonly string[]): string {
  const [namespace = "", controller = ""] = id.split("/");
  // Its lease is not where it runs.
  if (controller === flagger) {
    return "Flagger runs on this cluster, and both would take the steps of the same Canaries: stop it first, in its namespace, kubectl scale deployment flagger --replicas=0";
  }
  const others = controllers.filter((one) => one !== flagger);
  const why = `Flux's ${controller} runs in namespace ${namespace} of this cluster, and both would reconcile the same objects`;
  return `${why}: stop it first, kubectl -n ${namespace} scale deployment ${others.join(" ")} --replicas=0; sluice check counts the objects that Flux alone reconciles, and that stay behind`;
}

/** The renewal time of each held lease, by `namespace/controller`. */
async function fluxLeases(
  controllers: readonly string[],
  cluster: Pick<Cluster, "list">,
  log: Log,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  try {
    const leases = await cluster.list({ group: "coordination.k8s.io", version: "v1", kind: "Lease" }, signal);
    return new Map(leases.flatMap((lease) => heldByFlux(lease, controllers)));
  } catch (error) {
    if (!(error instanceof ApiError && unknowable.has(error.reason))) throw error;
    log.warn("leases cannot be listed here, so a Flux that runs would not be noticed", { error: error.message });
    return new Map();
  }
}

function heldByFlux(lease: LiveObject, controllers: readonly string[]): readonly (readonly [string, string])[] {
  const held = HeldLease.safeParse(lease);
  if (!held.success) return [];
  const { metadata, spec } = held.data;
  // The lease of a shard has eight more characters at its end.
  const controller = controllers.find((name) => metadata.name.startsWith(`${name}-leader-election`));
  return controller === undefined ? [] : [[`${metadata.namespace}/${controller}`, spec.renewTime]];
}
