import { effectivePatches } from "../../api/kustomization.ts";
import type { KustomizationSpec } from "../../api/kustomization-spec.ts";
import type { BuildSpec } from "../../manifests/build-spec.ts";

/** What a Kustomization's spec says of its build. Equal specs answer equal ones, by which builds are remembered. Pure. */
export function buildSpec(spec: KustomizationSpec): BuildSpec {
  const patches = effectivePatches(spec);
  return patches.length === 0 ? spec : { ...spec, patches };
}
