import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { load } from "js-yaml";
import { z } from "zod";
import { parseApiVersion, type VersionedRef } from "../../../lib/core/object-ref.ts";
import { GitChange, isGitChange } from "./git-host.ts";
import { HelmChange, isHelmChange } from "./helm-host.ts";
import { type Delivery, isGiven, lookedAt, type Notes } from "./given-recordings.ts";
import { fixtures, readRecordedStep } from "./recording.ts";

const Fields = z.record(z.string(), z.json());
/** An object as it is written. */
export const Written = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().exactOptional(),
    annotations: z.record(z.string(), z.string()).exactOptional(),
  }),
});

/** The steps of a scenario, in order. An object is named `apiVersion Kind name`, as {@link namedObject} reads it. */
const Action = z.union([
  /**
   * The name of a push in the source: `tag, push N`, unless `tag` says which. `namesSource`: whether the artifact says where it is
   * from. `digest`: what a given recording calls the artifact. `signedBy`: whose key of cosign signs it.
   */
  z.strictObject({
    push: z.string(),
    tag: z.string().optional(),
    namesSource: z.boolean().optional(),
    digest: z.string().optional(),
    signedBy: z.string().optional(),
  }),
  /** The name of a change of a git or Helm repository in the source. `needsLogin`: the repository is only for `golden`, with `golden-password`. */
  z.strictObject({ publish: z.string(), needsLogin: z.boolean().optional() }),
  /** Sends the requests that a given recording has for this step to the receiver, which has to answer as there. */
  z.strictObject({ deliver: z.string() }),
  /** Applies an object of the input; `spec` has the changed fields of its spec; null removes a field. */
  z.strictObject({ apply: z.string(), spec: Fields.optional() }),
  /** All that the input has for this step, in its order, each in its way. */
  z.strictObject({ write: z.string() }),
  /** What `flux reconcile` does. */
  z.strictObject({ request: z.string() }),
  /** A merge patch by another client. */
  z.strictObject({ edit: z.string(), manager: z.string(), patch: Fields }),
  z.strictObject({ create: Written, manager: z.string() }),
  z.strictObject({ delete: z.string() }),
  /** Waits for an object: `NAME Ready=False HealthCheckFailed`, `NAME gone` or `NAME there`. */
  z.strictObject({ await: z.string() }),
  /** The time runs out in which what these objects wait for had to become ready or be gone. The step's other objects need no time. */
  z.strictObject({ timeOut: z.array(z.string()) }),
]);
export type Action = z.infer<typeof Action>;

const Step = z.strictObject({
  step: z.string(),
  do: z.array(Action).default([]),
  /** Flux objects whose whole state is compared. */
  objects: z.array(z.string()).default([]),
  /** Objects that Flux applied, or leaves alone. */
  managed: z.array(z.string()).default([]),
});

export interface Step extends z.infer<typeof Step> {
  /** Of a given recording: objects of which it notes what they hold, and which parts. */
  readonly notes?: Notes;
  /** Of a given recording: what was sent to the receiver. */
  readonly requests?: readonly Delivery[];
}

/** An object of the input. A given recording says in a comment for which step, and how it was written, unless applied by `bench`. */
export interface Input {
  readonly step: string | undefined;
  readonly how: "apply" | "create" | "update" | "status written";
  readonly manager: string;
  readonly object: z.infer<typeof Written>;
}

export interface Scenario {
  readonly name: string;
  readonly namespace: string;
  /** Recorded elsewhere and given to the project, with less about managed objects: {@link isGiven}. */
  readonly isGiven: boolean;
  readonly input: readonly Input[];
  /** By `tag, push N`: path to text. */
  readonly pushes: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Changes of git repositories, by name: `1. app.git, main is now ID`. */
  readonly changes: Readonly<Record<string, GitChange>>;
  /** Changes of Helm repositories, by name: `1. /golden-x/index.yaml`. */
  readonly charts: Readonly<Record<string, HelmChange>>;
  readonly steps: readonly Step[];
}

const scenarios = new Map<string, Promise<Scenario>>();

/** Each file is read once in a worker. */
export function readScenario(name: string): Promise<Scenario> {
  const found = scenarios.get(name) ?? read(name);
  scenarios.set(name, found);
  return found;
}

/** The documents of a scenario's file are its steps, its source, and then the objects of its input. */
async function read(name: string): Promise<Scenario> {
  const text = await readFile(join(fixtures, `${name}.yaml`), "utf8");
  const [stepsText = "", sourceText = "", ...input] = text.split(/^---$/m);
  const namespace = `golden-${name}`;
  const steps = z.array(Step).parse(load(stepsText));
  const given = await isGiven(name);
  const source = Object.entries(z.record(z.string(), z.unknown()).parse(load(sourceText)));
  const among = (isOne: (name: string) => boolean) => Object.fromEntries(source.filter(([key]) => isOne(key)));
  const isPush = (name: string): boolean => !isGitChange(name) && !isHelmChange(name);
  return {
    name,
    namespace,
    isGiven: given,
    input: input.map(parseInput),
    pushes: z.record(z.string(), z.record(z.string(), z.string())).parse(among(isPush)),
    changes: z.record(z.string(), GitChange).parse(among(isGitChange)),
    charts: z.record(z.string(), HelmChange).parse(among(isHelmChange)),
    steps: given
      ? await Promise.all(
          steps.map(async (step) => ({ ...step, ...lookedAt(await readRecordedStep(name, step.step), namespace) })),
        )
      : steps,
  };
}

function parseInput(document: string): Input {
  const [, step, , how = "apply", manager = "bench"] =
    /^\s*# ([\w-]+)(, (apply|create|update|status written) by (\S+))?$/m.exec(document) ?? [];
  return {
    step,
    how: z.enum(["apply", "create", "update", "status written"]).parse(how),
    manager,
    object: Written.parse(load(document)),
  };
}

const fluxKinds: Readonly<Record<string, string>> = {
  GitRepository: "source.toolkit.fluxcd.io/v1",
  HelmChart: "source.toolkit.fluxcd.io/v1",
  HelmRepository: "source.toolkit.fluxcd.io/v1",
  Kustomization: "kustomize.toolkit.fluxcd.io/v1",
  OCIRepository: "source.toolkit.fluxcd.io/v1",
  Receiver: "notification.toolkit.fluxcd.io/v1",
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
