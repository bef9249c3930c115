import { z } from "zod";
import { equal, isJsonObject, toJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { StepDeps } from "../canary-deps.ts";
import type { Canary } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import { kubectlAnnotation } from "../workload/metadata.ts";
import { told } from "../workload/step-objects.ts";
import { annotationJson } from "../annotation-json.ts";
import { givenBack, isUntouched, withFields } from "./originals.ts";
import { changed } from "./changed-object.ts";
import { type Texts } from "../ownership.ts";

const LastApplied = z.looseObject({
  spec: z.looseObject({
    selector: z.record(z.string(), z.string()).optional(),
    ports: z.array(z.looseObject({ port: z.number() })).optional(),
  }),
});

interface GivingBack {
  readonly canary: Canary;
  /** The selector of the primary's pods. */
  readonly primary: Texts;
  readonly deps: StepDeps;
}

/**
 * Gives an apex Service that the Canary did not make its selector, its ports and its annotations back (reference canary 16). Returns false
 * if their former state is unknown, or if they would lead to the primary, which is deleted with the Canary.
 */
export async function isGivenBack(service: LiveObject, { canary, primary, deps }: GivingBack): Promise<boolean> {
  // An older Flagger points a Service at the primary without both annotations that make Flux ignore it.
  if (isUntouched(service, canary) && !leadsTo(primary, service["spec"])) return true;
  const { annotations = {}, name } = service.metadata;
  const lastApplied = annotations[kubectlAnnotation];
  const original = givenBack(service, canary, ["selector", "ports"]);
  if (original === undefined && lastApplied === undefined) return false;
  const wanted = original ?? { spec: asLastApplied(service, lastApplied) };
  if (leadsTo(primary, wanted.spec)) return false;
  await told(changed(service, wanted, deps), (cause) => `service ${name} update error: ${cause}`);
  return true;
}

/** Whether the spec of a Service has this very selector. */
export function leadsTo(selector: Texts, spec: unknown): boolean {
  return isJsonObject(spec) && equal(spec["selector"], selector);
}

/** Selector and ports as `kubectl apply` has written them last. */
function asLastApplied(service: LiveObject, lastApplied: string | undefined) {
  const { name, namespace = "" } = service.metadata;
  const parsed = LastApplied.safeParse(annotationJson(lastApplied));
  if (!parsed.success) {
    throw new StepFault(`router ${name}.${namespace} failed to unMarshal annotation ${kubectlAnnotation}`);
  }
  const { ports, selector } = parsed.data.spec;
  const fields = ["selector", ...(ports === undefined ? [] : ["ports"])];
  return withFields(service, toJsonObject({ ports, selector }), fields);
}
