import { z } from "zod";
import type { LiveObject, Metadata } from "../core/manifest.ts";
import { Artifact } from "./artifact.ts";
import { Conditions } from "./condition.ts";
import { LayerSelector, OciRepositorySpec } from "./oci-repository-spec.ts";
import { parseLive } from "./parse-live.ts";

/** `status` of an OCIRepository (reference sources 3.2). */
export const OciRepositoryStatus = z.object({
  observedGeneration: z.number().int().describe("Generation that was last looked at.").exactOptional(),
  conditions: Conditions.exactOptional(),
  url: z.string().describe("Address of the latest artifact.").exactOptional(),
  artifact: Artifact.describe("The latest artifact.").exactOptional(),
  observedIgnore: z.string().describe("spec.ignore as the artifact was made with.").exactOptional(),
  observedLayerSelector: LayerSelector.describe("spec.layerSelector as the artifact was made with.").exactOptional(),
  lastHandledReconcileAt: z.string().describe("Value of the last handled request for a run.").exactOptional(),
});
export type OciRepositoryStatus = Readonly<z.infer<typeof OciRepositoryStatus>>;

export interface OciRepository {
  readonly metadata: Metadata & { readonly uid: string };
  readonly spec: OciRepositorySpec;
  readonly status: OciRepositoryStatus;
}

/** A live OCIRepository of any served version. Throws a `Failure` `InvalidSpec` naming the object and its bad fields. */
export function parseOciRepository(live: LiveObject): OciRepository {
  return {
    metadata: live.metadata,
    spec: parseLive(live, "spec", OciRepositorySpec),
    status: parseLive(live, "status", OciRepositoryStatus),
  };
}
