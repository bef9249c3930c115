import { kustomizeGroup } from "./names.ts";

/** The labels that say whose object it is: prune deletes only what carries both. */
export function ownerLabels({ name, namespace }: { name: string; namespace: string }): Record<string, string> {
  return { [`${kustomizeGroup}/name`]: name, [`${kustomizeGroup}/namespace`]: namespace };
}

/** The label selector of everything that an owner has. */
export function ownerSelector(owner: { name: string; namespace: string }): string {
  return Object.entries(ownerLabels(owner))
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}
