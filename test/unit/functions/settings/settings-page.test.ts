import { expect, test } from "vitest";
import { unhonouredFlags } from "../../../../functions/settings/flux-flags.ts";
import { defaultSettings, Settings, SettingText } from "../../../../functions/settings/settings.ts";

const width = 120;

function wrapped(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + word.length >= width) lines.push(word);
    else lines.splice(-1, 1, line === "" ? word : `${line} ${word}`);
  }
  return lines.join("\n");
}

/** `docs/settings.md`, as the schema has it. */
function page(): string {
  const settings = Object.entries(Settings.shape).flatMap(([key, schema]) => {
    const { description, flux, since } = SettingText.parse(schema.meta());
    const value = JSON.stringify(Object.entries(defaultSettings).find(([name]) => name === key)?.[1]);
    const ofFlux = flux === undefined ? "Flux has no such flag" : `Flux's default: \`${flux}\``;
    return [`### ${key}`, wrapped(description), `Default: \`${value}\`. ${ofFlux}. Since ${since}.`];
  });
  const flags = Map.groupBy(unhonouredFlags.keys(), (flag) => unhonouredFlags.get(flag));
  const refused = [...flags].map(([why, names]) =>
    wrapped(`- ${names.map((name) => `\`${name}\``).join(", ")}: ${why}.`).replaceAll("\n", "\n  "),
  );
  return `${[
    "# Settings of an installation",
    "<!-- Made from functions/settings by its test; write it again with `vitest run test/unit/functions/settings -u`. -->",
    wrapped(
      "One document of YAML or JSON, each setting under the name of Flux's flag where Flux has one. All may be left out; a key that is not listed here is refused by name.",
    ),
    [
      "- `sluice local --config FILE` reads it from a file, and `sluice settings --config FILE` prints what holds and where it",
      "  comes from.",
      "- In AWS the environment variable `SLUICE_SETTINGS` of the function that reconciles holds it.",
    ].join("\n"),
    wrapped(
      "It is read when the process starts. A change takes effect for each object at its next run; an object that a setting stalled runs again when it is asked to (`sluice reconcile`).",
    ),
    "```yaml\nno-cross-namespace-refs: true\n```",
    "## The settings",
    ...settings,
    "## Flags of Flux that are refused",
    "Each is refused by name with this reason:",
    refused.join("\n"),
  ].join("\n\n")}\n`;
}

test("docs/settings.md says what the schema says", async () => {
  await expect(page()).toMatchFileSnapshot("../../../../docs/settings.md");
});
