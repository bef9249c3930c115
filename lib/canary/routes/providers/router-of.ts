import type { StepDeps } from "../../canary-deps.ts";
import { type Canary, providerOf } from "../../canary.ts";
import { appMesh, unsupportedProvider } from "../../provider-fault.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { gatewayRouter } from "../gateway-api/gateway-router.ts";
import { istioRouter } from "../istio/istio-router.ts";
import { kubernetesRouter } from "../kubernetes.ts";
import type { Router } from "../router.ts";
import { apisixRouter } from "./apisix.ts";
import { contourRouter } from "./contour.ts";
import { glooRouter } from "./gloo.ts";
import { knativeRouter } from "./knative.ts";
import { kumaRouter } from "./kuma.ts";
import { nginxRouter } from "./nginx.ts";
import { skipperRouter } from "./skipper.ts";
import { traefikRouter } from "./traefik.ts";
import { trafficSplitRouter } from "./traffic-split.ts";

type MakeRouter = (canary: Canary, target: TargetMetadata, deps: StepDeps, provider: string) => Router;

/** By the provider's name; the first that fits. Names with versions may go on behind them, as in Flagger. */
const routers: readonly (readonly [provider: RegExp, make: MakeRouter])[] = [
  [/^gatewayapi:v1beta1/, (canary, target, deps) => gatewayRouter(canary, target, deps, "v1beta1")],
  [/^gatewayapi(:v1|$)/, (canary, target, deps) => gatewayRouter(canary, target, deps, "v1")],
  [/^kubernetes$/, (canary) => kubernetesRouter(canary)],
  [/^linkerd$/, trafficSplits("v1alpha1")],
  [/^osm$/, trafficSplits("v1alpha2")],
  [/^smi:v1alpha1/, trafficSplits("v1alpha1")],
  [/^smi:v1alpha2/, trafficSplits("v1alpha2")],
  [/^smi:v1alpha3/, trafficSplits("v1alpha3")],
  [/^nginx$/, (canary, _, deps) => nginxRouter(canary, deps)],
  [/^contour$/, contourRouter],
  [/^traefik$/, traefikRouter],
  [/^apisix$/, (canary, _, deps) => apisixRouter(canary, deps)],
  [/^skipper$/, (canary, _, deps) => skipperRouter(canary, deps)],
  [/^gloo/, glooRouter],
  [/^kuma$/, kumaRouter],
  [/^knative$/, (canary, _, deps) => knativeRouter(canary, deps)],
  [appMesh, refuseAppMesh],
];

/** The traffic of a Canary. A name that is not known is Istio, as in Flagger. Throws a {@link StepFault} for a provider that is not supported. */
export function routerOf(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const provider = providerOf(canary, deps.settings);
  const [, make] = routers.find(([name]) => name.test(provider)) ?? [];
  if (make !== undefined) return make(canary, target, deps, provider);
  if (provider !== "istio") deps.log.warn("unknown provider, using istio", { canary: canary.name, provider });
  return istioRouter(canary, target, deps);
}

function trafficSplits(version: "v1alpha1" | "v1alpha2" | "v1alpha3"): MakeRouter {
  return (canary, _, deps, provider) =>
    trafficSplitRouter(canary, deps, { provider, version, mesh: provider.split(":")[2] ?? provider });
}

function refuseAppMesh(_canary: Canary, _target: TargetMetadata, _deps: StepDeps, provider: string): never {
  throw new StepFault(unsupportedProvider(provider));
}
