import { describe, expect, test } from "vitest";
import {
  deletionPolicy,
  effectivePatches,
  effectiveTimeoutMs,
  minTimeoutMs,
  parseKustomization,
  readForEnd,
  retryIntervalMs,
} from "../../../lib/api/kustomization.ts";
import { Failure } from "../../../lib/core/failure.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

const minimal = { interval: "10m", prune: true, sourceRef: { kind: "OCIRepository", name: "app" } };

function live(spec: unknown, status?: unknown, version = "v1"): LiveObject {
  return {
    apiVersion: `kustomize.toolkit.fluxcd.io/${version}`,
    kind: "Kustomization",
    metadata: { name: "web", namespace: "apps", uid: "u-1", generation: 1 },
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

function faultOf(spec: unknown): string {
  try {
    parseKustomization(live(spec));
  } catch (error) {
    if (error instanceof Failure) return `${error.reason} ${error.message}`;
    throw error;
  }
  return "accepted";
}

describe("a live Kustomization", () => {
  test("is parsed with its defaults, and force is false by default (5)", () => {
    const { spec, status } = parseKustomization(live(minimal, { observedGeneration: -1 }));
    expect(spec).toEqual({ ...minimal, force: false });
    expect(status).toEqual({ observedGeneration: -1 });
  });

  test("without a status has not been reconciled yet", () => {
    expect(parseKustomization(live(minimal)).status).toEqual({});
  });

  test.each(["interval", "prune", "sourceRef"])("without spec.%s is refused (1)", (field) => {
    expect(faultOf({ ...minimal, [field]: undefined })).toContain(
      `InvalidSpec Kustomization/apps/web is invalid: spec.${field}: is required`,
    );
  });

  test("without a spec is refused, naming every field that it needs (1)", () => {
    expect(faultOf(undefined)).toMatch(
      /spec\.interval: is required; spec\.sourceRef: is required; spec\.prune: is required/,
    );
  });

  test.each([
    ["interval", "10"],
    ["interval", "-5m"],
    ["retryInterval", "1d"],
    ["timeout", "10"],
  ])("with %s: %s is refused (2)", (field, value) => {
    expect(faultOf({ ...minimal, [field]: value })).toContain(`spec.${field}: must be a duration`);
  });

  test.each(["1h30m", "1.5h", "500ms"])("with interval: %s is accepted (2)", (interval) => {
    expect(faultOf({ ...minimal, interval })).toBe("accepted");
  });

  test.each([
    { name: "empty", kubeConfig: {} },
    { name: "with both references", kubeConfig: { secretRef: { name: "a" }, configMapRef: { name: "b" } } },
  ])("whose kubeConfig is $name is refused (3)", ({ kubeConfig }) => {
    expect(faultOf({ ...minimal, kubeConfig })).toContain(
      "spec.kubeConfig: exactly one of spec.kubeConfig.configMapRef or spec.kubeConfig.secretRef must be specified",
    );
  });

  test.each([
    ["spec.targetNamespace", { targetNamespace: "n".repeat(64) }],
    ["spec.namePrefix", { namePrefix: "" }],
    ["spec.sourceRef.kind", { sourceRef: { kind: "HelmRepository", name: "a" } }],
    ["spec.decryption.provider", { decryption: { provider: "vault" } }],
    ["spec.deletionPolicy", { deletionPolicy: "Keep" }],
    ["spec.buildMetadata[0]", { buildMetadata: ["foo"] }],
    ["spec.postBuild.substituteFrom[0].kind", { postBuild: { substituteFrom: [{ kind: "Pod", name: "a" }] } }],
  ])("with an invalid %s is refused, naming it and how to fix it (4)", (field, spec) => {
    const fault = faultOf({ ...minimal, ...spec });
    expect(fault).toContain(`${field}: `);
    expect(fault).toContain("kubectl edit");
  });

  test("of 2021 keeps the fields that v1 no longer has", () => {
    const former = {
      validation: "client",
      patchesStrategicMerge: [{ kind: "Deployment" }],
      patchesJson6902: [{ patch: [{ op: "remove", path: "/spec" }], target: { kind: "Deployment" } }],
    };
    expect(parseKustomization(live({ ...minimal, ...former }, undefined, "v1beta1")).spec).toMatchObject(former);
  });
});

describe("derived values", () => {
  test.each([
    { interval: "10m", timeout: undefined, expected: 570_000 },
    { interval: "40s", timeout: undefined, expected: 30_000 },
    { interval: "10m", timeout: "2m", expected: 120_000 },
    { interval: "10m", timeout: "1s", expected: minTimeoutMs },
    { interval: "10m", timeout: "29999ms", expected: minTimeoutMs },
    { interval: "10m", timeout: "30s", expected: minTimeoutMs },
    { interval: "10m", timeout: "30001ms", expected: minTimeoutMs + 1 },
  ])("the health check timeout with interval $interval and timeout $timeout is $expected ms", (row) => {
    const { interval, timeout, expected } = row;
    expect(effectiveTimeoutMs(timeout === undefined ? { interval } : { interval, timeout })).toBe(expected);
  });

  test("a failed run is repeated after retryInterval, or after the interval if it is unset (14)", () => {
    expect(retryIntervalMs({ interval: "10m", retryInterval: "2m" })).toBe(120_000);
    expect(retryIntervalMs({ interval: "10m" })).toBe(600_000);
  });

  test.each([
    ["999ms", 1_000],
    ["1s", 1_000],
    ["1001ms", 1_001],
  ])("a retry interval of %s counts as %d ms", (retryInterval, ms) => {
    expect(retryIntervalMs({ interval: "10m", retryInterval })).toBe(ms);
  });

  test("a retry interval of 0s counts as unset, in either field", () => {
    expect(retryIntervalMs({ interval: "10m", retryInterval: "0s" })).toBeUndefined();
    expect(retryIntervalMs({ interval: "0s" })).toBeUndefined();
    expect(retryIntervalMs({ interval: "0s", retryInterval: "2m" })).toBe(120_000);
  });

  test("deletion follows prune unless a policy is set", () => {
    expect(deletionPolicy({})).toBe("MirrorPrune");
    expect(deletionPolicy({ deletionPolicy: "Orphan" })).toBe("Orphan");
  });

  test("patches in deprecated fields are applied like those of v1, in kustomize's order", () => {
    const own = { patch: "kind: Service", target: { kind: "Service" } };
    expect(
      effectivePatches({
        patches: [own],
        patchesStrategicMerge: [{ kind: "Deployment" }, "kind: Job"],
        patchesJson6902: [{ patch: [{ op: "add", path: "/a", value: 1 }], target: { kind: "Pod" } }],
      }),
    ).toEqual([
      { patch: '{"kind":"Deployment"}' },
      { patch: "kind: Job" },
      own,
      { patch: '[{"op":"add","path":"/a","value":1}]', target: { kind: "Pod" } },
    ]);
  });
});

describe("a Kustomization that is being deleted", () => {
  const policy = { deletionPolicy: "Orphan", suspend: false, timeout: "1m" };
  const tooLong = "9999999999h";

  test("is parsed with the fields that its deletion needs, even if others are invalid", () => {
    const spec = { ...minimal, ...policy, retryInterval: tooLong, path: 3, dependsOn: "b", images: [{}] };
    expect(readForEnd(live(spec))?.spec).toEqual({ ...minimal, ...policy, force: false });
    expect(readForEnd(live({ ...minimal, interval: tooLong }))?.spec).toMatchObject({ prune: true, interval: "1h" });
    expect(readForEnd(live({ ...minimal, timeout: tooLong }))?.spec).not.toHaveProperty("timeout");
  });

  test.each<readonly [field: string, value: unknown]>([
    ["prune", "yes"],
    ["prune", undefined],
    ["deletionPolicy", "Keep"],
    ["suspend", "true"],
    ["sourceRef", { kind: "Unknown", name: "app" }],
    ["kubeConfig", {}],
    ["serviceAccountName", 3],
  ])("is refused if %s, which its deletion needs, is %j", (field, value) => {
    expect(readForEnd(live({ ...minimal, [field]: value }))).toBeUndefined();
  });

  test("is refused if its status, which has the inventory, is invalid", () => {
    expect(readForEnd(live(minimal, { inventory: { entries: "none" } }))).toBeUndefined();
  });
});
