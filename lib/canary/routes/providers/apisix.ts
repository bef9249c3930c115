import { z } from "zod";
import { isJsonObject, type JsonObject, toJsonObject } from "../../../core/json.ts";
import type { LiveObject } from "../../../core/manifest.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { apexName, type Canary, canaryServiceName, primaryServiceName } from "../../canary.ts";
import { StepFault } from "../../step-fault.ts";
import { kubectlAnnotation } from "../../workload/metadata.ts";
import { told } from "../../workload/step-objects.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { refuseLacking } from "../strategies.ts";
import { sharesOf } from "../weights.ts";

const group = "apisix.apache.org";
const version = "v2";
/** Comes before the user's route, and takes its requests. */
const priority = 10_000;

const Backend = z.looseObject({ serviceName: z.string(), weight: z.number().optional() });
const HttpRoute = z.looseObject({ name: z.string().default(""), backends: z.array(Backend).default([]) });
type HttpRoute = z.infer<typeof HttpRoute>;
const RouteSpec = z.looseObject({ http: z.array(HttpRoute).default([]) });

/** Routes by a copy of the user's ApisixRoute, with both Services and before it. */
export function apisixRouter(canary: Canary, deps: StepDeps): Router {
  const { namespace } = canary;
  const sourceName = canary.spec.routeRef?.name ?? "";
  const name = `${sourceName}-${apexName(canary)}-canary`;
  let known: Promise<LiveObject> | undefined;
  const source = () => {
    if (sourceName === "") throw new StepFault("apisix route selector is empty");
    known ??= readSource(sourceName, canary, deps);
    return known;
  };
  return objectRouter(
    {
      ref: { group, version, kind: "ApisixRoute", namespace, name },
      resource: `apisixroutes.${group}`,
      madeUpBy: "give spec.service.name another value",
      isLeft: (live) => liveRoutes(live, canary) !== undefined,
      failed: (doing, cause) => {
        const words = { find: "query error:", create: "create error:", mend: "update error:" };
        if (doing === "read") return `apisix route ${name}.${namespace} query error: ${cause}`;
        if (doing === "set") return `apisix route ${apexName(canary)}.${namespace} update error: ${cause}`;
        return `APISIX route ${name}.${namespace} ${words[doing]} ${cause}`;
      },
      begin: async () => {
        refuseLacking(canary, "apisix");
        copiedRoute(await source(), canary);
      },
      traffic: (live) => liveRoutes(live, canary),
      missing: `Can not find ${primaryServiceName(canary)} backend on apisix route ${sourceName}.${namespace} `,
      wanted: async (routes, live) => {
        const found = await source();
        const { [kubectlAnnotation]: _, ...annotations } = found.metadata.annotations ?? {};
        const { labels = {} } = found.metadata;
        return { ...(live === undefined ? { annotations, labels } : {}), spec: routeSpec(found, canary, routes) };
      },
    },
    canary,
    deps,
  );
}

async function readSource(name: string, { namespace }: Canary, { cluster, signal }: StepDeps): Promise<LiveObject> {
  const text = (cause: string) => `APISIX route ${name}.${namespace} get query error: ${cause}`;
  const found = await told(cluster.get({ group, version, kind: "ApisixRoute", namespace, name }, signal), text);
  if (found !== undefined) return found;
  throw new StepFault(text(`apisixroutes.${group} "${name}" not found`));
}

/** The user's route to the apex Service. */
function copiedRoute(source: LiveObject, canary: Canary): HttpRoute {
  const text = `${source.metadata.name}.${canary.namespace}`;
  const apex = apexName(canary);
  const { http = [] } = RouteSpec.safeParse(source["spec"]).data ?? {};
  if (http.length === 0) throw new StepFault(`APISIX route ${text}'s spec.http is empty`);
  const route = http.find(({ backends }) => backends.some(({ serviceName }) => serviceName === apex));
  if (route === undefined) throw new StepFault(`Can not find ${apex} backend on apisix route ${text} `);
  if (route.backends.length === 1) return route;
  throw new StepFault(`APISIX route ${text}'s http route ${route.name} only one http backend is supported`);
}

function routeSpec(source: LiveObject, canary: Canary, routes: Routes): JsonObject {
  const route = copiedRoute(source, canary);
  const spec = isJsonObject(source["spec"]) ? source["spec"] : {};
  const [backend] = route.backends;
  const backends = [
    { ...backend, serviceName: primaryServiceName(canary), weight: routes.primary },
    { ...backend, serviceName: canaryServiceName(canary), weight: routes.canary },
  ];
  return toJsonObject({ ...spec, http: [{ ...route, priority, backends }] });
}

function liveRoutes(route: LiveObject, canary: Canary): Routes | undefined {
  const { http = [] } = RouteSpec.safeParse(route["spec"]).data ?? {};
  const backends = http.flatMap((one) => one.backends);
  const weightOf = (name: string) => backends.find(({ serviceName }) => serviceName === name)?.weight;
  const [from, to] = [weightOf(primaryServiceName(canary)), weightOf(canaryServiceName(canary))];
  return from === undefined || to === undefined ? undefined : { ...sharesOf(from, to), isMirrored: false };
}
