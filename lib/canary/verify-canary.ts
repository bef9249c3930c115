import { parseApiVersion } from "../core/object-ref.ts";
import type { Canary } from "./canary.ts";
import type { CanarySettings } from "./settings.ts";

type SpecOfCanary = Pick<Canary, "analysis" | "namespace" | "spec">;

/** Why no step of a Canary is taken, in Flagger's words (reference canary 2.3); undefined if its spec is fine. */
export function specFault(
  canary: SpecOfCanary,
  settings: Pick<CanarySettings, "noCrossNamespaceRefs">,
): string | undefined {
  const faults = [
    ...(settings.noCrossNamespaceRefs ? crossNamespaceFaults(canary) : []),
    ...knativeFaults(canary),
    ...cookieFaults(canary),
  ];
  return faults[0];
}

function crossNamespaceFaults({ analysis, namespace, spec }: SpecOfCanary): readonly string[] {
  const upstream = spec.upstreamRef === undefined ? [] : [{ what: "gloo upstream", ref: spec.upstreamRef }];
  const templates = (analysis.metrics ?? []).flatMap(({ templateRef: ref }) =>
    ref === undefined ? [] : [{ what: "metric template", ref }],
  );
  const providers = (analysis.alerts ?? []).map(({ providerRef: ref }) => ({ what: "alert provider", ref }));
  return [...upstream, ...templates, ...providers].flatMap(({ ref, what }) => {
    const { name, namespace: other = "" } = ref;
    if (other === "" || other === namespace) return [];
    return [`can't access ${what} ${name}.${other}, cross-namespace references are blocked`];
  });
}

function knativeFaults({ spec: { autoscalerRef, provider, targetRef } }: SpecOfCanary): readonly string[] {
  const { apiVersion, kind } = targetRef;
  const isKnative = kind === "Service" && parseApiVersion(apiVersion).group === "serving.knative.dev";
  if (isKnative && provider !== "knative")
    return [`can't use ${provider ?? ""} provider with Knative Service as target`];
  if (!isKnative && provider === "knative") {
    return [`can't use ${apiVersion}/${kind} as target if provider is set to knative`];
  }
  return isKnative && autoscalerRef !== undefined ? ["can't use autoscaler with Knative Service"] : [];
}

function cookieFaults({ analysis: { sessionAffinity } }: SpecOfCanary): readonly string[] {
  if (sessionAffinity === undefined) return [];
  const { cookieName, primaryCookieName = "" } = sessionAffinity;
  if (cookieName !== primaryCookieName) return [];
  return ["can't use the same cookie name for both primary and cookie name; please update them to be different"];
}
