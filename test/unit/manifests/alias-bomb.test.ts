import { parseEvents } from "js-yaml";
import { expect, test } from "vitest";
import { maxAliasedBytes, refuseAliasBomb } from "../../../lib/manifests/alias-bomb.ts";
import { parseOutput } from "../../../lib/manifests/parse-output.ts";
import { buildFiles, noEngine } from "./build-files.ts";

const nodeBytes = 32;

function refuse(text: string): void {
  refuseAliasBomb(parseEvents(text, {}), { text, line: 1 });
}

/** A scalar of this length and so many aliases of it. */
function document(scalarBytes: number, aliases: number): string {
  return `text: &x "${"x".repeat(scalarBytes)}"\nall:\n${"- *x\n".repeat(aliases)}`;
}

test("the expanded bytes of aliases are counted: at the limit they are accepted, above it refused", () => {
  const fits = maxAliasedBytes / 16 - nodeBytes;
  expect(() => refuse(document(fits - 1, 16))).not.toThrow();
  expect(() => refuse(document(fits, 16))).not.toThrow();
  expect(() => refuse(document(fits + 1, 16))).toThrow(`its aliases expand to more than ${maxAliasedBytes} bytes`);
});

test("all bytes of a multi-byte character count", () => {
  const text = document(maxAliasedBytes / 32 - nodeBytes, 17);
  expect(() => refuse(text)).not.toThrow();
  expect(() => refuse(text.replaceAll("x".repeat(100), "ü".repeat(100)))).toThrow("its aliases expand to more than");
});

test("many small aliases are added up", () => {
  const anchored = `a: &a [${"x, ".repeat(1_000)}]\nall:\n`;
  const each = nodeBytes + 1_000 * (nodeBytes + 1);
  const aliases = Math.floor(maxAliasedBytes / each);
  expect(() => refuse(anchored + "- *a\n".repeat(aliases))).not.toThrow();
  expect(() => refuse(anchored + "- *a\n".repeat(aliases + 1))).toThrow("its aliases expand to more than");
});

test("a small artifact whose aliases expand to 1.5 GB is refused before anything is expanded", async () => {
  const bomb = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n${document(1024 * 1024, 1_500)}`;
  await expect(buildFiles({ "a.yaml": bomb }, {}, noEngine)).rejects.toMatchObject({
    reason: "BuildFailed",
    message: `failed to decode Kubernetes YAML from a.yaml: yaml: line 22: its aliases expand to more than ${maxAliasedBytes} bytes`,
  });
});

test("an alias in the output of kustomize is refused, because kustomize prints none", () => {
  expect(parseOutput("a: &x y\nb: *x\n")).toMatchObject({ kind: "unacceptable" });
});
