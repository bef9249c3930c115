import { type CanaryMetric, MetricTemplateSpec } from "../../api/canary.ts";
import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import { secretTexts } from "../../core/secret-texts.ts";
import type { Canary } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { MetricFault } from "./providers/metric-server.ts";

/** The MetricTemplate that a metric's `templateRef` names. */
export interface NamedTemplate {
  readonly name: string;
  readonly namespace: string;
}

/** A MetricTemplate with the Secret of its provider. */
export interface MetricTemplate extends NamedTemplate {
  readonly spec: MetricTemplateSpec;
  /** Absent if the provider names none. */
  readonly secret?: ReadonlyMap<string, string>;
}

/** The namespace of a MetricTemplate is that of the Canary unless its reference has one. */
export function namedTemplate({ namespace }: Canary, { templateRef }: CanaryMetric): NamedTemplate | undefined {
  if (templateRef === undefined) return undefined;
  return { name: templateRef.name, namespace: (templateRef.namespace ?? "") || namespace };
}

/**
 * Reads a MetricTemplate, and its Secret in its own namespace. Throws a {@link MetricFault} in Flagger's words, which begin with `about`; an `ApiError`
 * where the cluster does not answer.
 */
export async function readTemplate(
  { name, namespace }: NamedTemplate,
  about: string,
  deps: Pick<StepDeps, "cluster" | "signal">,
): Promise<MetricTemplate> {
  const called = `${about} ${name}.${namespace}`;
  const of = { group: "flagger.app", version: "v1beta1", kind: "MetricTemplate", namespace, name };
  const live = await read(of, "metrictemplate.flagger.app", `${called} error: `, deps);
  const parsed = MetricTemplateSpec.safeParse(live["spec"]);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = ["spec", ...(issue?.path ?? [])].map(String).join(".");
    throw new MetricFault(`${called} error: ${field}: ${issue?.message ?? "cannot be read"}`, { cause: parsed.error });
  }
  const spec = parsed.data;
  const { secretRef } = spec.provider;
  if (secretRef === undefined) return { name, namespace, spec };
  const ofSecret = { group: "", version: "v1", kind: "Secret", namespace, name: secretRef.name };
  const secret = await read(ofSecret, "secrets", `${called} secret ${secretRef.name} error: `, deps);
  return { name, namespace, spec, secret: secretTexts(secret) };
}

async function read(
  ref: Parameters<StepDeps["cluster"]["get"]>[0],
  resource: string,
  failing: string,
  { cluster, signal }: Pick<StepDeps, "cluster" | "signal">,
): Promise<LiveObject> {
  const fault = nameFault(ref.name);
  if (fault !== undefined) throw new MetricFault(`${failing}${fault}`);
  try {
    const live = await cluster.get(ref, signal);
    if (live !== undefined) return live;
  } catch (error) {
    if (!(error instanceof ApiError) || !isAnswer(error)) throw error;
    throw new MetricFault(`${failing}${messageOf(error)}`, { cause: error });
  }
  throw new MetricFault(`${failing}${resource} ${JSON.stringify(ref.name)} not found`);
}

/** Whether the cluster has said something about the object, in place of not answering for now. */
export function isAnswer({ code, reason }: ApiError): boolean {
  return reason === "NoMatch" || code === 403 || code === 404;
}
