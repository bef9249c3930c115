import { z } from "zod";
import { durationPattern, isDurationHeld, maxDurationText } from "../core/duration.ts";

/** An object runs at most this often where nothing but an interval asks for it: a shorter interval counts as this. */
export const minIntervalMs = 1_000;

/** What Flux's own reader refuses, with the object: it holds durations in 64 bits. */
export const tooLong = `must be a duration of at most ${maxDurationText}`;

/** A Go duration such as `10m`, kept as text: events and messages print it in Go's own notation. */
export const Duration = z
  .string()
  .regex(new RegExp(durationPattern), "must be a duration such as 30s, 10m or 1h30m")
  .refine(isDurationHeld, tooLong);

/** Names an object in the namespace of the object that refers to it. */
export const LocalReference = z.object({ name: z.string().describe("Name of the referent.") });

export const StringMap = z.record(z.string(), z.string());
