import { describe, expect, test } from "vitest";
import { applyRulesOf } from "../../../../functions/settings/apply-settings.ts";
import { Settings } from "../../../../functions/settings/settings.ts";

const rulesOf = (given: object) => applyRulesOf(Settings.parse(given));

describe("the settings of applies", () => {
  test("are empty if nothing is set", () => {
    expect(rulesOf({})).toEqual({ overrideManagers: [], customStageKinds: new Set() });
  });

  test.each([
    { name: "one name", given: "node-fetch", managers: ["node-fetch"] },
    { name: "several", given: ["node-fetch", "helm"], managers: ["node-fetch", "helm"] },
  ])("override-manager accepts $name", ({ given, managers }) => {
    expect(rulesOf({ "override-manager": given }).overrideManagers).toEqual(managers);
  });

  test.each([
    { name: "an empty name, which would stand for every manager", given: [""] },
    { name: "a blank name", given: "  " },
    { name: "a number", given: 7 },
  ])("override-manager refuses $name", ({ given }) => {
    expect(Settings.safeParse({ "override-manager": given }).success).toBe(false);
  });

  test("custom-apply-stage-kinds accepts Flux's text, with blanks and kinds of the core group", () => {
    const text = "rbac.authorization.k8s.io/Role, ConfigMap";
    expect(rulesOf({ "custom-apply-stage-kinds": text }).customStageKinds).toEqual(
      new Set(["rbac.authorization.k8s.io/Role", "/ConfigMap"]),
    );
  });

  test.each(["rbac.authorization.k8s.io/v1/Role", "Role,,ConfigMap", "a b"])(
    "custom-apply-stage-kinds refuses %s",
    (text) => {
      expect(Settings.safeParse({ "custom-apply-stage-kinds": text }).success).toBe(false);
    },
  );
});
