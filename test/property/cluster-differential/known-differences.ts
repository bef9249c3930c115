import type { Found } from "./run-seed.ts";

/** A difference that stays. */
export interface KnownDifference {
  /** As packages/embedded-kubernetes/docs/fidelity.md lists it. */
  readonly name: string;
  /** A sequence that shows it. */
  readonly seed: number;
  readonly matches: (found: Found) => boolean;
}

/** What the real server says. */
function real(found: Found): string {
  return JSON.stringify(found.real ?? null);
}

function isRefused(kind: string, text: RegExp): (found: Found) => boolean {
  return (found) => found.kind === kind && text.test(real(found));
}

export const knownDifferences: readonly KnownDifference[] = [
  {
    name: "privileged containers",
    seed: 4,
    matches: (found) => /securityContext\.privileged: Forbidden: disallowed by cluster policy/.test(real(found)),
  },
  {
    name: "claim templates of a StatefulSet",
    seed: 1,
    matches: isRefused("StatefulSet", /volumeClaimTemplates|persistentVolumeClaim\.claimName/),
  },
  {
    name: "several errors of one affinity term",
    seed: 26,
    matches: (found) => /(topologyKey|mismatchLabelKeys)/.test(real(found)),
  },
  {
    name: "targets of an autoscaler's metrics",
    seed: 13,
    matches: isRefused("HorizontalPodAutoscaler", /must specify a positive target averageValue/),
  },
  {
    name: "invalid definitions of custom resources",
    seed: 24,
    matches: isRefused("CustomResourceDefinition", /is invalid/),
  },
  {
    name: "success policies of Jobs",
    seed: 29,
    matches: isRefused("Job", /spec\.successPolicy/),
  },
  {
    name: "node ports in a dry run",
    seed: 7,
    matches: (found) => found.kind === "Service" && /nodePort/.test(found.path),
  },
  {
    name: "the order of what a JSON patch copied",
    seed: 16,
    matches: (found) => found.operation === "json" && /is invalid: patch: /.test(real(found)),
  },
];
