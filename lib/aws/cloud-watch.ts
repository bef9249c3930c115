import { z } from "zod";
import { parseJson } from "../core/json.ts";
import type { Clock } from "../core/ports/clock.ts";
import { type CloudWatch, CloudWatchError, type MetricDataRequest } from "../core/ports/cloud-watch.ts";
import type { AwsConnection } from "./aws-connection.ts";
import { AwsFault } from "./aws-fault.ts";
import { signedPost } from "./signed-post.ts";

export interface CloudWatchOptions {
  readonly connection: Pick<AwsConnection, "credentials" | "endpoint">;
  readonly clock: Pick<Clock, "now" | "sleep">;
  /** Whether objects of this namespace may use our identity in this region. */
  readonly isAllowed: (namespace: string, region: string) => boolean;
}

/** CloudWatch writes a number that JSON has not as text. */
const Value = z.union([z.number(), z.literal("NaN"), z.literal("Infinity"), z.literal("-Infinity")]).transform(Number);
const Answer = z.object({
  MetricDataResults: z.array(z.object({ Values: z.array(Value).default([]) })).default([]),
});

/** CloudWatch of any region, by `GetMetricData`. */
export function cloudWatch({ connection, clock, isAllowed }: CloudWatchOptions): CloudWatch {
  const post = signedPost(clock, connection);
  return {
    async metricData(request, signal) {
      const { namespace, region } = request;
      if (!/^[a-z]{2}(?:-[a-z]+)+-\d+$/.test(region)) {
        throw new CloudWatchError(
          "failed",
          `"${region.slice(0, 64)}" is not a region of AWS: set spec.provider.region`,
        );
      }
      if (!isAllowed(namespace, region)) {
        const why = `this installation does not lend its AWS identity to namespace ${namespace} for CloudWatch in ${region}`;
        throw new CloudWatchError(
          "failed",
          `${why}: add it to the cloudWatchRegions of this cluster in the installation`,
        );
      }
      const action = { name: "cloudwatch:GetMetricData", resource: `CloudWatch in ${region}`, region };
      const headers = {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "GraniteServiceVersion20100801.GetMetricData",
      };
      const text = await post({ action, service: "monitoring", headers, body: bodyOf(request) }, signal).catch(
        (error: unknown) => {
          if (!(error instanceof AwsFault)) throw error;
          throw new CloudWatchError(error.reason === "refused" ? "invalid" : "failed", error.message, { cause: error });
        },
      );
      return valuesIn(text, action.name);
    },
  };
}

function bodyOf({ queries, startMs, endMs, maxDatapoints }: MetricDataRequest): string {
  return JSON.stringify({
    StartTime: startMs / 1_000,
    EndTime: endMs / 1_000,
    MaxDatapoints: maxDatapoints,
    MetricDataQueries: queries,
  });
}

function valuesIn(text: string, action: string): readonly (readonly number[])[] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    json = undefined;
  }
  const parsed = Answer.safeParse(json);
  if (!parsed.success) throw new CloudWatchError("failed", `${action}: AWS's answer cannot be read`);
  return parsed.data.MetricDataResults.map(({ Values }) => Values);
}
