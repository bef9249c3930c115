import type { JsonObject } from "../json.ts";
import { PortError } from "./port-error.ts";

/** A query to CloudWatch. */
export interface MetricDataRequest {
  /** The namespace of the object that asks: an installation lends its identity by namespace. */
  readonly namespace: string;
  readonly region: string;
  /** As `MetricDataQueries` of GetMetricData has them. */
  readonly queries: readonly JsonObject[];
  /** Milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly maxDatapoints: number;
}

/** Metrics of CloudWatch, read with our own identity. */
export interface CloudWatch {
  /** The values of each result, in CloudWatch's order. Throws a {@link CloudWatchError}, or the reason that `signal` was aborted with. */
  metricData(request: MetricDataRequest, signal: AbortSignal): Promise<readonly (readonly number[])[]>;
}

/** `invalid`: CloudWatch does not take the request. `failed`: it does not answer, or refuses us. The message names the action and how to fix it. */
export class CloudWatchError extends PortError<"failed" | "invalid"> {
  override readonly name = "CloudWatchError";
}
