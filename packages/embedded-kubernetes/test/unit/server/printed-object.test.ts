import { describe, expect, test } from "vitest";
import { builtinSchema } from "../../../src/schema/builtin-schema.ts";
import { printedObject, touchedBy } from "../../../src/server/printed-object.ts";

const schema = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" }) ?? {};
const deployment = {
  kind: "Deployment",
  apiVersion: "apps/v1",
  metadata: { labels: { b: "1", a: "2" }, name: "d" },
  spec: { selector: {}, replicas: 1, template: { spec: { containers: [{ image: "i", name: "c" }] } } },
};

describe("the field order of a patched object", () => {
  test("is that of Go's structs outside of the patch, and sorted keys inside", () => {
    const printed = printedObject(deployment, schema, touchedBy({ spec: { replicas: 2 } }));
    expect(JSON.stringify(printed)).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"a":"2","b":"1"}},' +
        '"spec":{"replicas":1,"selector":{},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}}',
    );
  });

  test("is sorted along the paths of a JSON patch, up to the value of the operation", () => {
    const printed = printedObject(
      deployment,
      schema,
      touchedBy([{ op: "remove", path: "/spec/template/spec/containers/0/args" }]),
    );
    expect(JSON.stringify(printed)).toContain('"containers":[{"image":"i","name":"c"}]');
  });

  test("is sorted everywhere for a custom resource", () => {
    expect(JSON.stringify(printedObject(deployment, {}, () => true))).toContain(
      '{"labels":{"a":"2","b":"1"},"name":"d"}',
    );
  });
});
