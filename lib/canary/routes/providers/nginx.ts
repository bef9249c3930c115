import type { LiveObject } from "../../../core/manifest.ts";
import { type Canary, canaryServiceName } from "../../canary.ts";
import type { StepDeps } from "../../canary-deps.ts";
import { StepFault } from "../../step-fault.ts";
import { objectRouter } from "../object-router.ts";
import type { Router, Routes } from "../router.ts";
import { allToPrimary } from "../weights.ts";
import { copiedAnnotations, ingressSource, secondIngress, withPaths } from "./ingress-source.ts";
import { type Texts, fluxAnnotations } from "../../ownership.ts";

/** Routes by a second Ingress. Its annotations decide which requests it takes from the first one. */
export function nginxRouter(canary: Canary, deps: StepDeps): Router {
  const source = ingressSource(canary, deps, "ingress");
  const second = secondIngress(source, canary, "nginx");
  const prefix = deps.settings.ingressAnnotationsPrefix;
  return objectRouter(
    {
      ...second.route,
      traffic: (live) => liveRoutes(live, canary, prefix),
      wanted: async (routes, live) => {
        const found = await source.read();
        const others = withoutCanary(live?.metadata.annotations ?? copiedAnnotations(found), prefix);
        return {
          ...(live === undefined && found.metadata.labels !== undefined ? { labels: found.metadata.labels } : {}),
          annotations: { ...others, ...fluxAnnotations, ...routeAnnotations(canary, routes, prefix) },
          spec: withPaths(found, canary, (pathTo) => ({ here: pathTo(canaryServiceName(canary)) })),
        };
      },
    },
    canary,
    deps,
  );
}

/** All annotations that decide which requests the Ingress takes: old ones are removed. */
function withoutCanary(annotations: Texts, prefix: string): Texts {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith(`${prefix}/canary`)));
}

/** An A/B test takes requests by header or cookie during a run, and none at rest. */
function routeAnnotations(canary: Canary, { canary: weight }: Routes, prefix: string): Texts {
  const isTest = isTested(canary);
  const tested = isTest ? testAnnotations(canary, prefix) : {};
  return {
    [`${prefix}/canary`]: "true",
    [`${prefix}/canary-weight`]: isTest ? "0" : String(weight),
    ...(weight > 0 ? tested : {}),
  };
}

function testAnnotations({ analysis }: Canary, prefix: string): Texts {
  const headers = (analysis.match ?? []).flatMap((match) => Object.entries(match.headers ?? {}));
  const cookie = headers.findLast(([name]) => name === "cookie")?.[1].exact ?? "";
  const [header = "", { exact = "", regex = "" } = {}] = headers.findLast(([name]) => name !== "cookie") ?? [];
  if (cookie === "" && (header === "" || (exact === "" && regex === ""))) {
    throw new StepFault(
      "provider nginx cannot route requests by spec.analysis.match: give headers.cookie.exact the name of a cookie, " +
        "or another header exact or regex",
    );
  }
  return {
    ...(cookie === "" ? {} : { [`${prefix}/canary-by-cookie`]: cookie }),
    ...(header === "" ? {} : { [`${prefix}/canary-by-header`]: header }),
    ...(exact === "" ? {} : { [`${prefix}/canary-by-header-value`]: exact }),
    ...(regex === "" ? {} : { [`${prefix}/canary-by-header-pattern`]: regex }),
  };
}

function liveRoutes(ingress: LiveObject, canary: Canary, prefix: string): Routes | undefined {
  const annotations = ingress.metadata.annotations ?? {};
  const isTaken = `${prefix}/canary-by-cookie` in annotations || `${prefix}/canary-by-header` in annotations;
  if (isTested(canary)) return { ...(isTaken ? { primary: 0, canary: 100 } : allToPrimary), isMirrored: false };
  const text = annotations[`${prefix}/canary-weight`] ?? "0";
  const weight = /^[0-9]{1,3}$/.test(text) ? Number(text) : Number.NaN;
  return weight <= 100 ? { primary: 100 - weight, canary: weight, isMirrored: false } : undefined;
}

function isTested({ analysis }: Canary): boolean {
  return (analysis.match ?? []).length > 0;
}
