import { z } from "zod";
import type { Left } from "./recording.ts";

/** What Sluice leaves on purpose after a step, in place of what Flagger left. */
export type Difference = (flagger: Left) => Left;

/** A suspended Canary says so once; Flagger says it at each interval. */
const silent: Difference = (left) => ({ ...left, events: [] });

const Target = z.looseObject({ spec: z.looseObject({ replicas: z.int() }) });

/** The target serves until a route leads to its primary; Flagger has scaled it down before it finds that there can be none. */
const serving: Difference = (left) => {
  const target = Target.parse(left.objects["Deployment/podinfo"]);
  return {
    ...left,
    objects: { ...left.objects, "Deployment/podinfo": { ...target, spec: { ...target.spec, replicas: 2 } } },
  };
};

export const differences: ReadonlyMap<string, Difference> = new Map([
  ["canary-missing-gateway-refs/03-initializing", serving],
  ["canary-missing-gateway-refs/04-initializing", serving],
  ["canary-suspend/05-initialized", silent],
  ["canary-suspend/09-progressing-w25", silent],
]);
