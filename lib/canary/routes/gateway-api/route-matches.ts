import type { RouteMatch, StringMatch } from "../../../api/canary.ts";
import { StepFault } from "../../step-fault.ts";

interface NamedMatch {
  readonly name: string;
  readonly type: string;
  readonly value: string;
}

/** A condition on requests, as Gateway API writes it. An HTTPRoute has no `method` of a service, a GRPCRoute no path and no parameters. */
export interface GatewayMatch {
  readonly path?: { readonly type: string; readonly value: string };
  readonly method?: string | { readonly type: string; readonly service: string; readonly method?: string };
  readonly headers?: readonly NamedMatch[];
  readonly queryParams?: readonly NamedMatch[];
}

/** Every request. */
export const everyPath: GatewayMatch = { path: { type: "PathPrefix", value: "/" } };

/**
 * The conditions of `service.match`; every path if there are none (reference canary 9). Throws a {@link StepFault} for parts that Gateway
 * API cannot express.
 */
export function serviceMatches(matches: readonly RouteMatch[] = []): readonly GatewayMatch[] {
  const routed = matches.map(httpMatch).filter((match) => Object.keys(match).length > 0);
  return routed.length === 0 ? [everyPath] : routed;
}

/**
 * The conditions of `analysis.match`. Throws a {@link StepFault} also for a condition that Gateway API cannot check: Flagger treats it as
 * matching every request, so all would go to the canary.
 */
export function analysisMatches(matches: readonly RouteMatch[]): readonly GatewayMatch[] {
  return matches.map((match, index) => {
    const routed = httpMatch(match);
    if (Object.keys(routed).length > 0) return routed;
    throw invalid(`spec.analysis.match[${index}] has neither headers nor queryParams`);
  });
}

/**
 * Matches requests that meet a condition of the first list and one of the second. Path, method, headers and parameters of the first replace
 * those of the second.
 */
export function merged(first: readonly GatewayMatch[], second: readonly GatewayMatch[]): readonly GatewayMatch[] {
  return first.flatMap((one) => second.map((other) => ({ ...other, ...one })));
}

function httpMatch({ uri, method, headers = {}, queryParams = {} }: RouteMatch): GatewayMatch {
  return {
    ...(uri === undefined ? {} : { path: pathMatch(uri) }),
    ...(method === undefined ? {} : { method: exactMethod(method, headers) }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: namedMatches(headers, "header") }),
    ...(Object.keys(queryParams).length === 0 ? {} : { queryParams: namedMatches(queryParams, "query") }),
  };
}

function pathMatch(uri: StringMatch): { type: string; value: string } {
  const { exact = "", prefix = "", regex = "" } = uri;
  if (regex !== "") return { type: "RegularExpression", value: regex };
  if (exact !== "") return { type: "Exact", value: exact };
  if (prefix !== "") return { type: "PathPrefix", value: prefix };
  throw unsupported("path", `&${goText(uri)}`);
}

function exactMethod({ exact = "" }: StringMatch, headers: Readonly<Record<string, StringMatch>>): string {
  if (exact !== "") return exact;
  // Flagger names the headers here.
  throw unsupported("header", goMap(headers));
}

/** In the order of their names, so that a route is the same each time. */
export function namedMatches(matches: Readonly<Record<string, StringMatch>>, what: string): readonly NamedMatch[] {
  const names = Object.keys(matches).toSorted();
  return names.map((name) => {
    const { exact = "", regex = "" } = matches[name] ?? {};
    if (exact !== "") return { name, type: "Exact", value: exact };
    if (regex !== "") return { name, type: "RegularExpression", value: regex };
    throw unsupported(what, goMap(matches));
  });
}

function unsupported(what: string, selector: string): StepFault {
  return invalid(`Gateway API doesn't support the specified ${what} matching selector: ${selector}\n`);
}

export function invalid(why: string): StepFault {
  return new StepFault(`Invalid request matching selectors: ${why}`);
}

/** As Go prints the struct. */
function goText({ exact = "", prefix = "", suffix = "", regex = "" }: StringMatch): string {
  return `{Exact:${exact} Prefix:${prefix} Suffix:${suffix} Regex:${regex}}`;
}

function goMap(matches: Readonly<Record<string, StringMatch>>): string {
  const entries = Object.entries(matches).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([name, match]) => `${name}:${goText(match)}`).join(" ")}]`;
}
