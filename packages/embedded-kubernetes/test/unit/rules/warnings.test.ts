import { expect, test } from "vitest";
import { warningsFor } from "../../../src/rules/warnings.ts";

// As generateWarningsFromObj of apiextensions-apiserver's registry/customresource/strategy.go has it.
test("a finalizer without a path gives a warning when it is added, not at each later change", () => {
  const gvk = { group: "kustomize.toolkit.fluxcd.io", version: "v1", kind: "Kustomization" };
  const withFinalizers = (...finalizers: readonly string[]) => ({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "app", finalizers },
  });
  const warning = (finalizer: string) =>
    `metadata.finalizers: "${finalizer}": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`;
  const kept = withFinalizers("finalizers.fluxcd.io");
  expect(warningsFor(kept, gvk, undefined)).toEqual([warning("finalizers.fluxcd.io")]);
  expect(warningsFor(kept, gvk, kept)).toEqual([]);
  const grown = withFinalizers("finalizers.fluxcd.io", "example.test/held", "another.test");
  expect(warningsFor(grown, gvk, kept)).toEqual([warning("another.test")]);
});
