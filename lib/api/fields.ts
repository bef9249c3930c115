import { z } from "zod";
import { durationPattern } from "../core/duration.ts";

/** A Go duration such as `10m`, kept as text: events and messages print it in Go's own notation. */
export const Duration = z.string().regex(new RegExp(durationPattern), "must be a duration such as 30s, 10m or 1h30m");

/** Names an object in the namespace of the object that refers to it. */
export const LocalReference = z.object({ name: z.string().describe("Name of the referent.") });

export const StringMap = z.record(z.string(), z.string());
