import type { FieldError } from "../core/api-object.ts";
import { forbidden, notSupported } from "../core/field-errors.ts";
import type { Resource } from "../resource/resource.ts";
import { invalid } from "../rules/invalid.ts";
import { badRequest } from "./errors.ts";
import { type FieldSelector, parseFieldSelector } from "./field-selector.ts";
import { type LabelSelector, parseLabelSelector } from "./label-selector.ts";

export interface ListOptions {
  readonly labels: LabelSelector | undefined;
  readonly fields: FieldSelector | undefined;
  /** As the client wrote it; empty if it did not. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 for all. */
  readonly limit: number;
  readonly continue: string;
  readonly watch: boolean;
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean;
}

/** @throws {StatusError} 400 or 422 */
export function listOptions(query: URLSearchParams, resource: Resource, isWatchPath: boolean): ListOptions {
  const watch = isWatchPath || isTrue(query.get("watch"));
  const options: ListOptions = {
    labels: parseLabelSelector(query.get("labelSelector") ?? ""),
    fields: parseFieldSelector(query.get("fieldSelector") ?? "", resource),
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    limit: Math.max(integerIn(query, "limit") ?? 0, 0),
    continue: query.get("continue") ?? "",
    watch,
    timeoutSeconds: integerIn(query, "timeoutSeconds"),
    allowWatchBookmarks: isTrue(query.get("allowWatchBookmarks")),
    sendInitialEvents: isTrue(query.get("sendInitialEvents")),
  };
  const isInitialSet = query.get("sendInitialEvents") !== null;
  const errors = watch ? watchErrors(options, isInitialSet) : listErrors(options, isInitialSet);
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors);
  return options;
}

const match = "resourceVersionMatch";

function watchErrors(
  { resourceVersionMatch, continue: token }: ListOptions,
  isInitialSet: boolean,
): readonly FieldError[] {
  if (!isInitialSet) {
    return resourceVersionMatch === ""
      ? []
      : [forbidden(match, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")];
  }
  const isSupported = resourceVersionMatch === "NotOlderThan";
  return [
    ...(isSupported
      ? []
      : [forbidden(match, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")]),
    ...(!isSupported && resourceVersionMatch !== ""
      ? [notSupported(match, resourceVersionMatch, ["NotOlderThan"])]
      : []),
    ...(token === "" ? [] : [forbidden("continue", "continue is forbidden for watch")]),
  ];
}

function listErrors(options: ListOptions, isInitialSet: boolean): readonly FieldError[] {
  const { resourceVersionMatch, resourceVersion, continue: token } = options;
  const isExact = resourceVersionMatch === "Exact";
  return [
    ...(resourceVersionMatch !== "" && resourceVersion === ""
      ? [forbidden(match, "resourceVersionMatch is forbidden unless resourceVersion is provided")]
      : []),
    ...(resourceVersionMatch !== "" && token !== ""
      ? [forbidden(match, "resourceVersionMatch is forbidden when continue is provided")]
      : []),
    ...(resourceVersionMatch !== "" && !isExact && resourceVersionMatch !== "NotOlderThan"
      ? [notSupported(match, resourceVersionMatch, ["Exact", "NotOlderThan", ""])]
      : []),
    ...(isExact && resourceVersion === "0"
      ? [forbidden(match, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')]
      : []),
    ...(isInitialSet ? [forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")] : []),
  ];
}

function integerIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === "") return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function isTrue(text: string | null): boolean {
  return text === "true" || text === "1" || text === "t" || text === "T" || text === "True" || text === "TRUE";
}
