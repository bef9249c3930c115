import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { type FlowScene, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const embedded = fileCluster({ controllers: false });
let scenes = 0;

const configMap = (name: string, data = "{}", metadata = "") =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}${metadata}}\ndata: ${data}\n`;
const one = { a: configMap("a") };
/** Each level is ten of the one before. */
const aliasBomb = Array.from({ length: 9 }, (_, level) => {
  const below = level === 0 ? "x" : `*l${level - 1}`;
  return `l${level}: &l${level} [${Array(10).fill(below).join(", ")}]`;
}).join("\n");

async function published(chart: Omit<Parameters<FlowScene["publish"]>[0], "version">): Promise<FlowScene> {
  const scene = await flowScene(embedded.cluster, `bad-charts-${scenes++}`, helm);
  await scene.publish({ version: "1.0.0", ...chart });
  return scene;
}

/** The message of Ready after a run that stores no revision. */
async function refused(scene: FlowScene, spec: Parameters<FlowScene["release"]>[0] = {}): Promise<string> {
  await scene.release(spec);
  expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: expect.any(Number) });
  expect(await scene.revisions()).toEqual([]);
  // As in Flux, not an empty one.
  expect(await scene.status()).not.toHaveProperty("history");
  const ready = (await scene.condition("Ready")) ?? "";
  expect(ready).toMatch(/^False (?:InstallFailed: Helm install failed for release |ValuesError: |ArtifactFailed: )/);
  return ready;
}

const valuesIn = (scene: FlowScene, name: string, text: string) =>
  scene.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { "values.yaml": text } });

describe("a chart that renders nothing", () => {
  test("is installed without objects", async () => {
    const scene = await published({ templates: { a: "{{ if false }}a{{ end }}" } });
    await scene.release({});
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
    expect(await scene.status()).toMatchObject({ inventory: { entries: [] } });
  });

  test("deletes the objects of the release with an upgrade, and a warning names them before the first is deleted", async () => {
    const scene = await published({ templates: one });
    await scene.release({});
    await scene.run();
    await scene.publish({ version: "1.1.0", templates: {} });
    scene.fault = (call) => {
      if (call === "cluster.delete") throw new Error("killed");
    };
    await expect(scene.run()).rejects.toThrow("killed");
    const warning =
      `Warning PruningAll: no objects in this revision: pruning all that there are, ConfigMap/${scene.namespace}/a; ` +
      "if that is not meant, correct the chart or its values";
    expect(await scene.told()).toContain(warning);
    expect(await scene.get("v1", "ConfigMap", "a")).toBeDefined();

    scene.fault = () => {};
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 superseded", "v2 deployed"]);
    expect(await scene.get("v1", "ConfigMap", "a")).toBeUndefined();
  });
});

describe("a chart whose YAML aliases expand without bounds", () => {
  const why = "yaml: document contains excessive aliasing";

  test("in a ConfigMap of values is refused, and the ConfigMap and its key are named", async () => {
    const scene = await published({ templates: one });
    await valuesIn(scene, "bomb", aliasBomb);
    const message = await refused(scene, { valuesFrom: [{ kind: "ConfigMap", name: "bomb" }] });
    expect(message).toContain(`ConfigMap chart values reference '${scene.namespace}/bomb' with key 'values.yaml': `);
    expect(message).toContain(why);
  });

  test("in its own values.yaml is refused, and the file is named", async () => {
    const scene = await published({ templates: one, files: { "values.yaml": aliasBomb } });
    expect(await refused(scene)).toMatch(new RegExp(`Could not load chart: cannot load values.yaml: .*${why}$`));
  });
});

test("an include that never ends is refused, and the message ends with the template and how to mend it", async () => {
  const scene = await published({
    templates: { a: '{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}' },
  });
  const message = await refused(scene);
  expect(message).toMatch(/; template x includes itself, directly or through others: end it by a condition$/);
  expect(message.length).toBeLessThan(2_000);
});

describe("a chart that renders two objects of one name", () => {
  test("is refused, and the object is named with how to mend it", async () => {
    const scene = await published({ templates: { ...one, b: configMap("a", "{color: blue}") } });
    expect(await refused(scene)).toMatch(
      /registered id: ConfigMap\.v1\.\[noGrp\]\/a\.\[noNs\]; the chart renders this object twice: remove or rename one of the two$/,
    );
  });

  test("is refused too if only one of them says in which namespace it is", async () => {
    const scene = await published({ templates: one });
    await scene.publish({
      version: "1.0.0",
      templates: { ...one, b: configMap("a", "{}", `, namespace: ${scene.namespace}`) },
    });
    expect(await refused(scene)).toContain(`ConfigMap/${scene.namespace}/a`);
  });
});

describe("a chart with a dependency that is not in its folder charts", () => {
  const dependency = "{name: redis, version: 1.x, repository: 'https://charts.example.com', condition: redis.enabled}";
  const chartYaml = (version: string) =>
    `apiVersion: v2\nname: app\nversion: ${version}\ndependencies: [${dependency}]\n`;
  const withoutRedis = (version: string) => ({ version, templates: one, files: { "Chart.yaml": chartYaml(version) } });

  test("is refused with Helm's text before anything is written, since a part of it would be missing", async () => {
    const scene = await published(withoutRedis("1.0.0"));
    expect(await refused(scene)).toMatch(
      /: found in Chart\.yaml, but missing in charts\/ directory: redis; run helm dependency build before the chart is packaged, or disable the dependency by its condition or tags$/,
    );
  });

  test("deletes nothing of the release that was made with it", async () => {
    const files = {
      "Chart.yaml": chartYaml("1.0.0"),
      "charts/redis/Chart.yaml": "apiVersion: v2\nname: redis\nversion: 1.0.0\n",
      "charts/redis/templates/a.yaml": configMap("redis"),
    };
    const scene = await published({ templates: one, files });
    await scene.release({});
    await scene.run();
    await scene.publish(withoutRedis("1.1.0"));
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False UpgradeFailed: .*missing in charts\/ directory: redis/);
    expect(await scene.get("v1", "ConfigMap", "redis")).toBeDefined();
  });

  test("is installed if its condition disables the dependency", async () => {
    const scene = await published(withoutRedis("1.0.0"));
    await scene.release({ values: { redis: { enabled: false } } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });
});

describe("values of 2 MB", () => {
  const names = ["a", "b", "c"];
  const valuesFrom = names.map((name) => ({ kind: "ConfigMap", name }));

  test("are installed if the record of the release fits into a Secret, since it is compressed", async () => {
    const scene = await published({ templates: one });
    for (const name of names) await valuesIn(scene, name, `${name}: ${"x".repeat(670_000)}\n`);
    await scene.release({ valuesFrom });
    await scene.run();
    expect(await scene.revisions()).toEqual(["v1 deployed"]);
  });

  test("that do not fit are refused, with the sizes and how to mend it", async () => {
    const scene = await published({ templates: one });
    for (const name of names) await valuesIn(scene, name, `${name}: ${randomBytes(500_000).toString("base64")}\n`);
    expect(await refused(scene, { valuesFrom })).toMatch(
      /: the record of release \S+ has 20\d{5} bytes, and a Secret holds 1048576: take files out of the chart that it does not need, shorten its values, or split it$/,
    );
  });
});

test("values that do not fit the schema of the chart are named with their ConfigMap, Secret or spec.values, and no value of a Secret is shown", async () => {
  const schema = {
    properties: { password: { pattern: "^[a-z]+$" }, color: { type: "string" }, size: { maximum: 3 } },
    additionalProperties: false,
  };
  const scene = await published({ templates: one, files: { "values.schema.json": JSON.stringify(schema) } });
  await valuesIn(scene, "base", "color: 1\n");
  await scene.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "db" },
    stringData: { password: "HUNTER2" },
  });
  const valuesFrom = [
    { kind: "ConfigMap", name: "base" },
    { kind: "Secret", name: "db", valuesKey: "password", targetPath: "password" },
  ];
  const [, ...lines] = (await refused(scene, { valuesFrom, values: { size: 4, colour: "red" } })).split("\napp:\n");
  expect(lines.join("").split("\n").toSorted()).toEqual([
    "- at '': additional properties 'colour' not allowed (from spec.values)",
    `- at '/color': got number, want string (from ConfigMap ${scene.namespace}/base values.yaml)`,
    `- at '/password': ***** does not match pattern '^[a-z]+$' (from Secret ${scene.namespace}/db password)`,
    "- at '/size': maximum: got 4, want 3 (from spec.values)",
  ]);
  expect(JSON.stringify([await scene.live(), await scene.told()])).not.toContain("HUNTER2");
});

describe("a chart with objects that the API server refuses", () => {
  const thing = (name: string) => `apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: ${name}}\n`;
  const unmapped = (name: string) =>
    `resource mapping not found for name: "${name}" namespace: "" from "": no matches for kind "Thing" in version "example.com/v1"` +
    "\nensure CRDs are installed first";

  test("because no definition has their kind is refused in Helm's words", async () => {
    const scene = await published({ templates: { ...one, t: thing("t") } });
    const begin = "unable to build kubernetes objects from release manifest: ";
    expect(await refused(scene)).toContain(begin + unmapped("t"));
    await scene.publish({ version: "1.0.0", templates: { t: thing("t"), u: thing("u") } });
    expect(await refused(scene, { interval: "2h" })).toContain(`${begin}[${unmapped("t")}, ${unmapped("u")}]`);
  });

  test("in an upgrade are named as Helm's upgrade names them, which builds the manifest once before", async () => {
    const scene = await published({ templates: one });
    await scene.release({});
    await scene.run();
    await scene.publish({ version: "1.1.0", templates: { ...one, t: thing("t") } });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(
      /^False UpgradeFailed: .* with chart app@\S+: resource mapping not found/,
    );
  });

  test("in an upgrade that it may not read either is named in Helm's words", async () => {
    const scene = await published({ templates: one });
    await scene.release({});
    await scene.run();
    await scene.publish({ version: "1.1.0", templates: { a: configMap("a", "[]") } });
    let isSent = false;
    scene.fault = (call) => {
      isSent ||= call === "cluster.apply";
      if (!isSent || call !== "cluster.get") return;
      throw new ApiError({ code: 403, reason: "Forbidden", message: "configmaps is forbidden" });
    };
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(
      /^False UpgradeFailed: .*: could not get information about the resource: configmaps is forbidden$/,
    );
  });

  test("in an upgrade is named as one that cannot be created only if it is new", async () => {
    const scene = await published({ templates: one });
    await scene.release({});
    await scene.run();
    await scene.publish({ version: "1.1.0", templates: { a: configMap("a", "[]"), b: configMap("b", "[]") } });
    await scene.run();
    const ready = await scene.condition("Ready");
    const text = (name: string) =>
      `server-side apply failed for object ${scene.namespace}/${name} /v1, Kind=ConfigMap: `;
    expect(ready).toContain(`: ${text("a")}`);
    expect(ready).not.toContain(`failed to create resource: ${text("a")}`);
    expect(ready).toContain(`; failed to create resource: ${text("b")}`);
  });
});
