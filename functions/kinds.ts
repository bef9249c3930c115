import { kustomizeGroup, sourceGroup } from "../lib/api/names.ts";
import type { Flow } from "../lib/core/run.ts";
import type { WorkKey } from "../lib/core/work-key.ts";

/** The kinds that Sluice looks after, in the version that its flows read. */
export const kinds = [
  { group: sourceGroup, version: "v1", kind: "OCIRepository" },
  { group: kustomizeGroup, version: "v1", kind: "Kustomization" },
] as const;
export type Kind = (typeof kinds)[number]["kind"];
export type Flows = Readonly<Record<Kind, Flow>>;

/** The flow of a key's kind in this cluster; undefined for what is not looked after here. */
export function flowFor(key: WorkKey, cluster: string, flows: Flows): Flow | undefined {
  const kind = kinds.find((each) => each.kind === key.kind && each.group === key.group)?.kind;
  return kind === undefined || key.cluster !== cluster ? undefined : flows[kind];
}
