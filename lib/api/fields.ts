import { z } from "zod";
import { durationPattern, isDurationHeld, maxDurationText } from "../core/duration.ts";

/** The shortest period of runs: a shorter interval counts as this one. Requests and events run an object at once. */
export const minIntervalMs = 1_000;

/** Flux holds a duration in 64 bits and cannot read an object with a longer one. */
export const tooLong = `must be a duration of at most ${maxDurationText}`;

/** A Go duration such as `10m`, kept as text, since events and messages print it in Go's notation. */
export const Duration = z
  .string()
  .regex(new RegExp(durationPattern), "must be a duration such as 30s, 10m or 1h30m")
  .refine(isDurationHeld, tooLong);

/** Names an object in the namespace of the object that refers to it. */
export const LocalReference = z.object({ name: z.string().describe("Name of the referent.") });

export const StringMap = z.record(z.string(), z.string());

/** The kinds of Flux that a Receiver may wake and whose events an Alert may send. */
export const fluxKinds = [
  "Bucket",
  "GitRepository",
  "Kustomization",
  "HelmRelease",
  "HelmChart",
  "HelmRepository",
  "ImageRepository",
  "ImagePolicy",
  "ImageUpdateAutomation",
  "OCIRepository",
  "ArtifactGenerator",
  "ExternalArtifact",
] as const;
