import type { Canary } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import type { TargetMetadata } from "../../workload/workload.ts";
import { gatewayRouter } from "../gateway-api/gateway-router.ts";
import { kubernetesRouter } from "../kubernetes.ts";
import type { Router } from "../router.ts";

type MakeRouter = (canary: Canary, target: TargetMetadata, deps: StepDeps) => Router;

/** By the beginning of the provider's name; the first that fits. */
const routers: readonly (readonly [provider: RegExp, make: MakeRouter])[] = [
  [/^gatewayapi:v1beta1/, (canary, target, deps) => gatewayRouter(canary, target, deps, "v1beta1")],
  [/^gatewayapi(:v1|$)/, (canary, target, deps) => gatewayRouter(canary, target, deps, "v1")],
  [/^kubernetes$/, (canary) => kubernetesRouter(canary)],
];

/** Who routes the traffic of a Canary: `spec.provider`, or that of the installation (reference canary 2.1). */
export function providerOf({ spec }: Pick<Canary, "spec">, { settings }: Pick<StepDeps, "settings">): string {
  const { provider = "" } = spec;
  return provider === "" ? settings.meshProvider : provider;
}

/** The traffic of a Canary. Throws a {@link StepFault} for a provider that is not supported. */
export function routerOf(canary: Canary, target: TargetMetadata, deps: StepDeps): Router {
  const provider = providerOf(canary, deps);
  const [, make] = routers.find(([name]) => name.test(provider)) ?? [];
  if (make !== undefined) return make(canary, target, deps);
  throw new StepFault(`provider ${provider} is not supported: set spec.provider to gatewayapi:v1 or kubernetes`);
}
