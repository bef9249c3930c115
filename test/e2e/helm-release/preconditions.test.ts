import { afterAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../lib/core/json.ts";
import { ApiError } from "../../../lib/core/ports/cluster.ts";
import { embeddedCluster } from "../../doubles/embedded-cluster.ts";
import { fileCluster, fileHelm } from "../../doubles/file-cluster.ts";
import { unhurriedCel } from "../../doubles/unhurried-cel.ts";
import { type FlowScene, type FlowSceneOptions, flowScene } from "./flow-scene.ts";

const helm = fileHelm();
const cel = unhurriedCel();
const embedded = fileCluster({ controllers: false });
let scenes = 0;
afterAll(() => cel.close());

const newScene = (options?: FlowSceneOptions) =>
  flowScene(embedded.cluster, `preconditions-${scenes++}`, helm, { cel, ...options });
const release = "helm.toolkit.fluxcd.io/v2";
const chart = {
  version: "1.0.0",
  templates: { a: 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {color: "{{ .Values.color }}"}\n' },
};

describe("the chart of a HelmRelease", () => {
  const template = { spec: { chart: "app", sourceRef: { kind: "HelmRepository", name: "charts" } } };
  const reference = { kind: "OCIRepository", name: "app" };
  const either = "either chart or chartRef must be set";

  test.each([
    { how: "both", spec: { chart: template, chartRef: reference } },
    { how: "neither", spec: {} },
  ])("23/1: with $how of chart and chartRef it is rejected by the API server", async ({ spec }) => {
    const scene = await newScene();
    const metadata = { name: "app" };
    const applied = scene.apply({
      apiVersion: release,
      kind: "HelmRelease",
      metadata,
      spec: { interval: "1h", ...spec },
    });
    await expect(applied).rejects.toThrow(either);
  });

  test("23/1: with both, if the definition allows it, ends the run for good, and nothing is installed", async () => {
    await using lenient = await embeddedCluster({ controllers: false });
    const definition = {
      group: "apiextensions.k8s.io",
      version: "v1",
      kind: "CustomResourceDefinition",
      namespace: "",
    };
    const ref = { ...definition, name: "helmreleases.helm.toolkit.fluxcd.io" };
    const { signal } = new AbortController();
    const live = await lenient.cluster.get(ref, signal);
    const body = JSON.parse(JSON.stringify(live?.["spec"]).replaceAll("x-kubernetes-validations", "x-none"));
    await lenient.cluster.patch(ref, { type: "merge", body: { spec: body } }, { manager: "test" }, signal);
    const scene = await flowScene(lenient.cluster, "lenient", helm);
    await scene.publish(chart);
    await scene.release({ chart: template, chartRef: reference });

    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: undefined });
    expect(await scene.condition("Stalled")).toMatch(new RegExp(`^True InvalidSpec: .*${either}`));
    expect(await scene.revisions()).toEqual([]);
    expect(await scene.get("source.toolkit.fluxcd.io/v1", "HelmChart", "lenient-app")).toBeUndefined();
  });
});

describe("a HelmChart that the API server refuses is reported on its HelmRelease at once", () => {
  const sourceIn = (namespace: string) => ({ kind: "HelmRepository", name: "charts", namespace });

  test("if its namespace is missing", async () => {
    const scene = await newScene();
    await scene.release({ chart: { spec: { chart: "app", sourceRef: sourceIn("flux-sistem") } } });
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: expect.any(Number) });
    const why = `could not apply HelmChart 'flux-sistem/${scene.namespace}-app': namespaces "flux-sistem" not found`;
    expect(await scene.condition("Ready")).toBe(`False ArtifactFailed: ${why}`);
    expect(await scene.told()).toEqual([`Warning ArtifactFailed: ${why}`]);
  });

  test("if it is invalid", async () => {
    const scene = await newScene();
    const metadata = { labels: { team: "x".repeat(64) } };
    await scene.release({ chart: { metadata, spec: { chart: "app", sourceRef: sourceIn(scene.namespace) } } });
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: expect.any(Number) });
    const place = `${scene.namespace}/${scene.namespace}-app`;
    expect(await scene.condition("Ready")).toMatch(
      new RegExp(`^False ArtifactFailed: could not apply HelmChart '${place}': .* is invalid: metadata.labels: .*63 `),
    );
  });

  test("but an overload counts as an outage", async () => {
    const scene = await newScene();
    await scene.release({ chart: { spec: { chart: "app", sourceRef: sourceIn(scene.namespace) } } });
    const overloaded = new ApiError({ code: 429, reason: "TooManyRequests", message: "too many requests" });
    scene.fault = (call) => {
      if (call === "cluster.apply") throw overloaded;
    };
    await expect(scene.run()).rejects.toBe(overloaded);
  });
});

