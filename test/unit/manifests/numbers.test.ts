import { describe, expect, test } from "vitest";
import { formatJson } from "../../../lib/core/json.ts";
import { buildManifests } from "../../../lib/manifests/build/build.ts";
import type { BuildInput } from "../../../lib/manifests/build/build-input.ts";
import { untilDeadline } from "../../deadline.ts";
import { silentLog } from "../../doubles/silent-log.ts";
import { artifactOf, type Files, noEngine, owner, realEngine } from "./build-files.ts";

const head = "apiVersion: example.com/v1\nkind: Number\nmetadata:\n  name: one\n";

/** What is sent to the API server for `spec.n`. */
async function sent(files: Files, spec: BuildInput["spec"], engine = noEngine, postBuild?: BuildInput["postBuild"]) {
  const signal = untilDeadline();
  const built = await buildManifests(
    await artifactOf(files),
    { spec, owner, postBuild },
    { engine, log: silentLog },
    signal,
  );
  const [manifest] = built.manifests;
  return { json: formatJson(manifest?.["spec"]), digest: built.digest };
}

/** A number in YAML, and as JSON: what Flux sends for it. */
const numbers = [
  { yaml: "9007199254740993", json: "9007199254740993" },
  { yaml: "-9007199254740993", json: "-9007199254740993" },
  { yaml: "9223372036854775807", json: "9223372036854775807" },
  { yaml: "-9223372036854775808", json: "-9223372036854775808" },
  { yaml: "18446744073709551615", json: "18446744073709551615" },
  // Past 64 bits go-yaml, kustomize and the API server have nothing but a double.
  { yaml: "18446744073709551616", json: "18446744073709552000" },
  { yaml: "123456789012345678901234567890", json: "1.2345678901234568e+29" },
  { yaml: "1.0", json: "1" },
  { yaml: "0.1000", json: "0.1" },
  { yaml: "1e3", json: "1000" },
  { yaml: "1E5", json: "100000" },
  { yaml: "1e18", json: "1000000000000000000" },
  { yaml: "-2.5e-7", json: "-2.5e-7" },
  { yaml: "0.30000000000000004", json: "0.30000000000000004" },
  { yaml: "-0.0", json: "0" },
];

describe("a number reaches the cluster with every digit that the API server keeps", () => {
  const file = (yaml: string) => `${head}spec:\n  n: ${yaml}\n`;

  test.each(numbers)("$yaml", async ({ yaml, json }) => {
    const inProcess = await sent({ "a.yaml": file(yaml) }, {});
    const byEngine = await sent(
      { "a.yaml": file(yaml), "kustomization.yaml": "resources: [a.yaml]\n" },
      {},
      realEngine,
    );
    expect(inProcess.json).toBe(`{"n":${json}}`);
    expect(byEngine).toEqual(inProcess);
  });

  test.each(numbers)("$yaml as a value of a variable, next to unchanged numbers", async ({ yaml, json }) => {
    const postBuild = { variables: new Map([["n", yaml]]), secrets: [], always: false, strict: true };
    const files = { "a.yaml": `${head}spec:\n  m: 9007199254740995\n  n: \${n}\n  text: x\${n}\n` };
    const { json: found } = await sent(files, {}, noEngine, postBuild);
    expect(found).toBe(`{"m":9007199254740995,"n":${json},"text":"x${yaml}"}`);
  });

  test("two integers that are the same double are two states of an object", async () => {
    const digests = await Promise.all(
      ["9007199254740992", "9007199254740993"].map(async (yaml) => (await sent({ "a.yaml": file(yaml) }, {})).digest),
    );
    expect(new Set(digests).size).toBe(2);
  });

  test("a merge patch keeps a long integer, next to unchanged numbers", async () => {
    const patches = [{ patch: `${head}spec: {n: 9007199254740993}\n` }];
    const { json } = await sent({ "a.yaml": `${file("1")}  m: 9007199254740995\n` }, { patches }, realEngine);
    expect(json).toBe('{"m":9007199254740995,"n":9007199254740993}');
  });

  test.each(numbers)("$yaml in an object that kustomize's own JSON patches change", async ({ yaml, json }) => {
    const add = (field: string) => `[{"op": "add", "path": "/spec/${field}", "value": ${yaml}}]`;
    const kustomization = `resources: [a.yaml]\npatches: [{patch: '${add("p")}', target: {kind: Number}}]\n`;
    // The second patch reads what the first has written.
    const patches = [{ patch: add("q"), target: { kind: "Number" } }];
    const found = await sent({ "a.yaml": file(yaml), "kustomization.yaml": kustomization }, { patches }, realEngine);
    expect(found.json).toBe(`{"n":${json},"p":${json},"q":${json}}`);
  });

  test("a number that JSON does not have is refused", async () => {
    const postBuild = { variables: new Map([["n", ".inf"]]), secrets: [], always: false, strict: true };
    await expect(sent({ "a.yaml": file("${n}") }, {}, noEngine, postBuild)).rejects.toThrow(
      "envsubst error: YAMLToJSON: the object with the values of n cannot be read: a number is .inf or .nan, which JSON does not have",
    );
  });
});
