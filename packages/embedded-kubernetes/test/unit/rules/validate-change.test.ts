import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { errorsOf, kinds } from "./errors-of.ts";
import { deploymentOf, metadata, podOf } from "./sample-workloads.ts";

const changes: readonly {
  readonly name: string;
  readonly kind: keyof typeof kinds;
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly errors: readonly string[];
}[] = [
  {
    name: "the selector of a Deployment",
    kind: "deployment",
    before: deploymentOf({}),
    after: deploymentOf({
      selector: { matchLabels: { app: "b" } },
      template: { metadata: { labels: { app: "b" } }, spec: { containers: [{ name: "app", image: "x:1" }] } },
    }),
    errors: ['spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable'],
  },
  {
    name: "the service of a StatefulSet",
    kind: "statefulSet",
    before: deploymentOf({ serviceName: "a" }),
    after: deploymentOf({ serviceName: "b", replicas: 3 }),
    errors: [
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ],
  },
  { name: "the image of a Pod", kind: "pod", before: podOf({}), after: podOf({ image: "x:2" }), errors: [] },
  {
    name: "the number of containers",
    kind: "pod",
    before: podOf({}),
    after: {
      metadata,
      spec: {
        containers: [
          { name: "app", image: "x:1" },
          { name: "b", image: "x:1" },
        ],
      },
    },
    errors: ["spec.containers: Forbidden: pod updates may not add or remove containers"],
  },
  {
    name: "the class of a claim, with the difference as the server prints it",
    kind: "claim",
    before: {
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "s", resources: { requests: { storage: "1Gi" } } },
    },
    after: {
      metadata,
      spec: { accessModes: ["ReadWriteOnce"], storageClassName: "t", resources: { requests: { storage: "1Gi" } } },
    },
    errors: [
      'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n@@ -10,7 +10,7 @@\n   }\n  },\n  "VolumeName": "",\n- "StorageClassName": "s",\n+ "StorageClassName": "t",\n  "VolumeMode": "Filesystem",\n  "DataSource": null,\n  "DataSourceRef": null,\n',
    ],
  },
  {
    name: "the content of an immutable ConfigMap",
    kind: "configMap",
    before: { metadata, immutable: true, data: { k: "v" } },
    after: { metadata, immutable: true, data: { k: "w" } },
    errors: ["data: Forbidden: field is immutable when `immutable` is set"],
  },
];

describe("changing an object", () => {
  test.each(changes)("$name", ({ kind, before, after, errors }) => {
    expect(errorsOf(kinds[kind], after, before)).toEqual(errors);
  });

  test("metadata is validated by the store and again by the kind", () => {
    const old = { metadata: { ...metadata, uid: "1" } };
    expect(errorsOf(kinds.configMap, { metadata: { ...metadata, uid: "2" } }, old)).toEqual([
      'metadata.uid: Invalid value: "2": field is immutable',
      'metadata.uid: Invalid value: "2": field is immutable',
    ]);
  });
});