test("23/2: a HelmRelease gets its finalizer before anything else", async () => {
  const scene = await newScene();
  await scene.publish(chart);
  await scene.release({});
  scene.fault = (call) => {
    if (call === "subscriptions.subscribe") throw new Error("killed");
  };
  await expect(scene.run()).rejects.toThrow("killed");
  expect(await scene.live()).toMatchObject({
    metadata: { finalizers: ["finalizers.fluxcd.io"] },
    status: { observedGeneration: -1 },
  });
  scene.fault = () => {};
  await scene.run();
  expect(await scene.revisions()).toEqual(["v1 deployed"]);
});

describe("the sources of values", () => {
  const optional = (more: JsonObject = {}) => ({
    valuesFrom: [{ kind: "ConfigMap", name: "colors", optional: true, ...more }],
  });
  const colors = (scene: FlowScene, data: JsonObject) =>
    scene.apply({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "colors" }, data });
  const named = (scene: FlowScene, key = "values.yaml") =>
    `could not resolve optional ConfigMap chart values reference '${scene.namespace}/colors' with key '${key}'`;

  test("23/12: with optional: true, an object or a key may be missing", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(optional());
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);

    await colors(scene, { other: "color: red" });
    await scene.release({ ...optional(), interval: "2h" });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
    expect(await scene.status()).toMatchObject({ observedGeneration: 2 });
  });

  test("23/64: are subscribed to, and a change without an event is found by the next interval", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await colors(scene, { "values.yaml": "color: red" });
    await scene.release(optional());
    await scene.run();
    expect(scene.subscriptions()).toContainEqual(expect.stringMatching(/ConfigMap.*colors/));
    await colors(scene, { "values.yaml": "color: green" });
    await scene.run();
    expect(await scene.get("v1", "ConfigMap", "a")).toMatchObject({ data: { color: "green" } });
  });

  test("23/12: without optional neither may be missing", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    const spec = optional({ optional: false });
    await scene.release(spec);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False ValuesError: .*: configmaps "colors" not found$/);
    await colors(scene, { other: "color: red" });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False ValuesError: .*: key not found$/);
  });

  test("23/12: a second reference to a missing object says so without the API server's answer, as Flux asks once", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    const valuesFrom = [true, false].flatMap((isOptional) => optional({ optional: isOptional }).valuesFrom);
    await scene.release({ valuesFrom });
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False ValuesError: .*: resource not found$/);
  });

  test("23/12: with optional: true, a value that cannot be parsed is still an error", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await colors(scene, { "values.yaml": "color: [" });
    await scene.release(optional());
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(`False ValuesError: ${named(scene)}: error converting YAML`);
    expect(await scene.revisions()).toEqual([]);
  });

  test("23/12: with optional: true, an object that the API server refuses to return is still an error", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(optional());
    let reads = 0;
    scene.fault = (call) => {
      // The HelmRelease, the source, then the values.
      if (call !== "cluster.get" || ++reads < 3) return;
      throw new ApiError({ code: 403, reason: "Forbidden", message: 'configmaps "colors" is forbidden' });
    };
    await scene.run();
    expect(await scene.condition("Ready")).toBe(`False ValuesError: ${named(scene)}: configmaps "colors" is forbidden`);
  });
});

