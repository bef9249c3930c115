import type { Canary } from "./canary.ts";

/** What a provider cannot do, apart from weights. */
type Lacking = "match" | "mirror";

/** By the provider's name. The other providers can do all of it. */
const lackingBy: readonly (readonly [provider: RegExp, lacking: readonly Lacking[]])[] = [
  [/^(apisix|knative|kuma|linkerd|osm|skipper|traefik)$|^smi:v1alpha[123]/, ["match", "mirror"]],
  [/^(contour|nginx)$|^gloo/, ["mirror"]],
];

/** Amazon no longer offers it. */
export const appMesh = /^appmesh(:v1beta2.*)?$/;

/** Why no Canary is routed by this provider; undefined for one that is supported. `mend` names what to change. */
export function unsupportedProvider(provider: string, mend = "Set spec.provider"): string | undefined {
  if (!appMesh.test(provider)) return undefined;
  const why = "AWS App Mesh is at its end of life";
  return `provider ${provider} is not supported: ${why}. ${mend} to gatewayapi:v1 or another mesh`;
}

/**
 * Why this provider cannot route the Canary as its analysis asks; undefined if it can. An A/B test is refused where the provider cannot
 * tell requests apart: Flagger sends every request to the canary then. And a mirror before weights where it cannot mirror: Flagger waits
 * for the mirror without end.
 */
export function lackingFault({ analysis }: Pick<Canary, "analysis">, provider: string): string | undefined {
  const [, lacking = []] = lackingBy.find(([name]) => name.test(provider)) ?? [];
  const { match = [], iterations = 0, mirror } = analysis;
  if (lacking.includes("match") && match.length > 0 && iterations > 0) {
    return `provider ${provider} cannot route requests by spec.analysis.match: remove it, or set spec.provider to gatewayapi:v1 or istio`;
  }
  if (lacking.includes("mirror") && mirror === true && iterations === 0) {
    return `provider ${provider} cannot mirror requests: remove spec.analysis.mirror, or set spec.provider to gatewayapi:v1 or istio`;
  }
  return undefined;
}
