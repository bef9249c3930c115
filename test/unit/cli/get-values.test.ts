import { afterAll, describe, expect, test } from "vitest";
import { getValues } from "../../../cli/get-values.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { helmModule, wasmHelm } from "../../../lib/engine/wasm-helm.ts";
import { helmRelease } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const helm = wasmHelm({ file: helmModule, threads: 1, idleMs: 60_000 });
afterAll(() => helm.close());

const object = (kind: string, name: string, data: Readonly<Record<string, string>>): LiveObject => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "flux-system", uid: `u-${kind}-${name}` },
  data,
});
const configMap = (name: string, data: Readonly<Record<string, string>>) => object("ConfigMap", name, data);
const secret = (name: string, data: Readonly<Record<string, string>>) =>
  object(
    "Secret",
    name,
    Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  );

/** What the command prints, as rows of cells. */
async function shown(spec: object, ...objects: readonly LiveObject[]): Promise<readonly (readonly string[])[]> {
  const session = fakeSession([helmRelease("web", spec), ...objects]);
  await getValues("web", { header: true }, session, helm);
  return session.output.out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t").slice(0, 3))
    .map((cells) => cells.map((cell) => cell.trim()));
}

describe("get values", () => {
  test("lists each merged value with the ConfigMap, the Secret or the inline values that it comes from", async () => {
    const valuesFrom = [
      { kind: "ConfigMap", name: "base" },
      { kind: "Secret", name: "keys", valuesKey: "app.yaml" },
      { kind: "ConfigMap", name: "base", valuesKey: "host", targetPath: "ingress.hosts[0]" },
    ];
    const rows = await shown(
      { valuesFrom, values: { replicas: 3 } },
      configMap("base", { "values.yaml": "replicas: 1\nimage: { tag: v1, pull: yes }\n", host: "example.com" }),
      secret("keys", { "app.yaml": "image: { tag: s3cret }\n" }),
    );
    expect(rows).toEqual([
      ["VALUE OF", "FROM", "VALUE"],
      ["image.pull", "ConfigMap flux-system/base values.yaml", "true"],
      ["image.tag", "Secret flux-system/keys app.yaml", "*****"],
      ["ingress.hosts[0]", "ConfigMap flux-system/base host", '"example.com"'],
      ["replicas", "inline", "3"],
    ]);
  });

  test("shows nothing from a Secret, even if its text sets values next to its path", async () => {
    const valuesFrom = [{ kind: "Secret", name: "keys", valuesKey: "password", targetPath: "db.password" }];
    const rows = await shown({ valuesFrom }, secret("keys", { password: "pass,word=s3cret" }));
    expect(rows).toEqual([
      ["VALUE OF", "FROM", "VALUE"],
      ["db.password", "Secret flux-system/keys password", "*****"],
      ["*****", "Secret flux-system/keys password", "*****"],
    ]);
  });

  test("shows a value again if the inline values override that of a Secret", async () => {
    const valuesFrom = [{ kind: "Secret", name: "keys" }];
    const rows = await shown(
      { valuesFrom, values: { level: "debug" } },
      secret("keys", { "values.yaml": "level: info\n" }),
    );
    expect(rows.slice(1)).toEqual([["level", "inline", '"debug"']]);
  });

  test("leaves out optional missing values, and reports if there are no values", async () => {
    const spec = { valuesFrom: [{ kind: "Secret", name: "none", optional: true }] };
    const session = fakeSession([helmRelease("web", spec)]);
    await getValues("web", { header: true }, session, helm);
    expect(session.output).toEqual({
      out: "",
      err: "✔ HelmRelease web gives no values: those of its chart hold\n",
    });
  });

  test.each([
    [
      "is missing",
      [],
      "could not resolve Secret chart values reference 'flux-system/keys' with key 'values.yaml': secrets \"keys\" not found",
    ],
    [
      "lacks the key",
      [secret("keys", { other: "a: 1" })],
      "could not resolve Secret chart values reference 'flux-system/keys' with key 'values.yaml': key not found",
    ],
    [
      "is not YAML, and is not quoted",
      [secret("keys", { "values.yaml": "s3cret: [" })],
      "could not resolve Secret chart values reference 'flux-system/keys' with key 'values.yaml': failed to read values data",
    ],
  ])("fails with the text of the status if a Secret %s", async (_, objects, message) => {
    const session = fakeSession([helmRelease("web", { valuesFrom: [{ kind: "Secret", name: "keys" }] }), ...objects]);
    const failing = getValues("web", { header: true }, session, helm);
    await expect(failing).rejects.toThrow(new Error(message));
  });

  test("fails for a missing HelmRelease", async () => {
    await expect(getValues("web", { header: true }, fakeSession([]), helm)).rejects.toThrow(
      "HelmRelease object 'web' not found in \"flux-system\" namespace",
    );
  });
});
