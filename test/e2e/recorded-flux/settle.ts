import { equal, isJsonObject, type JsonObject } from "../../../lib/core/json.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import { systemClock } from "../../../lib/process/system-clock.ts";
import { deadlineMs } from "../../deadline.ts";
import { comparable } from "./comparable.ts";
import type { Scene } from "./scene.ts";
import type { Shown } from "./shown.ts";
import { namedObject, type Step } from "./steps.ts";

const quietMs = 3_000;

/**
 * What a step leaves when nothing is under way any more and nothing has changed for a while.
 *
 * @param isExpected whether this is the recorded result, which is awaited as well: on a busy machine Flux is quiet for longer before
 *   it reacts. After the deadline of all tests the answer is what is there, so that the comparison shows the difference.
 */
export async function settle(
  scene: Scene,
  step: Step,
  cluster: Cluster,
  signal: AbortSignal,
  isExpected: (shown: Shown) => boolean = () => true,
): Promise<Shown> {
  const deadline = Date.now() + deadlineMs;
  let last: unknown;
  let since = Date.now();
  for (;;) {
    // Before the look at everything: what is over then is over in what is shown.
    const areOver = (await fluxObjects(scene, step, cluster, signal)).every(isOver);
    const shown = await scene.show(step);
    const now = comparable(shown);
    if (!equal(now, last)) [last, since] = [now, Date.now()];
    const isQuiet = Date.now() - since >= quietMs;
    const isEnd = isQuiet && areOver;
    if (isEnd && (isExpected(shown) || Date.now() > deadline)) return shown;
    if (Date.now() > deadline + quietMs)
      throw new Error(`${scene.scenario.name}/${step.step}: not over after ${deadlineMs} ms`);
    await systemClock.sleep(250, signal);
  }
}

interface FluxObject {
  readonly live: LiveObject;
  readonly sourceRevision: unknown;
}

async function fluxObjects(
  { scenario: { namespace } }: Scene,
  step: Step,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<readonly FluxObject[]> {
  const sources = await cluster.list(
    { group: "source.toolkit.fluxcd.io", version: "v1", kind: "OCIRepository", namespace },
    signal,
  );
  const revisions = new Map<unknown, unknown>(
    sources.map((one) => [one.metadata.name, at(one, "status", "artifact", "revision")]),
  );
  const found = await Promise.all(step.objects.map((name) => cluster.get(namedObject(name, namespace), signal)));
  return found.flatMap((live) =>
    live === undefined ? [] : [{ live, sourceRevision: revisions.get(at(live, "spec", "sourceRef", "name")) }],
  );
}

function isOver({ live, sourceRevision }: FluxObject): boolean {
  if (live.metadata.deletionTimestamp !== undefined || at(live, "spec", "suspend") === true) return true;
  const requested = live.metadata.annotations?.["reconcile.fluxcd.io/requestedAt"];
  if (requested !== undefined && at(live, "status", "lastHandledReconcileAt") !== requested) return false;
  const conditions = at(live, "status", "conditions");
  const of = (type: string): JsonObject =>
    (Array.isArray(conditions) ? conditions.filter(isJsonObject) : []).find((one) => one["type"] === type) ?? {};
  const { status, reason, message, observedGeneration } = of("Ready");
  // The source is only late: no scenario ends so.
  if (message === "Source artifact not found, retrying in 30s") return false;
  if (observedGeneration !== live.metadata.generation || of("Reconciling")["reason"] === "Progressing") return false;
  if (status === undefined || status === "Unknown") return false;
  if (of("Stalled")["status"] === "True") return true;
  if (live.kind !== "Kustomization" || reason === "ArtifactFailed" || reason === "DependencyNotReady") return true;
  return sourceRevision === undefined || at(live, "status", "lastAttemptedRevision") === sourceRevision;
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isJsonObject(inner) ? inner[key] : undefined), value);
}
