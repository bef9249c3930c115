import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load, loadAll } from "js-yaml";
import { z } from "zod";
import { parseApiVersion, type VersionedRef } from "../../../lib/core/object-ref.ts";

export const fixtures = join(import.meta.dirname, "../../fixtures/flux");

const Fields = z.record(z.string(), z.json());
/** An object as input.yaml has it. */
export const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({
    name: z.string(),
    namespace: z.string().exactOptional(),
    annotations: z.record(z.string(), z.string()).exactOptional(),
  }),
});

/** What somebody does: one of these, in order. An object is named `apiVersion Kind name`, as {@link namedObject} reads it. */
const Action = z.union([
  /** The name of a push in source.yaml: `tag, push N`. */
  z.strictObject({ push: z.string() }),
  /** Applies an object of input.yaml; `spec` tells what of its spec is different now, null leaves a field out. */
  z.strictObject({ apply: z.string(), spec: Fields.optional() }),
  /** What `flux reconcile` does. */
  z.strictObject({ request: z.string() }),
  /** A merge patch by somebody else. */
  z.strictObject({ edit: z.string(), manager: z.string(), patch: Fields }),
  z.strictObject({ create: Written, manager: z.string() }),
  z.strictObject({ delete: z.string() }),
  /** Waits for an object: `NAME Ready=False HealthCheckFailed`, `NAME gone` or `NAME there`. */
  z.strictObject({ await: z.string() }),
]);
export type Action = z.infer<typeof Action>;

const Step = z.strictObject({
  step: z.string(),
  do: z.array(Action).default([]),
  /** Flux objects whose whole state is looked at. */
  objects: z.array(z.string()).default([]),
  /** Objects that Flux applied, or leaves alone. */
  managed: z.array(z.string()).default([]),
});
export type Step = z.infer<typeof Step>;

export interface Scenario {
  readonly name: string;
  readonly namespace: string;
  readonly input: readonly z.infer<typeof Written>[];
  /** By `tag, push N`: path to text. */
  readonly pushes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly steps: readonly Step[];
}

export async function readScenario(name: string): Promise<Scenario> {
  const text = (file: string) => readFile(join(fixtures, name, file), "utf8");
  return {
    name,
    namespace: `golden-${name}`,
    input: loadAll(await text("input.yaml")).map((document) => Written.parse(document)),
    pushes: z.record(z.string(), z.record(z.string(), z.string())).parse(load(await text("source.yaml"))),
    steps: z.array(Step).parse(load(await text("steps.yaml"))),
  };
}

const fluxKinds: Readonly<Record<string, string>> = {
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  OCIRepository: "source.toolkit.fluxcd.io/v1",
};

/** `Kustomization app`, `apps/v1 Deployment web`, `v1 ConfigMap other/x`, `v1 Namespace /x` (cluster-scoped). */
export function namedObject(text: string, namespace: string): VersionedRef {
  const words = text.split(" ");
  const [kind = "", path = ""] = words.slice(-2);
  const apiVersion = words.length === 3 ? (words[0] ?? "") : fluxKinds[kind];
  if (apiVersion === undefined) throw new Error(`${text}: name the apiVersion too`);
  const [within, name] = path.includes("/") ? path.split("/") : [namespace, path];
  return { ...parseApiVersion(apiVersion), kind, namespace: within ?? "", name: name ?? "" };
}
