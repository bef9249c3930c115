import { z } from "zod";
import type { CanaryMetric } from "../../api/canary.ts";
import { messageOf } from "../../core/failure.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { Canary } from "../canary.ts";
import type { StepDeps } from "../canary-deps.ts";
import { isAnswer } from "./metric-template.ts";
import { type QueryModel, queryModel } from "./query-model.ts";

const Latest = z.object({ latestCreatedRevisionName: z.string().default("") });

/** Models whose `route` is the latest revision of the Knative Service; Flagger's text if that cannot be read. */
export async function withLatestRevision(
  canary: Canary,
  { cluster, signal }: Pick<StepDeps, "cluster" | "signal">,
): Promise<((metric: CanaryMetric, interval: string) => QueryModel) | string> {
  const { namespace, spec } = canary;
  const { name } = spec.targetRef;
  const fault = `Error fetching Knative service ${namespace}/${name}`;
  let live: LiveObject | undefined;
  try {
    live = await cluster.get({ group: "serving.knative.dev", version: "v1", kind: "Service", namespace, name }, signal);
  } catch (error) {
    if (error instanceof ApiError && isAnswer(error)) return `${fault} ${messageOf(error)}`;
    throw error;
  }
  if (live === undefined) return `${fault} services.serving.knative.dev ${JSON.stringify(name)} not found`;
  const route = Latest.safeParse(live["status"]).data?.latestCreatedRevisionName ?? "";
  return (metric, interval) => ({ ...queryModel(canary, metric, interval), route });
}
