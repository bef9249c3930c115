import { kustomizeGroup } from "../../api/names.ts";
import type { LiveObject } from "../../core/manifest.ts";
import type { SubjectOfRun } from "./subject-of-run.ts";

/** All Kustomizations, with our own rights: whether something of others would be lost is no question of what this object's account may see. */
export async function listKustomizations({ deps, run }: SubjectOfRun): Promise<readonly LiveObject[]> {
  return deps.cluster.list({ group: kustomizeGroup, version: "v1", kind: "Kustomization" }, run.signal);
}
