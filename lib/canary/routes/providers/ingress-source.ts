import { z } from "zod";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { apexName, type Canary } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { objectsOf } from "../../workload/fields.ts";
import { kubectlAnnotation } from "../../workload/metadata.ts";
import { told } from "../../workload/step-objects.ts";
import { type Texts } from "../../ownership.ts";
import type { Doing } from "../object-router.ts";
import { refuseLacking } from "../strategies.ts";

const Backend = z.looseObject({ service: z.looseObject({ name: z.string() }) });

/** The user's Ingress, to which the Canary adds one. It is only read. */
export interface IngressSource {
  /** Empty if `spec.ingressRef` names none. */
  readonly name: string;
  /** Throws a {@link StepFault} if there is none. */
  read(): Promise<LiveObject>;
}

/** @param what how messages name it */
export function ingressSource(canary: Canary, { cluster, signal }: StepDeps, what: string): IngressSource {
  const { namespace } = canary;
  let known: Promise<LiveObject> | undefined;
  const name = canary.spec.ingressRef?.name ?? "";
  const read = async () => {
    if (name === "") throw new StepFault("ingress selector is empty");
    const ref = { group: "networking.k8s.io", version: "v1", kind: "Ingress", namespace, name };
    const text = (cause: string) => `${what} ${ref.name}.${namespace} get query error: ${cause}`;
    const found = await told(cluster.get(ref, signal), text);
    if (found === undefined) throw new StepFault(text(`ingresses.networking.k8s.io "${ref.name}" not found`));
    return found;
  };
  return {
    name,
    read: () => {
      known ??= read();
      return known;
    },
  };
}

/** The Ingress `NAME-canary`, by which these providers route. It is made from the user's own. */
export function secondIngress(source: IngressSource, canary: Canary, provider: "nginx" | "skipper") {
  const { namespace } = canary;
  const name = `${source.name}-canary`;
  /** How messages name it. */
  const text = `ingress ${name}.${namespace}`;
  const words = { find: "query error:", read: "get query error:", create: "create error:", mend: "update error:" };
  return {
    text,
    route: {
      ref: { group: "networking.k8s.io", version: "v1", kind: "Ingress", namespace, name },
      resource: "ingresses.networking.k8s.io",
      madeUpBy: "give spec.ingressRef another Ingress",
      failed: (doing: Doing, cause: string) => `${text} ${{ ...words, set: "update error" }[doing]} ${cause}`,
      begin: async () => {
        refuseLacking(canary, provider);
        await source.read();
      },
    },
  };
}

/**
 * The spec of the Ingress, with other paths in place of each path to the apex Service.
 * @param replaced makes the new paths from one, with a given Service
 */
export function withPaths(
  source: LiveObject,
  canary: Canary,
  replaced: (pathTo: (service: string) => JsonObject) => { readonly here: JsonObject; readonly last?: JsonObject },
): JsonObject {
  const apex = apexName(canary);
  const spec = isJsonObject(source["spec"]) ? source["spec"] : {};
  let count = 0;
  const rules = objectsOf(spec["rules"]).map((rule) => {
    if (!isJsonObject(rule["http"])) return rule;
    const added: JsonObject[] = [];
    const paths = objectsOf(rule["http"]["paths"]).map((path) => {
      const backend = Backend.safeParse(path["backend"]).data;
      if (backend?.service.name !== apex) return path;
      count++;
      const { here, last } = replaced((service) => withService(path, service));
      if (last !== undefined) added.push(last);
      return here;
    });
    return { ...rule, http: { ...rule["http"], paths: [...paths, ...added] } };
  });
  if (count === 0) throw new StepFault(`backend ${apex} not found in ingress ${source.metadata.name}`);
  return { ...spec, rules };
}

function withService(path: JsonObject, name: string): JsonObject {
  const backend = isJsonObject(path["backend"]) ? path["backend"] : {};
  const service = isJsonObject(backend["service"]) ? backend["service"] : {};
  return { ...path, backend: { ...backend, service: { ...service, name } } };
}

/** Annotations of the source that its copy has too. */
export function copiedAnnotations({ metadata }: LiveObject): Texts {
  const { [kubectlAnnotation]: _, ...others } = metadata.annotations ?? {};
  return others;
}
