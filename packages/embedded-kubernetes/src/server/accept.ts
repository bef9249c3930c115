import { notAcceptable } from "./errors.ts";

/** What an answer is written as. `as` is a conversion: a Table, or metadata only. */
export interface Acceptable {
  readonly type: "json" | "yaml";
  readonly as: "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList" | undefined;
}

interface MediaRange {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const acceptedTypes = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
const acceptedByWatch = `${acceptedTypes}, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch`;

function mediaRanges(accept: string): readonly MediaRange[] {
  return accept
    .split(",")
    .map(mediaRange)
    .map((range, index) => ({ range, index, quality: Number(range.parameters.get("q") ?? 1) }))
    .toSorted((a, b) => b.quality - a.quality || a.index - b.index)
    .map(({ range }) => range);
}

function mediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim());
  return {
    type: type.toLowerCase(),
    parameters: new Map(
      parameters.map((parameter) => {
        const [name = "", value = ""] = parameter.split("=", 2);
        return [name, value] as const;
      }),
    ),
  };
}

const conversions = ["Table", "PartialObjectMetadata", "PartialObjectMetadataList"] as const;

/**
 * The first of the client's wishes that can be served. Protobuf never can: a client that only prefers it takes JSON.
 *
 * @throws {StatusError} 406
 */
export function negotiate(accept: string | undefined): Acceptable {
  if (accept === undefined || accept.trim() === "") return { type: "json", as: undefined };
  const ranges = mediaRanges(accept);
  for (const range of ranges) {
    const type = writerOf(range.type);
    if (type === undefined) continue;
    const as = range.parameters.get("as");
    if (as === undefined) return { type, as: undefined };
    const conversion = conversions.find((known) => known === as);
    const isMeta = range.parameters.get("g") === "meta.k8s.io";
    const version = range.parameters.get("v") ?? "";
    if (conversion !== undefined && isMeta && (version === "v1" || version === "v1beta1"))
      return { type, as: conversion };
  }
  const isKnownType = ranges.some(({ type }) => writerOf(type) !== undefined);
  throw isKnownType
    ? notAcceptable(`only the following media types are accepted: ${acceptedTypes}`)
    : notAcceptable(`406: Not Acceptable\n\nAvailable representations: ${acceptedByWatch}`, {});
}

function writerOf(type: string): Acceptable["type"] | undefined {
  if (type === "application/json" || type === "*/*" || type === "application/*") return "json";
  return type === "application/yaml" ? "yaml" : undefined;
}

/** Whether aggregated discovery is wanted, as opposed to plain lists. @throws {StatusError} 406 */
export function wantsAggregated(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === "") return false;
  for (const { type, parameters } of mediaRanges(accept)) {
    const as = parameters.get("as");
    if (writerOf(type) === undefined) continue;
    if (as === undefined) return false;
    const isServed = parameters.get("g") === "apidiscovery.k8s.io" && parameters.get("v") === "v2";
    if (as === "APIGroupDiscoveryList" && isServed) return true;
  }
  throw notAcceptable(`only the following media types are accepted: ${acceptedTypes}`);
}
