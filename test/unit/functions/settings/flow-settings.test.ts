import { expect, test } from "vitest";
import { effectiveSettings } from "../../../../functions/settings/effective-settings.ts";
import { configSelector, flowSettings, keySettings } from "../../../../functions/settings/flow-settings.ts";
import { defaultSettings } from "../../../../functions/settings/settings.ts";
import { defaultCanarySettings } from "../../../../lib/canary/settings.ts";
import { defaultGates } from "../../../../lib/core/feature-gates.ts";
import { defaultTiming } from "../../../../lib/flows/interval.ts";

test("the defaults of the settings are those of the flows", () => {
  expect(flowSettings(defaultSettings)).toEqual({
    noCrossNamespaceRefs: false,
    skipLinks: false,
    helmIndexMaxBytes: 52_428_800,
    sshAlgorithms: {},
    defaultServiceAccount: "",
    defaultKubeconfigAccount: "",
    sopsIgnoreMac: false,
    explainHealthFailures: true,
    gates: defaultGates,
    canarySettings: defaultCanarySettings,
    applyRules: { overrideManagers: [], customStageKinds: new Set() },
    timing: defaultTiming,
  });
});

test("flows get the settings", () => {
  const set = flowSettings({
    ...defaultSettings,
    "no-cross-namespace-refs": true,
    "skip-links": true,
    "helm-index-max-size": 1_000,
    "ssh-kex-algos": ["ecdh-sha2-nistp256"],
    "ssh-hostkey-algos": ["rsa-sha2-256"],
    "default-service-account": "tenant",
    "sops-ignore-mac": true,
    "explain-health-failures": false,
    "requeue-dependency": "1m",
    "interval-jitter-percentage": 0,
    "min-retry-delay": "2s",
    "override-manager": ["helm"],
    "custom-apply-stage-kinds": "ConfigMap",
    "max-retry-delay": "1h",
    "feature-gates": { ...defaultGates, StrictPostBuildSubstitutions: false },
  });
  expect(set).toEqual({
    noCrossNamespaceRefs: true,
    skipLinks: true,
    helmIndexMaxBytes: 1_000,
    sshAlgorithms: { kex: ["ecdh-sha2-nistp256"], hostKey: ["rsa-sha2-256"] },
    defaultServiceAccount: "tenant",
    defaultKubeconfigAccount: "",
    sopsIgnoreMac: true,
    explainHealthFailures: false,
    gates: { ...defaultGates, StrictPostBuildSubstitutions: false },
    canarySettings: { ...defaultCanarySettings, noCrossNamespaceRefs: true },
    applyRules: { overrideManagers: ["helm"], customStageKinds: new Set(["/ConfigMap"]) },
    timing: {
      jitterPercentage: 0,
      requeueDependencyMs: 60_000,
      retryDelay: { minMs: 2_000, maxMs: 3_600_000 },
    },
  });
});

test("ConfigMaps and Secrets start runs unless DisableConfigWatchers is on", () => {
  expect(configSelector(defaultSettings)).toBe("reconcile.fluxcd.io/watch=Enabled");
  const off = { ...defaultSettings, "feature-gates": { ...defaultGates, DisableConfigWatchers: true } };
  expect(configSelector(off)).toBeUndefined();
});

test("global keys are in objects of the installation, in Flux's namespace unless another one is set", () => {
  expect(keySettings(defaultSettings)).toEqual({
    ageSecret: undefined,
    vaultConfigMap: undefined,
    defaultAccount: "",
  });
  const set = keySettings({
    ...defaultSettings,
    "sops-age-secret": "sops-age",
    "sops-vault-configmap": "sluice/vaults",
    "default-decryption-service-account": "decrypts",
  });
  expect(set).toEqual({
    ageSecret: { namespace: "flux-system", name: "sops-age" },
    vaultConfigMap: { namespace: "sluice", name: "vaults" },
    defaultAccount: "decrypts",
  });
});

test.each([
  { set: { "default-decryption-service-account": "a" }, fault: "needs the feature gate ObjectLevelWorkloadIdentity" },
  { set: { "default-decryption-service-account": "A_b" }, fault: "must be the name of a service account" },
  { set: { "sops-age-secret": "a/b/c" }, fault: "must name a Secret: namespace/name, or a name in the namespace" },
  { set: { "sops-vault-configmap": "../a" }, fault: "must name a ConfigMap: namespace/name, or a name" },
])("$set is refused", ({ set, fault }) => {
  const key = Object.keys(set).join();
  const found = effectiveSettings(set);
  expect("faults" in found ? found.faults : []).toContainEqual(expect.stringContaining(`${key} ${fault}`));
});

test("a service account decrypts for all if the gate allows accounts to decrypt", () => {
  const found = effectiveSettings({
    "default-decryption-service-account": "decrypts",
    "feature-gates": { ObjectLevelWorkloadIdentity: true },
  });
  expect("faults" in found ? found.faults : []).toEqual([]);
});
