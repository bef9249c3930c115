import { helmGroup, ownerLabels } from "../../../api/names.ts";
import { messageOf } from "../../../core/failure.ts";
import { refOf } from "../../../core/manifest.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { RenderedObject } from "../../../core/ports/helm-engine.ts";
import { checkHealth, verdict } from "../../../health/check-health.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { looked, lookNow, nextLookMs, waitFor } from "./wait.ts";

/** How long definitions may take to be served: Flux's own limit. */
const definitionsTimeoutMs = 60_000;

export type DefinitionsOutcome =
  | { readonly kind: "done" }
  | { readonly kind: "waiting"; readonly wait: ActionWait; readonly dueInMs: number }
  | { readonly kind: "failed"; readonly message: string };

/** Applies what lies in `crds/` by the policy of the action (reference helmrelease 10); what is no definition is left out. */
export async function applyDefinitions(
  crds: readonly RenderedObject[],
  action: "install" | "upgrade",
  { ctx, healthRules }: ReleaseAttempt,
  carried: ActionWait | undefined,
): Promise<DefinitionsOutcome> {
  const { deps, name, namespace, release, run, target } = ctx;
  const definitions = crds.filter(({ manifest: { kind } }) => kind === "CustomResourceDefinition");
  if (definitions.length === 0 || release.spec[action]?.crds === "Skip") return { kind: "done" };
  const origin = ownerLabels({ name, namespace, labelGroup: helmGroup });
  try {
    for (const { manifest } of definitions) {
      const metadata = { ...manifest.metadata, labels: { ...manifest.metadata.labels, ...origin } };
      await target.apply({ ...manifest, metadata }, { manager: releaseManager, force: true }, run.signal);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || isPassing(error)) throw error;
    return { kind: "failed", message: `failed to apply CustomResourceDefinitions: ${messageOf(error)}` };
  }
  const wait = waitFor("definitions", carried, deps.clock.now());
  const targets = definitions.map(({ manifest }) => ({ ref: refOf(manifest), mayVanish: false }));
  let pending = "";
  const seen = await lookNow(
    async () => {
      const health = { cluster: target, now: deps.clock.now(), rules: healthRules };
      const found = verdict(await checkHealth(targets, health, run.signal));
      if (found.kind !== "waiting") return found;
      pending = found.message;
      return undefined;
    },
    wait,
    ctx,
  );
  if (seen?.kind === "healthy") return { kind: "done" };
  if (seen === undefined && deps.clock.now() - wait.since < definitionsTimeoutMs) {
    return { kind: "waiting", wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  return { kind: "failed", message: `failed to apply CustomResourceDefinitions: ${seen?.message ?? pending}` };
}
