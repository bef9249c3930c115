import { helmGroup, ownerLabels } from "../../../api/names.ts";
import { messageOf } from "../../../core/failure.ts";
import { type Manifest, refOf } from "../../../core/manifest.ts";
import { ApiError } from "../../../core/ports/cluster.ts";
import type { RenderedObject } from "../../../core/ports/helm-engine.ts";
import { checkHealth, verdict } from "../../../health/check-health.ts";
import type { ActionWait } from "../attempt/action.ts";
import type { ReleaseAttempt } from "../attempt/attempt.ts";
import { isPassing, releaseManager } from "./hook-object.ts";
import { looked, lookNow, nextLookMs, waitFor } from "./wait.ts";

/** How long definitions may take to be served: Flux's own limit. */
const servedWithinMs = 60_000;

/** The result for the definitions in `crds/`. */
export type AppliedDefinitions =
  | { readonly kind: "done" }
  | { readonly kind: "waiting"; readonly wait: ActionWait; readonly dueInMs: number }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Applies the definitions in `crds/` of a chart by the policy, and waits until they are served (reference helmrelease 10). `Create`
 * changes one that exists too, as Flux's server-side apply does (24, D2). Documents of other kinds are left out. No definition is
 * ever deleted.
 */
export async function applyDefinitions(
  crds: readonly RenderedObject[],
  policy: "Create" | "CreateReplace" | "Skip",
  carried: ActionWait | undefined,
  { ctx, healthRules }: Pick<ReleaseAttempt, "ctx" | "healthRules">,
): Promise<AppliedDefinitions> {
  const { deps, name, namespace, run, target } = ctx;
  const manifests = definitionsToApply(crds, policy, { name, namespace });
  if (manifests.length === 0) return { kind: "done" };
  const wait = waitFor("definitions", carried, deps.clock.now());
  if (wait.looks === 0) {
    try {
      for (const manifest of manifests) {
        await target.apply(manifest, { manager: releaseManager, force: true }, run.signal);
      }
    } catch (error) {
      if (!(error instanceof ApiError) || isPassing(error)) throw error;
      return { kind: "failed", message: `failed to apply CustomResourceDefinitions: ${messageOf(error)}` };
    }
  }
  const targets = manifests.map((manifest) => ({ ref: refOf(manifest), mayVanish: false }));
  let why = "";
  const look = async (): Promise<true | undefined> => {
    const health = { cluster: target, now: deps.clock.now(), since: wait.since, rules: healthRules };
    const seen = verdict(await checkHealth(targets, health, run.signal));
    if (seen.kind === "healthy") return true;
    why = seen.message;
    return undefined;
  };
  if ((await lookNow(look, wait, ctx)) === true) return { kind: "done" };
  if (deps.clock.now() - wait.since < servedWithinMs) {
    return { kind: "waiting", wait: looked(wait), dueInMs: nextLookMs(wait.looks) };
  }
  return { kind: "failed", message: `failed to apply CustomResourceDefinitions: ${why}` };
}

/** The definitions in `crds/` of a chart as they are applied by the policy. @param owner the HelmRelease */
export function definitionsToApply(
  crds: readonly RenderedObject[],
  policy: "Create" | "CreateReplace" | "Skip",
  owner: { readonly name: string; readonly namespace: string },
): readonly Manifest[] {
  if (policy === "Skip") return [];
  const own = ownerLabels({ ...owner, labelGroup: helmGroup });
  return crds.flatMap(({ manifest }) => {
    if (manifest.kind !== "CustomResourceDefinition") return [];
    const { labels, namespace: _dropped, ...metadata } = manifest.metadata;
    return [{ ...manifest, metadata: { ...metadata, labels: { ...labels, ...own } } }];
  });
}
