import { describe, expect, test } from "vitest";
import { KustomizationSpec } from "../../../lib/api/kustomization-spec.ts";
import { OciRepositorySpec } from "../../../lib/api/oci-repository-spec.ts";
import { unsupportedKustomizationFields, unsupportedOciRepositoryFields } from "../../../lib/api/unsupported-fields.ts";

const kustomization = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "app" } };
const source = { interval: "10m", url: "oci://r/a" };

describe("fields of a Kustomization that are accepted but not built yet", () => {
  test.each([
    ["spec.sourceRef.kind", { sourceRef: { kind: "GitRepository", name: "app" } }],
    ["spec.postBuild", { postBuild: { substitute: { a: "b" } } }],
    ["spec.postBuild", { postBuild: { substituteFrom: [{ kind: "Secret", name: "a" }] } }],
    ["spec.postBuild", { postBuild: { substituteStrategy: "Always" } }],
    ["spec.decryption", { decryption: { provider: "sops" } }],
    ["spec.serviceAccountName", { serviceAccountName: "deployer" }],
    ["spec.serviceAccount", { serviceAccount: { name: "deployer", namespace: "apps" } }],
    ["spec.kubeConfig", { kubeConfig: { secretRef: { name: "other" } } }],
    ["spec.ignore", { ignore: [{ paths: ["/spec/replicas"] }] }],
    ["spec.healthCheckExprs", { healthCheckExprs: [{ apiVersion: "a/v1", current: "true" }] }],
    ["spec.dependsOn[1].readyExpr", { dependsOn: [{ name: "a" }, { name: "b", readyExpr: "true" }] }],
  ])("%s is named", (field, spec) => {
    expect(unsupportedKustomizationFields(KustomizationSpec.parse({ ...kustomization, ...spec }))).toEqual([field]);
  });

  test.each([
    { name: "nothing beyond what is required", spec: {} },
    { name: "the validation of 2021, which every run does now", spec: { validation: "client" } },
    {
      name: "values that ask for nothing",
      spec: { ignore: [], healthCheckExprs: [], postBuild: {}, serviceAccountName: "" },
    },
    { name: "the former kinds of patches", spec: { patchesStrategicMerge: [{}], patchesJson6902: [] } },
  ])("$name is supported", ({ spec }) => {
    expect(unsupportedKustomizationFields(KustomizationSpec.parse({ ...kustomization, ...spec }))).toEqual([]);
  });
});

describe("fields of an OCIRepository that are accepted but not built yet", () => {
  test.each([
    ["spec.verify", { verify: { provider: "cosign" } }],
    ["spec.proxySecretRef", { proxySecretRef: { name: "a" } }],
    ["spec.provider", { provider: "aws" }],
  ])("%s is named", (field, spec) => {
    expect(unsupportedOciRepositoryFields(OciRepositorySpec.parse({ ...source, ...spec }))).toEqual([field]);
  });

  test("nothing is named where nothing of the kind is asked for", () => {
    const spec = {
      ref: { semver: ">=1", semverFilter: "^v" },
      ignore: "*.md",
      secretRef: { name: "a" },
      insecure: true,
    };
    expect(unsupportedOciRepositoryFields(OciRepositorySpec.parse({ ...source, ...spec }))).toEqual([]);
  });
});
