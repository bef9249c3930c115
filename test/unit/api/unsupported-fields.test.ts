import { describe, expect, test } from "vitest";
import { unsupportedKustomizationFields, unsupportedText } from "../../../lib/api/kustomization.ts";
import { KustomizationSpec } from "../../../lib/api/kustomization-spec.ts";
import { OciRepositorySpec, unsupportedOciRepositoryFields } from "../../../lib/api/oci-repository.ts";

const kustomization = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "app" } };
const sources = [{ kind: "OCIRepository" }];
const source = { interval: "10m", url: "oci://r/a" };

describe("Kustomization fields that the definition has and Sluice refuses", () => {
  test.each([["spec.sourceRef.kind", { sourceRef: { kind: "GitRepository", name: "app" } }]])(
    "%s is named",
    (field, spec) => {
      expect(unsupportedKustomizationFields(KustomizationSpec.parse({ ...kustomization, ...spec }), sources)).toEqual([
        field,
      ]);
    },
  );

  test.each([
    { name: "only the required fields", spec: {} },
    { name: "the validation of 2021, which every run does now", spec: { validation: "client" } },
    {
      name: "values that ask for nothing",
      spec: { ignore: [], postBuild: {}, serviceAccountName: "" },
    },
    { name: "decryption", spec: { decryption: { provider: "sops", secretRef: { name: "keys" } } } },
    { name: "the cluster of a ConfigMap", spec: { kubeConfig: { configMapRef: { name: "other" } } } },
    { name: "a service account", spec: { serviceAccountName: "deployer" } },
    { name: "variables", spec: { postBuild: { substitute: { a: "b" }, substituteStrategy: "Always" } } },
    { name: "the deprecated kinds of patches", spec: { patchesStrategicMerge: [{}], patchesJson6902: [] } },
  ])("$name is supported", ({ spec }) => {
    expect(unsupportedKustomizationFields(KustomizationSpec.parse({ ...kustomization, ...spec }), sources)).toEqual([]);
    expect(unsupportedText(KustomizationSpec.parse({ ...kustomization, ...spec }), sources)).toBeUndefined();
  });
});

describe("the message about an unsupported source", () => {
  const text = (spec: object, readable = sources) =>
    unsupportedText(KustomizationSpec.parse({ ...kustomization, ...spec }), readable);
  const git = { sourceRef: { kind: "GitRepository", name: "app" } };

  test("suggests another kind of source", () => {
    expect(text(git)).toBe(
      "spec.sourceRef.kind GitRepository not supported yet: use a source of kind OCIRepository, or leave this Kustomization to Flux until it is",
    );
  });

  test("names every kind of source that can be read", () => {
    const bucketsToo = [...sources, { kind: "Bucket" }];
    expect(text(git, bucketsToo)).toMatch(/^spec.sourceRef.kind GitRepository .* kind OCIRepository or Bucket, or /);
    expect(text({ sourceRef: { kind: "Bucket", name: "app" } }, bucketsToo)).toBeUndefined();
  });
});

describe("OCIRepository fields that the definition has and Sluice refuses", () => {
  test("spec.provider is named if the installation has no identity of that cloud", () => {
    expect(unsupportedOciRepositoryFields(OciRepositorySpec.parse({ ...source, provider: "aws" }))).toEqual([
      "spec.provider",
    ]);
  });

  test("nothing is named if no such field is used", () => {
    const spec = {
      ref: { semver: ">=1", semverFilter: "^v" },
      ignore: "*.md",
      secretRef: { name: "a" },
      insecure: true,
      verify: { provider: "notation" },
      proxySecretRef: { name: "a" },
    };
    expect(unsupportedOciRepositoryFields(OciRepositorySpec.parse({ ...source, ...spec }))).toEqual([]);
  });
});
