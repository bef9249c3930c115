import { z } from "zod";
import type { JsonObject } from "../../core/json.ts";
import type { BuiltChart } from "../../sources/helm/build-local.ts";
import type { SourceContext } from "../source/source-context.ts";

/** The chart of a HelmChart, as its source has it now. */
export interface ChartOrigin {
  readonly name: string;
  /** With the metadata that it gets. */
  readonly version: string;
  /** Whether the chart is packed here, or used unchanged. */
  readonly isPackaged: boolean;
  /** A note to the next run, so that it can skip an unchanged source: {@link recall}. */
  readonly carried: JsonObject;
  /** Throws a `Failure` with Flux's reason and text. */
  build(): Promise<BuiltChart>;
}

/** What the last run found, and in which source. */
const Noted = z.object({ chart: z.object({ of: z.string(), found: z.json() }) });

/** What the last successful run found, if it looked for the same in the same source; undefined if unknown. */
export function recall<Found>(of: string, schema: z.ZodType<Found>, { run }: SourceContext): Found | undefined {
  const noted = Noted.safeParse(run.carried).data?.chart;
  return noted?.of === of ? schema.safeParse(noted.found).data : undefined;
}

/** The note for {@link recall}. */
export function noteOf(of: string, found: JsonObject): JsonObject {
  return { chart: { of, found } };
}
