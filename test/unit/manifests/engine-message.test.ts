import { glob, readFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { safeEngineMessage } from "../../../lib/manifests/engine-message.ts";

/** Stands where the engine quoted a value of a Secret, a literal, or a patch. */
const canary = "hunter2-s3cr3t";
const cut = '(the rest is not shown, as it may hold a secret: "kustomize build" shows it)';

/** What kustomize 5.8.1 said of broken input, with the canary where a value was; `shown` where that is something else. */
const recorded = z
  .array(z.object({ said: z.string(), shown: z.string().exactOptional() }))
  .parse(JSON.parse(await readFile(new URL("../../fixtures/engine-messages.json", import.meta.url), "utf8")));

/** What Flux v2.9 said of builds that failed. Its own folders are not in it. */
async function saidByFlux(): Promise<ReadonlySet<string>> {
  const said = new Set<string>();
  const isAboutBuild = /^(?:kustomize build failed|failed to decode Kubernetes YAML from [^ ]+): /;
  for await (const file of glob("test/fixtures/flux/*.json")) {
    JSON.parse(await readFile(file, "utf8"), (_key, value: unknown) => {
      if (typeof value === "string" && isAboutBuild.test(value))
        said.add(value.replaceAll(/<(?:tmp|elsewhere)>\/?/g, ""));
      return value;
    });
  }
  return said;
}

test("messages of Flux about builds are shown unchanged, without the configuration of a transformer", async () => {
  const said = await saidByFlux();
  const isCut = (text: string): boolean => /^kustomize build failed: trouble configuring builtin /.test(text);
  expect(said.size).toBeGreaterThan(10);
  const whole = [...said].filter((text) => !isCut(text));
  expect(whole.map(safeEngineMessage)).toEqual(whole);
  expect([...said].filter(isCut).map(safeEngineMessage).toSorted()).toEqual([
    "kustomize build failed: trouble configuring builtin HelmChartInflationGenerator with config: `\nname: *****\nnamespace: *****\nrepo: *****\nversion: *****\n`: must specify --enable-helm",
    "kustomize build failed: trouble configuring builtin PatchTransformer with config: `\npatch: *****\n`: unable to parse SM or JSON patch from [patch: *****]",
    "kustomize build failed: trouble configuring builtin PatchTransformer with config: `\ntarget:\n  kind: ConfigMap\n`: must specify one of patch and path in\ntarget:\n  kind: ConfigMap\n",
    "kustomize build failed: trouble configuring builtin PatchTransformer with config: `\n{}\n`: must specify one of patch and path in\n{}\n",
  ]);
});

describe("messages of the engine are shown without values", () => {
  test.each(recorded)("$said", ({ said, shown }) => {
    expect(safeEngineMessage(said)).toBe(shown ?? said);
    expect(shown ?? said).not.toContain(canary);
  });

  test("for a value of any form", () => {
    const quoting = recorded.filter(({ said }) => said.includes(canary));
    expect(quoting.length).toBeGreaterThan(40);
    const letters = fc.constantFrom(
      ...Array.from("aZ09 \n\t-.:,#'\"\\/{}[]&*!|>%@`?=+<é😀$"),
      "]: ",
      "': ",
      "`: ",
      "yaml: ",
    );
    const values = fc.string({ unit: letters, minLength: 8, maxLength: 40 }).map((text) => `${text}${canary}`);
    fc.assert(
      fc.property(fc.constantFrom(...quoting), values, ({ said }, value) => {
        const quoted = JSON.stringify(value).slice(1, -1);
        const isQuoted = /"(?:[^"\\]|\\.)*hunter2/.test(said);
        expect(safeEngineMessage(said.replaceAll(canary, () => (isQuoted ? quoted : value)))).not.toContain(canary);
      }),
      { numRuns: 3_000 },
    );
  });

  test("a text of unknown form is hidden", () => {
    expect(safeEngineMessage(`kustomize build failed: found ${canary} in the way`)).toBe(
      `kustomize build failed: ${cut}`,
    );
    expect(safeEngineMessage(canary)).toBe(cut);
    expect(
      safeEngineMessage(`kustomize build failed: accumulating resources: ${canary}: no such file or directory`),
    ).toBe(`kustomize build failed: accumulating resources: ${cut}`);
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1 }), (text) => {
        expect(safeEngineMessage(`kustomize build failed: ${text}${canary}`)).not.toContain(canary);
      }),
    );
  });

  test("a password that starts like an alias is hidden", () => {
    const said =
      "failed to decode Kubernetes YAML from s.yaml: MalformedYAMLError: yaml: unknown anchor 'hunter2' referenced";
    expect(safeEngineMessage(said)).toBe(said.replace("hunter2", "*****"));
  });

  test("a very long message is not read to its end", () => {
    const long = `kustomize build failed: ${"accumulating resources: ".repeat(1_000_000)}`;
    const shown = safeEngineMessage(long);
    expect(shown.length).toBeLessThan(17_000);
    expect(shown).toContain(cut);
  });

  test.each([
    { of: "quotes", said: "'".repeat(16_000) },
    { of: "line feeds", said: "\n".repeat(16_000) },
    { of: "quotes in quotes", said: `accumulateDirectory: "${"'".repeat(100)}"`.repeat(100) },
  ])("of the pieces of a message, each searched in every form, only a thousand are searched: $of", ({ said }) => {
    const shown = safeEngineMessage(said);
    expect(shown.replaceAll("accumulateDirectory: ", "").length).toBeLessThanOrEqual(1_000 + cut.length + 40);
    expect(shown).toContain(cut);
  });
});

test("the address of a remote base is shown without its query, which may contain a token", () => {
  const shown = safeEngineMessage(
    `open https://git.example/apps.git?ref=main&token=${canary}: no such file or directory`,
  );
  expect(shown).toBe("open https://git.example/apps.git?...: no such file or directory");
});
