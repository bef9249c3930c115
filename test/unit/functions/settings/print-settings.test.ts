import { describe, expect, test } from "vitest";
import { printSettings } from "../../../../functions/settings/print-settings.ts";
import { readSettings } from "../../../../functions/settings/read-settings.ts";

function printed(text: string): string {
  const settings = readSettings(text);
  if ("faults" in settings) throw new Error(settings.faults.join("; "));
  return printSettings(settings, text === "" ? undefined : "s.yaml");
}

const unlistedDefault = "  # default of unlisted: public in functions, anything with sluice local\n";

describe("printed settings", () => {
  test("show the default of network.unlisted, which depends on the place, if it is unset", () => {
    expect(printed("")).toContain(`# default\nnetwork:\n  allow: []\n${unlistedDefault}`);
    expect(printed("network: {allow: [r.test]}")).toContain(
      `# from s.yaml\nnetwork:\n  allow:\n    - r.test\n${unlistedDefault}`,
    );
  });

  test("show network.unlisted as it is set", () => {
    const text = printed("network: {unlisted: refused}");
    expect(text).toContain("unlisted: refused\n");
    expect(text).not.toContain("default of unlisted");
  });

  test("can be parsed back into the same settings", () => {
    for (const text of ["", "network: {allow: [r.test]}", "network: {unlisted: refused}"]) {
      expect(readSettings(printed(text))).toMatchObject({ values: valuesOf(text) });
    }
  });
});

function valuesOf(text: string): object {
  const settings = readSettings(text);
  return "values" in settings ? settings.values : {};
}
