import { describe, expect, test } from "vitest";
import { builtinSchema } from "../../../src/schema/builtin-schema.ts";
import { goStruct } from "../../../src/schema/go-types.ts";
import { goTypeError } from "../../../src/server/go-type-error.ts";
import { restoreError } from "../../../src/server/restore-error.ts";

const deployment = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" }) ?? {};
const role = builtinSchema({ group: "rbac.authorization.k8s.io", version: "v1", kind: "Role" }) ?? {};
const pod = { spec: { template: { spec: {} } } };

describe("Go's declaration of a field", () => {
  test("an empty value of a pointer is written, one of a plain field is not", () => {
    expect(goStruct("core.v1.PodSpec")?.fields.get("enableServiceLinks")?.isWrittenWhenEmpty).toBe(true);
    expect(goStruct("core.v1.PodSpec")?.fields.get("hostNetwork")?.isWrittenWhenEmpty).toBe(false);
  });

  test("lists without omitempty are null if they are unset, and so are times that are not pointers", () => {
    expect(goStruct("rbac.v1.Role")?.nullWhenUnset).toEqual(["rules"]);
    expect(goStruct("apis.meta.v1.Condition")?.nullWhenUnset).toEqual(["lastTransitionTime"]);
    expect(goStruct("apis.meta.v1.ObjectMeta")?.nullWhenUnset).toEqual([]);
  });
});

describe("Go's decoder error for a wrong type", () => {
  test.each([
    [{ spec: { replicas: "x" } }, "string into Go struct field DeploymentSpec.spec.replicas of type int32"],
    [{ spec: { replicas: 1.5 } }, "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32"],
    [{ metadata: { labels: { a: 1 } } }, "number into Go struct field ObjectMeta.metadata.labels of type string"],
    [
      { spec: { strategy: { type: 5 } } },
      "number into Go struct field DeploymentStrategy.spec.strategy.type of type v1.DeploymentStrategyType",
    ],
    [
      { spec: { template: { spec: { containers: 1 } } } },
      "number into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container",
    ],
    [{ spec: { selector: [] } }, "array into Go struct field DeploymentSpec.spec.selector of type v1.LabelSelector"],
  ])("%j: cannot unmarshal %s", (object, text) => {
    expect(goTypeError(object, deployment, "Deployment")).toBe(`json: cannot unmarshal ${text}`);
  });

  test("names an item of a list without its index", () => {
    const object = { rules: [{ verbs: "get" }] };
    const text = "json: cannot unmarshal string into Go struct field PolicyRule.rules.verbs of type []string";
    expect(goTypeError(object, role, "Role")).toBe(text);
  });
});

describe("Go's converter from unstructured for a wrong type", () => {
  test.each([
    [{ ...pod, spec: { replicas: "x" } }, "unrecognized type: int32"],
    [{ spec: { strategy: { type: 5 } } }, "cannot convert int64 to v1.DeploymentStrategyType"],
    [{ spec: { strategy: { type: true } } }, "unrecognized type: string"],
    [{ spec: { paused: "yes" } }, "unrecognized type: bool"],
    [{ spec: { selector: [] } }, "cannot restore struct from: slice"],
  ])("%j: %s", (object, text) => {
    expect(restoreError(object, deployment)).toBe(text);
  });
});
