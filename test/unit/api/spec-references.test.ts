import { describe, expect, test } from "vitest";
import { parseKustomization } from "../../../lib/api/kustomization.ts";
import { referenceFaults } from "../../../lib/api/spec-references.ts";

function parse(spec: object) {
  return parseKustomization({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "app", namespace: "apps", uid: "u", resourceVersion: "1" },
    spec: { interval: "1m", prune: true, sourceRef: { kind: "OCIRepository", name: "web" }, ...spec },
  }).spec;
}

const sourceNamed = (name: string) => ({ sourceRef: { kind: "OCIRepository", name } });
const checked = (apiVersion: string) => ({ healthChecks: [{ apiVersion, kind: "Job", name: "a", namespace: "" }] });

describe("the references of a spec", () => {
  test("an empty namespace counts as unset, a given one is kept", () => {
    const spec = parse({
      sourceRef: { kind: "OCIRepository", name: "web", namespace: "" },
      dependsOn: [{ name: "a", namespace: "" }, { name: "b", namespace: "other" }, { name: "c" }],
    });
    expect(spec.sourceRef).toStrictEqual({ kind: "OCIRepository", name: "web" });
    expect(spec.dependsOn).toStrictEqual([{ name: "a" }, { name: "b", namespace: "other" }, { name: "c" }]);
    expect(parse({})).not.toHaveProperty("dependsOn");
  });

  test.each(["apps", "other", ""])(
    "the service account of a deprecated API version is refused, whatever its namespace: '%s'",
    (namespace) => {
      expect(referenceFaults(parse({ serviceAccount: { name: "deployer", namespace } }))).toEqual([
        "spec.serviceAccount: is a field of former API versions, remove it and write the name of a service account of this namespace in spec.serviceAccountName",
      ]);
    },
  );

  test.each(["web", "a.b-c", "system:node", "n".repeat(253)])("%s is a valid name", (name) => {
    expect(referenceFaults(parse(sourceNamed(name)))).toEqual([]);
  });

  test.each(["a/b", "..", ".", "a%2fb", "n".repeat(254)])("%s is not a valid name", (name) => {
    expect(referenceFaults(parse(sourceNamed(name)))).toEqual([
      "spec.sourceRef.name: is not a valid name, write the name of the OCIRepository",
    ]);
  });

  test.each(["", "v1", "apps/v1", "/v1"])("a health check may have the API version '%s'", (apiVersion) => {
    expect(referenceFaults(parse(checked(apiVersion)))).toEqual([]);
  });

  test.each(["a/b/c", "apps/", "/"])("a health check must not have the API version '%s'", (apiVersion) => {
    expect(referenceFaults(parse(checked(apiVersion)))).toEqual([
      "spec.healthChecks[0].apiVersion: must be like v1 or apps/v1",
    ]);
  });

  test("every fault is named", () => {
    const spec = parse({
      ...sourceNamed(""),
      dependsOn: [{ name: "", namespace: "a/b" }],
      healthChecks: [{ kind: "", name: "" }],
    });
    expect(referenceFaults(spec)).toEqual([
      "spec.sourceRef.name: is empty, write the name of the OCIRepository",
      "spec.dependsOn[0].name: is empty, write the name of the Kustomization",
      "spec.dependsOn[0].namespace: is not a valid namespace, write one or leave it out",
      "spec.healthChecks[0].kind: is empty, write the kind of the object",
      "spec.healthChecks[0].name: is empty, write the name of the object",
    ]);
  });
});
