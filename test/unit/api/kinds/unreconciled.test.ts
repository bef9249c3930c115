import { describe, expect, test } from "vitest";
import { declaredKinds } from "../../../../lib/api/kinds/declared-kinds.ts";
import { controllerOf, isUnreconciled } from "../../../../lib/api/kinds/unreconciled.ts";

describe("a kind that Sluice does not reconcile", () => {
  test.each([
    ["helm.toolkit.fluxcd.io", "HelmRelease"],
    ["image.toolkit.fluxcd.io", "ImagePolicy"],
    ["notification.toolkit.fluxcd.io", "Alert"],
    ["source.extensions.fluxcd.io", "ArtifactGenerator"],
    ["source.toolkit.fluxcd.io", "Bucket"],
    ["source.toolkit.fluxcd.io", "KindOfALaterFlux"],
    ["flagger.app", "Canary"],
  ])("is one of Flux or Flagger without a declaration: %s %s, unless it is declared", (group, kind) => {
    const none = declaredKinds.filter((one) => one.kind !== kind);
    expect(isUnreconciled({ group, kind }, none)).toBe(true);
    expect(isUnreconciled({ group, kind }, [...none, { group, kind, versions: ["v1"] }])).toBe(false);
  });

  test.each(declaredKinds)("does not include a declared kind: $kind", ({ group, kind }) => {
    expect(isUnreconciled({ group, kind }, declaredKinds)).toBe(false);
  });

  test.each([
    ["source.toolkit.fluxcd.io", "ExternalArtifact"],
    ["flagger.app", "MetricTemplate"],
    ["flagger.app", "AlertProvider"],
    ["apps", "Deployment"],
    ["", "ConfigMap"],
    ["helm.toolkit.fluxcd.io.example.com", "HelmRelease"],
    ["fluxcd.io", "Thing"],
    ["myflagger.app", "Canary"],
  ])(
    "does not include kinds that other clients write, that only Canaries read, or of another group: %s %s",
    (group, kind) => {
      expect(isUnreconciled({ group, kind }, declaredKinds)).toBe(false);
    },
  );
});

test.each([
  ["helm.toolkit.fluxcd.io", "HelmRelease", "helm-controller"],
  ["source.toolkit.fluxcd.io", "HelmRepository", "source-controller"],
  ["notification.toolkit.fluxcd.io", "Provider", "notification-controller"],
  ["image.toolkit.fluxcd.io", "ImageRepository", "image-reflector-controller"],
  ["image.toolkit.fluxcd.io", "ImageUpdateAutomation", "image-automation-controller"],
  ["source.extensions.fluxcd.io", "ArtifactGenerator", "source-watcher"],
  ["flagger.app", "MetricTemplate", "flagger"],
  ["other.toolkit.fluxcd.io", "Other", undefined],
])("the controller of %s %s is %s", (group, kind, controller) => {
  expect(controllerOf({ group, kind })).toBe(controller);
});
