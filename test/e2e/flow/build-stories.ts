import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../lib/core/json.ts";
import { tarOf } from "../../unit/sources/tar-of.ts";
import { configMap as manifest } from "./sample-manifests.ts";
import type { World } from "./world.ts";

type Files = Readonly<Record<string, string>>;

const Revisions = z.array(z.object({ metadata: z.object({ revision: z.string() }) }));
const metadataOf = (name: string, labels: JsonObject = {}) => ({ name, labels });
const configMap = (name: string, data: JsonObject = { k: name }, labels: JsonObject = {}): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: metadataOf(name, labels), data });
const deleting = (name: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, $patch: "delete" });
const yaml = (content: JsonObject): string => JSON.stringify(content);
const component = yaml({
  apiVersion: "kustomize.config.k8s.io/v1alpha1",
  kind: "Component",
  nameSuffix: "-a",
});

/** What becomes of the files of an artifact, built as an installation builds them. */
export function buildStories(name: string, newWorld: () => Promise<World>): void {
  describe(`the files of an artifact on ${name}`, () => {
    let revision = 0;
    const run = async (world: World, files: Files, spec: JsonObject = {}): Promise<string> => {
      revision += 1;
      await world.publishFiles(`v${revision}`, files);
      await world.kustomization("app", { targetNamespace: world.namespace, ...spec });
      await world.run("app");
      return world.ready("app");
    };
    const built = async (world: World): Promise<readonly string[]> =>
      (await world.inventory("app")).map(({ id }) => id.split("_")[1] ?? "");

    test("all YAML below the path is applied, a folder with a kustomization as a unit, and nothing else (23, 36)", async () => {
      const world = await newWorld();
      const files = {
        "app/a.yaml": configMap("a"),
        "app/deep/b.yml": configMap("b"),
        "app/data.json": configMap("json"),
        "app/sub/kustomization.yaml": yaml({ resources: ["x.yaml"], namePrefix: "sub-" }),
        "app/sub/x.yaml": configMap("x"),
        "app/sub/unlisted.yaml": configMap("unlisted"),
        "other/o.yaml": configMap("o"),
      };
      expect(await run(world, files, { path: "./app" })).toMatch(/^True /);
      expect(await built(world)).toEqual(["a", "b", "sub-x"]);
      expect(await run(world, files, { path: "../../app/deep" })).toMatch(/^True /);
      expect(await built(world)).toEqual(["b"]);
    });

    test("links are skipped with skip-links, as in Flux; without it, links out of the artifact are refused by name (26)", async () => {
      const world = await newWorld();
      const archive = gzipSync(
        tarOf([
          { name: "a.yaml", content: configMap("a") },
          { name: "b.yaml", type: "2", link: "a.yaml" },
          { name: "passwd.yaml", type: "2", link: "/etc/passwd" },
        ]),
      );
      world.skipLinks = true;
      const revision = await world.publishArchive("v1", archive);
      await world.kustomization("app");
      await world.run("app");
      expect(await world.ready("app")).toBe(`True ReconciliationSucceeded: Applied revision: ${revision}`);
      expect(await built(world)).toEqual(["a"]);

      world.skipLinks = false;
      await world.run("app");
      expect(await world.ready("app")).toMatch(
        /^False ArtifactFailed: .*'passwd.yaml' is a link to '\/etc\/passwd', which leads out of the archive/,
      );
      expect(await built(world)).toEqual(["a"]);
    });

    test("a missing path is looked up only inside, and does not count as attempted (22, 23)", async () => {
      const world = await newWorld();
      for (const path of ["./missing", "../../etc"]) {
        expect(await run(world, { "a.yaml": configMap("a") }, { path })).toMatch(
          /^False ArtifactFailed: kustomization path not found: /,
        );
      }
      expect(await world.status("app")).not.toHaveProperty("lastAttemptedRevision");
    });

    test.each<{ what: string; statement: string; files: Files; says: string }>([
      {
        what: "a stray CI file",
        statement: "37",
        files: { ".ci/jobs.yml": "on: push\n" },
        says: "failed to decode Kubernetes YAML from .ci/jobs.yml: ",
      },
      { what: "invalid YAML", statement: "38", files: { "b.yaml": "a: [" }, says: "b.yaml" },
      {
        what: "an overlay with a broken reference",
        statement: "38",
        files: { "kustomization.yaml": yaml({ resources: ["gone.yaml"] }) },
        says: "kustomize build failed: ",
      },
      {
        what: "a remote base",
        statement: "47",
        files: { "kustomization.yaml": yaml({ resources: ["https://example.test/base"] }) },
        says: "kustomize build failed: ",
      },
      {
        what: "a resource outside the artifact",
        statement: "48",
        files: { "kustomization.yaml": yaml({ resources: ["../../../etc/passwd"] }) },
        says: "kustomize build failed: ",
      },
      {
        what: "helmCharts",
        statement: "49",
        files: { "kustomization.yaml": yaml({ helmCharts: [{ name: "x", repo: "https://example.test" }] }) },
        says: "kustomize build failed: ",
      },
    ])("$what fails the build, and the revision counts as attempted ($statement)", async ({ files, says }) => {
      const world = await newWorld();
      const ready = await run(world, { "a.yaml": configMap("a"), ...files });
      expect(ready).toMatch(/^False BuildFailed: /);
      expect(ready).toContain(says);
      expect((await world.status("app"))["lastAttemptedRevision"]).toContain(`v${revision}@`);
      expect(await world.get("ConfigMap", "a")).toBeUndefined();
    });

    test.each<{ what: string; files: Files }>([
      { what: "a folder without YAML", files: { "README.md": "nothing" } },
      { what: "an empty kustomization", files: { "kustomization.yaml": "" } },
    ])("$what empties the inventory and deletes its objects (39)", async ({ files }) => {
      const world = await newWorld();
      await run(world, { "a.yaml": configMap("a"), "b.yaml": configMap("b") });
      expect(await built(world)).toEqual(["a", "b"]);
      expect(await run(world, files)).toMatch(/^True /);
      expect((await world.status("app"))["inventory"]).toEqual({ entries: [] });
      expect([await world.get("ConfigMap", "a"), await world.get("ConfigMap", "b")]).toEqual([undefined, undefined]);
    });

    test("namespace, prefix, suffix and patches of the spec come after those of the file (40, 41, 42)", async () => {
      const world = await newWorld();
      const ofFile = [{ patch: configMap("a", { k: "file", f: "file" }) }];
      const files = {
        "kustomization.yaml": yaml({ resources: ["a.yaml", "b.yaml", "c.yaml", "d.yaml"], patches: ofFile }),
        "a.yaml": configMap("a"),
        "b.yaml": configMap("b", { k: "b" }, { app: "b" }),
        "c.yaml": configMap("c"),
        "d.yaml": configMap("d"),
      };
      const patches = [
        { patch: configMap("a", { k: "spec" }) },
        {
          patch: '[{"op": "add", "path": "/data/j", "value": "son"}]',
          target: { kind: "ConfigMap", labelSelector: "app=b" },
        },
        { patch: `${deleting("c")}\n---\n${deleting("d")}` },
      ];
      expect(await run(world, files, { namePrefix: "prefix-", nameSuffix: "-suffix", patches })).toMatch(/^True /);
      expect(await built(world)).toEqual(["prefix-a-suffix", "prefix-b-suffix"]);
      expect((await world.get("ConfigMap", "prefix-a-suffix"))?.["data"]).toEqual({ k: "spec", f: "file" });
      expect((await world.get("ConfigMap", "prefix-b-suffix"))?.["data"]).toEqual({ k: "b", j: "son" });
    });

    test.each([
      { file: { newTag: "v1.2.3" }, spec: { newName: "reg.test/web" }, image: "reg.test/web:v1.2.3" },
      { file: { digest: `sha256:${"a".repeat(64)}` }, spec: { newTag: "v2" }, image: "web:v2" },
    ])("an image with $file in the file and $spec in the spec is $image (43)", async ({ file, spec, image }) => {
      const world = await newWorld();
      const template = {
        metadata: { labels: { app: "web" } },
        spec: { containers: [{ name: "c", image: "web:1.0" }] },
      };
      const deployment = {
        ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
        spec: { replicas: 0, selector: { matchLabels: { app: "web" } }, template },
      };
      const files = {
        "kustomization.yaml": yaml({ resources: ["web.yaml"], images: [{ name: "web", ...file }] }),
        "web.yaml": yaml(deployment),
      };
      expect(await run(world, files, { images: [{ name: "web", ...spec }] })).toMatch(/^True /);
      expect((await world.get("Deployment", "web", "apps/v1"))?.["spec"]).toMatchObject({
        template: { spec: { containers: [{ image }] } },
      });
    });

    test("components are local, and missing ones are skipped on request (44)", async () => {
      const world = await newWorld();
      const files = { "app/x.yaml": configMap("x"), "a/kustomization.yaml": component };
      const spec = { path: "app", components: ["../a", "../missing"] };
      expect(await run(world, files, spec)).toMatch(/^False BuildFailed: .*missing/);
      expect(await run(world, files, { ...spec, ignoreMissingComponents: true })).toMatch(/^True /);
      expect(await built(world)).toEqual(["x-a"]);
      expect(await run(world, files, { ...spec, components: ["https://example.test/c"] })).toBe(
        "False BuildFailed: component path 'https://example.test/c' must be local and relative",
      );
    });

    test("build metadata and common metadata are written, and removed when the spec drops them (45, 46)", async () => {
      const world = await newWorld();
      const files = { "a.yaml": configMap("a", { k: "v" }, { tenant: "old" }) };
      const both = { labels: { tenant: "t", team: "x" }, annotations: { tenant: "t" } };
      await run(world, files, { buildMetadata: ["originAnnotations"], commonMetadata: both });
      expect((await world.get("ConfigMap", "a"))?.metadata).toMatchObject({
        labels: { tenant: "t", team: "x" },
        annotations: { tenant: "t", "config.kubernetes.io/origin": "path: a.yaml\n" },
      });
      await run(world, files);
      const { annotations, labels } = (await world.get("ConfigMap", "a"))?.metadata ?? {};
      expect(annotations ?? {}).toEqual({});
      expect(labels).toMatchObject({ tenant: "old" });
      expect(labels).not.toHaveProperty("team");
    });

    test("a definition with an invalid caBundle is applied without it (87)", async () => {
      const world = await newWorld();
      const group = `${world.namespace}.example.test`;
      const url = "https://convert.example.test";
      const webhook = { conversionReviewVersions: ["v1"], clientConfig: { url, caBundle: "Cg==" } };
      const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
      const definition = {
        ...{ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition" },
        metadata: { name: `gears.${group}` },
        spec: {
          ...{ group, scope: "Namespaced", names: { plural: "gears", singular: "gear", kind: "Gear" } },
          conversion: { strategy: "Webhook", webhook },
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      };
      expect(await run(world, { "crd.yaml": yaml(definition) })).not.toMatch(/^False /);
      const ref = { group: "apiextensions.k8s.io", version: "v1", kind: definition.kind, namespace: "" };
      const named = { ...ref, name: definition.metadata.name };
      const spec = (await world.cluster.get(named, world.signal))?.["spec"];
      expect(spec).toMatchObject({ conversion: { webhook: { clientConfig: { url } } } });
      expect(JSON.stringify(spec)).not.toContain("Cg==");
      await world.cluster.delete(named, { propagation: "Background" }, world.signal);
    });

    test("a port without protocol is not drift, and ids escape special characters in names (88, 95)", async () => {
      const world = await newWorld();
      const rbac = "rbac.authorization.k8s.io";
      const role = { apiVersion: `${rbac}/v1`, kind: "ClusterRole", rules: [] };
      const service = { apiVersion: "v1", kind: "Service", metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } };
      const files = {
        "s.yaml": yaml(service),
        "r.yaml": yaml({ ...role, metadata: { name: `system:${world.namespace}` } }),
      };
      expect(await run(world, files)).toMatch(/^True /);
      expect((await world.inventory("app")).map(({ id }) => id)).toContain(
        `_system__${world.namespace}_${rbac}_ClusterRole`,
      );
      const before = (await world.get("Service", "s"))?.metadata.resourceVersion;
      const events = (await world.events("app")).length;
      await world.run("app");
      expect((await world.get("Service", "s"))?.metadata.resourceVersion).toBe(before);
      expect((await world.events("app")).length).toBe(events + 1);
      await world.remove("app");
      await world.run("app");
    });

    test("a success runs again after its interval, a failure after exactly retryInterval (13, 14)", async () => {
      const world = await newWorld();
      await world.publish("v1", [manifest("a")]);
      await world.kustomization("app", { interval: "10m" });
      const { dueInMs = 0 } = await world.run("app");
      expect(Math.abs(dueInMs - 600_000)).toBeLessThanOrEqual(30_000);
      expect((await world.events("app")).at(-1)).toMatch(/, next run in 10m0s$/);
      await world.publish("v2", [{ ...manifest("a"), kind: "Nothing" }]);
      await world.kustomization("app", { interval: "10m", retryInterval: "2m" });
      expect(await world.run("app")).toMatchObject({ outcome: "failed", dueInMs: 120_000 });
      await world.kustomization("other", { interval: "10m" });
      expect(await world.run("other")).toMatchObject({ outcome: "failed", dueInMs: 600_000 });
    });

    test("of six revisions the history has the last five, the newest first (117)", async () => {
      const world = await newWorld();
      await world.kustomization("app");
      const revisions: string[] = [];
      for (const k of ["1", "2", "3", "4", "5", "6"]) {
        revisions.push(await world.publish(`v${k}`, [manifest("a", { k })]));
        world.clock.advance(1_000);
        await world.run("app");
      }
      const history = Revisions.parse((await world.status("app"))["history"]);
      expect(history.map(({ metadata }) => metadata.revision)).toEqual(revisions.toReversed().slice(0, 5));
    });
  });
}
