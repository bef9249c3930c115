import { z } from "zod";
import type { Left } from "./recording.ts";

/** What Sluice leaves on purpose after a step, in place of what Flagger left. */
export type Difference = (flagger: Left) => Left;

/** A suspended Canary says so once; Flagger says it at each interval. */
const silent: Difference = (left) => ({ ...left, events: [] });

const Metadata = z.looseObject({
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
});
const Live = z.looseObject({ metadata: Metadata });

/** A Canary at rest looks again when its target or its spec changes (ADR 0058): what others write on its objects stays until then. */
const foreignMetadata: Difference = (left) => ({
  ...left,
  objects: {
    ...left.objects,
    "Service/podinfo": withMore(left.objects["Service/podinfo"], { drop: "yes" }, { "example.test/drop": "yes" }),
    "Service/podinfo-canary": withMore(
      left.objects["Service/podinfo-canary"],
      { drop: "yes" },
      { "example.test/drop": "yes" },
    ),
    "HTTPRoute/podinfo": withMore(left.objects["HTTPRoute/podinfo"], { drop: "yes" }, {}),
  },
});

function withMore(
  object: unknown,
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): unknown {
  const { metadata, ...rest } = Live.parse(object);
  return {
    ...rest,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
  };
}

export const differences: ReadonlyMap<string, Difference> = new Map([
  ["canary-service-metadata/04-foreign-metadata", foreignMetadata],
  ["canary-suspend/05-initialized", silent],
  ["canary-suspend/09-progressing-w25", silent],
]);
