import type { CanaryService, RouteMatch, StringMatch } from "../../../api/canary.ts";
import { StepFault } from "../../step-fault.ts";
import { type GatewayMatch, invalid, namedMatches } from "./route-matches.ts";

/** What a GRPCRoute cannot do. */
const lacking = ["rewrite", "corsPolicy", "timeout", "backendTimeout"] as const;

/** Throws a {@link StepFault} for a part of the service that a GRPCRoute cannot express: it would be dropped silently. */
export function refuseHttpOnly(service: CanaryService): void {
  const given = lacking.find((field) => service[field] !== undefined);
  if (given === undefined) return;
  throw new StepFault(`a GRPCRoute has no spec.service.${given}: remove it, or route by an HTTPRoute`);
}

/** The conditions of `service.match`; none if every call matches. */
export function grpcServiceMatches(matches: readonly RouteMatch[] = []): readonly GatewayMatch[] {
  const routed = matches.map((match, index) => grpcMatch(match, `spec.service.match[${index}]`));
  // A condition that every call meets makes the others superfluous.
  return routed.length === 0 || routed.some((match) => Object.keys(match).length === 0) ? [{}] : routed;
}

/** The conditions of `analysis.match`. */
export function grpcAnalysisMatches(matches: readonly RouteMatch[]): readonly GatewayMatch[] {
  return matches.map((match, index) => {
    const routed = grpcMatch(match, `spec.analysis.match[${index}]`);
    if (Object.keys(routed).length > 0) return routed;
    throw invalid(`spec.analysis.match[${index}] has no headers`);
  });
}

function grpcMatch({ uri, method, headers = {}, queryParams = {} }: RouteMatch, field: string): GatewayMatch {
  if (method !== undefined || Object.keys(queryParams).length > 0) {
    throw invalid(
      `a GRPCRoute cannot match ${method === undefined ? "queryParams" : "method"} of ${field}: use uri and headers`,
    );
  }
  const called = uri === undefined ? {} : calledMethod(uri, field);
  return { ...called, ...(Object.keys(headers).length === 0 ? {} : { headers: namedMatches(headers, "header") }) };
}

/** The path of a call is `/package.Service/Method`. */
function calledMethod({ exact = "", prefix = "" }: StringMatch, field: string): GatewayMatch {
  if (prefix === "/") return {};
  const [, service = "", method] = /^\/([^/]+)\/([^/]+)$/.exec(exact) ?? /^\/([^/]+)\/$/.exec(prefix) ?? [];
  if (service === "") {
    throw invalid(`${field}.uri is not a call: give it exact /package.Service/Method or prefix /package.Service/`);
  }
  return { method: { type: "Exact", service, ...(method === undefined ? {} : { method }) } };
}
