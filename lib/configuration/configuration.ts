import { z } from "zod";
import { kustomizeGroup, sourceGroup } from "../api/names.ts";
import { OciRepositorySpec } from "../api/oci-repository.ts";
import { durationPattern } from "../core/duration.ts";
import type { Manifest } from "../core/manifest.ts";

const name = z
  .string("is required")
  .regex(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/, "must be lower-case letters, digits and hyphens, 40 at most");
const duration = z.string().regex(new RegExp(durationPattern), "must be a duration such as 10m or 1m30s");

/** One Kustomization of a configuration. The fields are those of `spec` in Flux. */
const ConfiguredKustomization = z.strictObject({
  path: z.string().min(1).max(4_096).default("./"),
  /** Names of other Kustomizations in the same configuration. */
  dependsOn: z.array(z.string()).max(100).default([]),
  interval: duration.default("10m"),
  retryInterval: duration.optional(),
  timeout: duration.optional(),
  prune: z.boolean().default(true),
  wait: z.boolean().default(true),
  force: z.boolean().default(false),
});

/** Credentials in Secrets Manager that are copied to a Secret of the namespace. */
export const ConfiguredSecret = z.strictObject({
  /** The name of the Secret in the cluster. */
  name,
  /** ARN or name in Secrets Manager. */
  stored: z.string("is required").min(1).max(2_048),
  /** The host that user name and password are for: `registry.example.com`. */
  host: z.string("is required").regex(/^[A-Za-z0-9.-]+(:\d+)?$/, "must be a host, such as registry.example.com"),
});
export type ConfiguredSecret = z.infer<typeof ConfiguredSecret>;

/** A source and what is applied from it, as `SluiceConfiguration` in infra/ writes it. */
export const Configuration = z
  .strictObject({
    name,
    namespace: name,
    source: z.strictObject({
      kind: z.literal("OCIRepository", "must be OCIRepository: Sluice has no other kind of source yet"),
      spec: OciRepositorySpec,
    }),
    secrets: z.array(ConfiguredSecret).max(10).default([]),
    kustomizations: z.record(name, ConfiguredKustomization),
    /** What happens to deployed objects when a Kustomization, or the whole configuration, is removed. */
    onDelete: z.enum(["orphan", "delete"], "must be orphan or delete").default("orphan"),
    /** How long a deployment waits until all is ready, in seconds; 0: not at all. */
    waitSeconds: z.int().min(0).max(780, "must be 780 at most, since a function has 15 minutes").default(0),
  })
  .superRefine(({ kustomizations }, context) => {
    const names = Object.keys(kustomizations);
    if (names.length === 0 || names.length > 50) {
      context.addIssue({ code: "custom", path: ["kustomizations"], message: "must have 1 to 50 entries" });
    }
    for (const [one, { dependsOn }] of Object.entries(kustomizations)) {
      for (const other of dependsOn.filter((each) => !names.includes(each) || each === one)) {
        const message = `names ${other}: write the name of another one, ${names.filter((each) => each !== one).join(", ")}`;
        context.addIssue({ code: "custom", path: ["kustomizations", one, "dependsOn"], message });
      }
    }
    const circle = circleIn(kustomizations);
    if (circle !== undefined) {
      const message = `of ${circle.join(" → ")} is a circle, so none of them would ever be applied`;
      context.addIssue({ code: "custom", path: ["kustomizations", "dependsOn"], message });
    }
  });
export type Configuration = z.infer<typeof Configuration>;

/** The label that marks the objects of a configuration; its value is the configuration's name. */
export const configurationLabel = "sluice/configuration";

/** The source and the Kustomizations of a configuration, in apply order. Pure. */
export function configurationManifests({
  kustomizations,
  name: own,
  namespace,
  onDelete,
  secrets,
  source,
}: Configuration): readonly Manifest[] {
  const labels = { "app.kubernetes.io/managed-by": "sluice", [configurationLabel]: own };
  const [secret] = secrets;
  const spec = secret === undefined ? source.spec : { ...source.spec, secretRef: { name: secret.name } };
  return [
    { apiVersion: `${sourceGroup}/v1`, kind: source.kind, metadata: { name: own, namespace, labels }, spec },
    ...Object.entries(kustomizations).map(([key, { dependsOn, ...given }]) => ({
      apiVersion: `${kustomizeGroup}/v1`,
      kind: "Kustomization",
      metadata: { name: `${own}-${key}`, namespace, labels },
      spec: {
        ...given,
        ...(dependsOn.length === 0 ? {} : { dependsOn: dependsOn.map((each) => ({ name: `${own}-${each}` })) }),
        sourceRef: { kind: source.kind, name: own },
        deletionPolicy: deletionPolicyOf(onDelete),
      },
    })),
  ];
}

/** Flux's word for it: `Delete` does not wait, so that an object that takes long does not block a stack. */
export function deletionPolicyOf(onDelete: Configuration["onDelete"]): "Orphan" | "Delete" {
  return onDelete === "delete" ? "Delete" : "Orphan";
}

/** Names that wait for each other, the first one again at the end. */
function circleIn(all: Readonly<Record<string, { readonly dependsOn: readonly string[] }>>): string[] | undefined {
  const done = new Set<string>();
  const visit = (one: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(one)) return [...path.slice(path.indexOf(one)), one];
    if (done.has(one)) return undefined;
    for (const other of all[one]?.dependsOn ?? []) {
      const found = visit(other, [...path, one]);
      if (found !== undefined) return found;
    }
    done.add(one);
    return undefined;
  };
  for (const one of Object.keys(all)) {
    const found = visit(one, []);
    if (found !== undefined && found.length > 2) return found;
  }
  return undefined;
}