describe("a dependency of a HelmRelease", () => {
  const dependent = (more: JsonObject = {}) => ({ dependsOn: [{ name: "base", ...more }] });
  /** Another HelmRelease, as its own run would have left it. */
  async function base(scene: FlowScene, isReady: boolean, more: JsonObject = {}): Promise<void> {
    const metadata = { name: "base", namespace: scene.namespace };
    const spec = { interval: "1h", chartRef: { kind: "OCIRepository", name: "app" }, ...more };
    const { metadata: live } = await scene.apply({ apiVersion: release, kind: "HelmRelease", metadata, spec });
    const ready = {
      ...{ type: "Ready", status: isReady ? "True" : "False", reason: "Test", message: "as the test says" },
      ...{ lastTransitionTime: "2026-11-24T16:00:00Z", observedGeneration: live.generation ?? 0 },
    };
    const ref = { group: "helm.toolkit.fluxcd.io", version: "v2", kind: "HelmRelease", ...metadata };
    const body = { status: { observedGeneration: live.generation ?? 0, conditions: [ready] } };
    const options = { manager: "helm-controller", subresource: "status" };
    await embedded.cluster.patch(ref, { type: "merge", body }, options, new AbortController().signal);
  }

  test("23/16: that is not ready is checked again after 30 seconds, however often, and does not count as a failure", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(dependent());
    await base(scene, false);
    for (const _ of ["first", "second", "third"]) {
      expect(await scene.run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    }
    const why = `dependency '${scene.namespace}/base' is not ready`;
    expect(await scene.condition("Ready")).toBe(`False DependencyNotReady: ${why}`);
    expect(await scene.told()).toEqual([`Normal DependencyNotReady: ${why}`]);
    const status = await scene.status();
    expect([status.failures, status.installFailures, status.upgradeFailures]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(scene.subscriptions()).toContainEqual(expect.stringContaining("base"));

    await base(scene, true);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test("that does not exist fails the run, which checks again after 30 seconds", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(dependent());
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: 30_000 });
    expect(await scene.condition("Ready")).toMatch(/^False DependencyNotReady: unable to get '.*\/base' dependency: /);
  });

  test("that is suspended is named as suspended, with the command that resumes it", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(dependent());
    await base(scene, false, { suspend: true });
    const message = `dependency '${scene.namespace}/base' is not ready: it is suspended, resume it with sluice resume hr base -n ${scene.namespace}`;
    expect(await scene.run()).toMatchObject({ outcome: "waiting", failure: { reason: "DependencyNotReady", message } });
    expect(await scene.condition("Ready")).toBe(`False DependencyNotReady: ${message}`);
  });

  test("that depends on it in turn is named with the whole circle", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await scene.release(dependent());
    await base(scene, false, { dependsOn: [{ name: "app" }] });
    const at = scene.namespace;
    await scene.run();
    expect(await scene.condition("Ready")).toBe(
      `False DependencyNotReady: dependency '${at}/base' is not ready: circular dependency detected: ${at}/app -> ${at}/base -> ${at}/app`,
    );
  });

  const readyExpr = "dep.metadata.name == 'base' && self.metadata.name == 'app'";

  test("23/17: with a readyExpr is ready by the expression, and not by its own conditions", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await base(scene, true);
    await scene.release(dependent({ readyExpr: "dep.metadata.name == 'other'" }));
    await scene.run();
    expect(await scene.condition("Ready")).toBe(
      `False DependencyNotReady: dependency '${scene.namespace}/base' is not ready according to readyExpr eval`,
    );
    await base(scene, false);
    await scene.release(dependent({ readyExpr }));
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test("23/17: with a readyExpr and the gate AdditiveCELDependencyCheck must be ready by both", async () => {
    const scene = await newScene({ gates: { AdditiveCELDependencyCheck: true } });
    await scene.publish(chart);
    await base(scene, false);
    await scene.release(dependent({ readyExpr }));
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^False DependencyNotReady/);
    await base(scene, true);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test("23/17: with a readyExpr that does not compile stalls the HelmRelease", async () => {
    const scene = await newScene();
    await scene.publish(chart);
    await base(scene, true);
    await scene.release(dependent({ readyExpr: "dep.metadata.name ==" }));
    expect(await scene.run()).toMatchObject({ outcome: "failed", dueInMs: undefined });
    expect(await scene.condition("Stalled")).toMatch(/^True InvalidCELExpression: /);
    expect(await scene.condition("Ready")).toMatch(/^False InvalidCELExpression: /);
    // The event gives the cause alone.
    expect((await scene.told())[0]).toMatch(/^Warning InvalidCELExpression: terminal error: failed to evaluate /);
  });
});

describe("the source of a HelmRelease", () => {
  test("23/18: without an artifact is awaited, for 30 seconds or until it changes, without an event", async () => {
    const scene = await newScene();
    const metadata = { name: "app", namespace: scene.namespace };
    const spec = { interval: "1h", url: "oci://registry.test/app" };
    await scene.apply({ apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec });
    await scene.release({});
    for (const _ of ["first", "second"]) {
      expect(await scene.run()).toMatchObject({ outcome: "waiting", dueInMs: 30_000 });
    }
    expect(await scene.condition("Ready")).toMatch(
      new RegExp(`^False SourceNotReady: OCIRepository '${scene.namespace}/app' is not ready: `),
    );
    expect(await scene.told()).toEqual([]);
    expect(scene.subscriptions()).toContainEqual(expect.stringContaining("OCIRepository"));

    await scene.publish(chart);
    await scene.run();
    expect(await scene.condition("Ready")).toMatch(/^True InstallSucceeded/);
  });

  test("23/62: in another namespace stalls it if cross-namespace references are forbidden", async () => {
    const elsewhere = await newScene();
    const chartRef = { kind: "OCIRepository", name: "app", namespace: elsewhere.namespace } as const;
    const denied = await newScene({ noCrossNamespaceRefs: true });
    await denied.release({ chartRef });
    expect(await denied.run()).toMatchObject({ outcome: "failed", dueInMs: undefined });
    const why = `cross-namespace references are not allowed: cannot access OCIRepository ${elsewhere.namespace}/app`;
    expect(await denied.condition("Stalled")).toBe(`True AccessDenied: ${why}`);
    expect(await denied.condition("Ready")).toBe(`False AccessDenied: ${why}`);
    expect(await denied.told()).toEqual([`Warning AccessDenied: ${why}`]);
    expect(await denied.revisions()).toEqual([]);

    const allowed = await newScene();
    await allowed.publish(chart, chartRef);
    await allowed.release({ chartRef });
    await allowed.run();
    expect(await allowed.revisions()).toEqual(["v1 deployed"]);
  });
});
