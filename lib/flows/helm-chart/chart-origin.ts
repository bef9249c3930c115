import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";
import type { BuiltChart } from "../../sources/helm/build-local.ts";
import type { SourceContext } from "../source/source-context.ts";

/** The chart that a HelmChart asks for, as its source has it now. */
export interface ChartOrigin {
  readonly name: string;
  /** With the metadata that it gets. */
  readonly version: string;
  /** Whether the chart is packed, or taken as it is. */
  readonly isPackaged: boolean;
  /** A note to the next run, by which that need not look into an unchanged source: {@link recall}. */
  readonly carried: JsonObject;
  /** Throws a `Failure` with Flux's reason and text. */
  build(): Promise<BuiltChart>;
}

/** What the last run has found in a source, and in which one. */
const Noted = z.object({ chart: z.object({ of: z.string(), found: z.json() }) });

/** What the last run that succeeded has found, if it looked for the same in the same; undefined if that is not known. */
export function recall<Found>(of: string, schema: z.ZodType<Found>, { run }: SourceContext): Found | undefined {
  const noted = Noted.safeParse(run.carried).data?.chart;
  return noted?.of === of ? schema.safeParse(noted.found).data : undefined;
}

/** The note for {@link recall}. */
export function noteOf(of: string, found: JsonObject): JsonObject {
  return { chart: { of, found } };
}
