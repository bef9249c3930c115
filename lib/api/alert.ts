import { z } from "zod";
import { fluxKinds, LocalReference, StringMap } from "./fields.ts";

/** Flux's kinds, and Canary: Flagger's own alerts reach fewer receivers. */
const eventKinds = [...fluxKinds, "Canary"] as const;

const EventSource = z.object({
  apiVersion: z.string().describe("API version of the objects. It does not matter: the kind decides.").exactOptional(),
  kind: z.enum(eventKinds).describe("Kind of the objects."),
  name: z.string().min(1).max(253).describe("Name of the object; * is every one."),
  namespace: z
    .string()
    .min(1)
    .max(253)
    .describe("Namespace of the objects; that of the Alert by default.")
    .exactOptional(),
  matchLabels: StringMap.describe("Labels that the object of an event must have.").exactOptional(),
});
export type EventSource = Readonly<z.infer<typeof EventSource>>;

/** `spec` of an Alert (reference notifications 13). The CRD is generated from it. */
export const AlertSpec = z.object({
  providerRef: LocalReference.describe("Provider that gets the events, in the namespace of the Alert."),
  eventSources: z.array(EventSource).describe("Objects whose events are sent."),
  eventSeverity: z
    .enum(["info", "error"])
    .default("info")
    .describe("Which events count: all (info) or only errors (error)."),
  eventMetadata: StringMap.describe("Metadata to add to each event.").exactOptional(),
  inclusionList: z
    .array(z.string())
    .describe("Regular expressions in Go's syntax: only events whose message matches one of them count.")
    .exactOptional(),
  exclusionList: z
    .array(z.string())
    .describe("Regular expressions in Go's syntax: events whose message matches one of them do not count.")
    .exactOptional(),
  summary: z
    .string()
    .max(255)
    .describe("Short text to add to each event; eventMetadata is the newer place for it.")
    .exactOptional(),
  suspend: z.boolean().describe("Whether no event counts until further notice.").exactOptional(),
});
export type AlertSpec = Readonly<z.infer<typeof AlertSpec>>;
