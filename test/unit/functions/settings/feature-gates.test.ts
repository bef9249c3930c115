import { describe, expect, test } from "vitest";
import { gateTexts } from "../../../../functions/settings/feature-gates.ts";
import { readSettings } from "../../../../functions/settings/read-settings.ts";
import { defaultGates, type FeatureGates } from "../../../../lib/core/feature-gates.ts";

function gatesOf(value: unknown): FeatureGates {
  const settings = readSettings(JSON.stringify({ "feature-gates": value }));
  if ("faults" in settings) throw new Error(settings.faults.join("; "));
  return settings.values["feature-gates"];
}

function faultsOf(value: unknown): readonly string[] {
  const settings = readSettings(JSON.stringify({ "feature-gates": value }));
  return "faults" in settings ? settings.faults : [];
}

describe("feature gates", () => {
  test("have their defaults if unset", () => {
    expect(gatesOf({})).toEqual(defaultGates);
    expect(gatesOf("")).toEqual(defaultGates);
  });

  const cases = Object.keys(gateTexts).flatMap((name) =>
    [true, false].map((value) => ({ name, value, only: gateTexts[name]?.only })),
  );

  test.each(cases.filter(({ value, only }) => only === undefined || only.value === value))(
    "$name: $value is accepted as a mapping and as Flux's text",
    ({ name, value }) => {
      const expected = Object.hasOwn(defaultGates, name) ? { ...defaultGates, [name]: value } : defaultGates;
      expect(gatesOf({ [name]: value })).toEqual(expected);
      expect(gatesOf(`${name}=${value}`)).toEqual(expected);
    },
  );

  test.each(cases.filter(({ value, only }) => only !== undefined && only.value !== value))(
    "$name: $value is refused with the reason",
    ({ name, value, only }) => {
      const fault = `feature-gates.${name} can only be ${only?.value}: ${only?.why}`;
      expect(faultsOf({ [name]: value })).toEqual([fault]);
      expect(faultsOf(`${name}=${value}`)).toEqual([fault]);
    },
  );

  test("have a valid value if unset, and some have no other", () => {
    const defaults = new Map<string, boolean>(Object.entries(defaultGates));
    const fixed = Object.entries(gateTexts).filter(([, { only }]) => only !== undefined);
    expect(fixed.filter(([name, { only }]) => (defaults.get(name) ?? only?.value) !== only?.value)).toEqual([]);
    const free = Object.keys(gateTexts).filter((name) => gateTexts[name]?.only === undefined);
    expect(free.filter((name) => !defaults.has(name))).toEqual([]);
  });

  test("in Flux's text are parsed as in Go, and the last value of a name counts", () => {
    expect(gatesOf(" DisableStatusPollerCache=false , DisableStatusPollerCache=T,,")).toEqual(defaultGates);
  });

  test.each([
    ["DisableFailFastBehaviour", "is not a feature gate: did you mean DisableFailFastBehavior?"],
    ["disableStatusPollerCache", "is not a feature gate: did you mean DisableStatusPollerCache?"],
    ["OOMWatch", "is not a feature gate: remove it, or see docs/settings.md for the settings"],
    ["constructor", "is not a feature gate: remove it, or see docs/settings.md for the settings"],
  ])("with the unknown name %s are refused by that name", (name, fault) => {
    expect(faultsOf({ [name]: true })).toEqual([`feature-gates.${name} ${fault}`]);
    expect(faultsOf(`DisableStatusPollerCache=true,${name}=false`)).toEqual([`feature-gates.${name} ${fault}`]);
  });

  test.each([{ DisableStatusPollerCache: "hunter2" }, "DisableStatusPollerCache=hunter2", "DisableStatusPollerCache"])(
    "with a value other than true and false are refused without quoting it: %j",
    (value) => {
      expect(faultsOf(value)).toEqual(["feature-gates.DisableStatusPollerCache must be true or false"]);
    },
  );

  test.each([[7], [null], [["DisableStatusPollerCache"]]])("must not be %j", (value) => {
    expect(faultsOf(value)).toEqual([
      "feature-gates must be a mapping of gates to true or false, or text such as ExternalArtifact=true",
    ]);
  });

  test("report all errors at once", () => {
    expect(faultsOf("One=true,Two=true,DisableStatusPollerCache=x")).toHaveLength(3);
  });
});
