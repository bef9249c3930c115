import { describe, expect, test } from "vitest";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import type { JsonObject } from "../../../lib/core/json.ts";
import { configTopic } from "../../../lib/core/topics.ts";
import { grammar, variables } from "../../unit/manifests/substitute/grammar.ts";
import { configMap } from "./sample-manifests.ts";
import type { World } from "./world.ts";

/** Variables of `spec.postBuild`. */
export function substitutionStories(name: string, newWorld: () => Promise<World>): void {
  describe(`variables on ${name}`, () => {
    const put = async (
      { cluster, namespace }: World,
      kind: "ConfigMap" | "Secret",
      object: string,
      data: JsonObject,
    ) => {
      const content = kind === "Secret" ? { stringData: data } : { data };
      const manifest = { apiVersion: "v1", kind, metadata: { name: object, namespace }, ...content };
      await cluster.apply(manifest, { manager: "test", force: true }, new AbortController().signal);
    };
    const dataOf = async (world: World, object = "a") => (await world.get("ConfigMap", object))?.["data"];
    const messageOf = async (world: World) => {
      const { conditions } = await world.status("app");
      return JSON.stringify(conditions);
    };

    test("come from ConfigMaps and Secrets in their order, and inline ones take precedence (50)", async () => {
      const world = await newWorld();
      await put(world, "ConfigMap", "zones", { zone: "\naz-1a\n", size: "small" });
      await put(world, "Secret", "more", { zone: "\naz-1b\n" });
      await world.publish("v1", [configMap("a", { zone: "${zone}", size: "${size}" })]);
      const substituteFrom = [
        { kind: "ConfigMap", name: "zones" },
        { kind: "Secret", name: "more" },
      ];
      await world.kustomization("app", { postBuild: { substituteFrom } });
      expect(await world.run("app")).toMatchObject({ outcome: "applied" });
      expect(await dataOf(world)).toEqual({ zone: "az-1b", size: "small" });

      await world.kustomization("app", { postBuild: { substituteFrom, substitute: { zone: "az-1c" } } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ zone: "az-1c", size: "small" });
    });

    test("that change are applied by the next run, and unchanged ones cause no write", async () => {
      const world = await newWorld();
      await put(world, "ConfigMap", "vars", { color: "blue" });
      await world.publish("v1", [configMap("a", { color: "${color}" })]);
      await world.kustomization("app", { postBuild: { substituteFrom: [{ kind: "ConfigMap", name: "vars" }] } });
      await world.run("app");
      const before = (await world.get("ConfigMap", "a"))?.metadata.resourceVersion;
      await world.run("app");
      expect((await world.get("ConfigMap", "a"))?.metadata.resourceVersion).toBe(before);
      await put(world, "ConfigMap", "vars", { color: "green" });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "green" });
    });

    test("wake the Kustomization when they change: it subscribes to their objects before it reads them, also to missing ones", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", {})]);
      const substituteFrom = [
        { kind: "ConfigMap", name: "vars", optional: true },
        { kind: "Secret", name: "more" },
      ];
      await world.kustomization("app", { postBuild: { substituteFrom } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const topicOf = (kind: "ConfigMap" | "Secret", object: string) =>
        configTopic({ cluster: "test", kind, namespace: world.namespace, name: object });
      expect(world.subscriptionsOf("app")).toEqual(
        expect.arrayContaining([topicOf("ConfigMap", "vars"), topicOf("Secret", "more")]),
      );
      await world.kustomization("app", { postBuild: { substituteFrom: substituteFrom.slice(0, 1) } });
      await world.run("app");
      expect(world.subscriptionsOf("app").filter((topic) => topic.startsWith("cfg#"))).toEqual([
        topicOf("ConfigMap", "vars"),
      ]);
    });

    test("may be missing if they are optional, and otherwise fail the build (51)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { color: "${color:=blue}" })]);
      const postBuild = (optional: boolean): JsonObject => ({
        substituteFrom: [{ kind: "ConfigMap", name: "none", optional }],
        substitute: { other: "x" },
      });
      await world.kustomization("app", { postBuild: postBuild(false) });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await messageOf(world)).toContain(
        `post build failed for 'ConfigMap.v1.[noGrp]/a': substitute from 'ConfigMap/none' error: configmaps \\"none\\" not found`,
      );
      expect(await dataOf(world)).toBeUndefined();
      await world.kustomization("app", { postBuild: postBuild(true) });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "blue" });
    });

    test("of a Secret that are not UTF-8 fail the objects that use them, with Flux's text, unless a later source overrides them", async () => {
      const world = await newWorld();
      const { namespace, cluster, signal } = world;
      await world.publish("v1", [configMap("a", { color: "${color}" })]);
      const secret = {
        apiVersion: "v1",
        kind: "Secret",
        metadata: { name: "bytes", namespace },
        data: { color: "//79" },
      };
      await cluster.apply(secret, { manager: "test", force: true }, signal);
      const substituteFrom = [{ kind: "Secret", name: "bytes" }];
      await world.kustomization("app", { postBuild: { substituteFrom } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await messageOf(world)).toContain(
        "post build failed for 'ConfigMap.v1.[noGrp]/a': envsubst error: YAMLToJSON: yaml: invalid leading UTF-8 octet",
      );
      await world.kustomization("app", { postBuild: { substituteFrom, substitute: { color: "blue" } } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "blue" });
    });

    test("are not replaced if there are none, unless the strategy is Always (52, 53)", async () => {
      const world = await newWorld();
      await put(world, "ConfigMap", "vars", {});
      await world.publish("v1", [configMap("a", { color: "${color:=blue}" })]);
      const none = { substituteFrom: [{ kind: "ConfigMap", name: "vars" }] };
      for (const postBuild of [{}, none]) {
        await world.kustomization("app", { postBuild });
        await world.run("app");
        expect(await dataOf(world)).toEqual({ color: "${color:=blue}" });
      }
      await world.kustomization("app", { postBuild: { substituteStrategy: "Always" } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "blue" });
    });

    test("that are unset fail the build, empty ones do not (54, 55)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { color: "x${color}" })]);
      await world.kustomization("app", { postBuild: { substitute: { other: "x" } } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await messageOf(world)).toContain('variable not set (strict mode): \\"color\\"');
      await world.kustomization("app", { postBuild: { substitute: { color: "" } } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "x" });
    });

    test("that are unset are empty with StrictPostBuildSubstitutions off (54)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { color: "x${color}", length: "l${#color}" })]);
      await world.kustomization("app", { postBuild: { substitute: { other: "x" } } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      world.gates = { ...defaultGates, StrictPostBuildSubstitutions: false };
      await world.run("app");
      expect(await dataOf(world)).toEqual({ color: "x", length: "l0" });
    });

    test("are escaped with a second dollar if they are meant as text (56)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { escaped: "$${var}", plain: "$var", double: "a$$b" })]);
      await world.kustomization("app", { postBuild: { substitute: { var: "x" } } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ escaped: "${var}", plain: "$var", double: "a$b" });
    });

    test.each(["${a-b}", "${a.b}"])(
      "with invalid expressions fail the build and are named: %s (57)",
      async (expression) => {
        const world = await newWorld();
        await world.publish("v1", [configMap("a", { k: expression })]);
        await world.kustomization("app", { postBuild: { substitute: { var: "x" } } });
        expect(await world.run("app")).toMatchObject({ outcome: "failed" });
        expect(await messageOf(world)).toContain(`missing closing brace: ${expression}`);
      },
    );

    test("are not replaced in an object that opts out (58)", async () => {
      const world = await newWorld();
      const optOut = (where: "annotations" | "labels", value: string): JsonObject => ({
        [where]: { "kustomize.toolkit.fluxcd.io/substitute": value },
      });
      await world.publish("v1", [
        configMap("a", { k: "${v}" }, optOut("annotations", "disabled")),
        configMap("b", { k: "${v}" }, optOut("annotations", "Disabled")),
        configMap("c", { k: "${v}" }, optOut("labels", "disabled")),
      ]);
      await world.kustomization("app", { postBuild: { substitute: { v: "x" } } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ k: "${v}" });
      expect(await dataOf(world, "b")).toEqual({ k: "x" });
      expect(await dataOf(world, "c")).toEqual({ k: "${v}" });
    });

    test("with an invalid name fail the build (59)", async () => {
      const world = await newWorld();
      await put(world, "ConfigMap", "vars", { "my-var": "x" });
      await world.publish("v1", [configMap("a")]);
      await world.kustomization("app", { postBuild: { substituteFrom: [{ kind: "ConfigMap", name: "vars" }] } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await messageOf(world)).toContain("envsubst error: 'my-var' var name is invalid, must match");
    });

    test("are numbers unless they are quoted (60)", async () => {
      const world = await newWorld();
      await world.publish("v1", [configMap("a", { k: "${q}${number}${q}" })]);
      const substitute = { number: "123", q: '"' };
      await world.kustomization("app", { postBuild: { substitute } });
      await world.run("app");
      expect(await dataOf(world)).toEqual({ k: "123" });
      await world.publish("v2", [configMap("a", {}, { labels: { k: "${number}" } })]);
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      expect(await world.status("app")).toMatchObject({ lastAttemptedRevision: expect.stringContaining("v2") });
    });

    test("are replaced by the whole grammar, row by row (61)", async () => {
      const world = await newWorld();
      // Words around an expression keep its value text, also where it is empty or a number.
      const around = (text: string): string => `is ${text}.`;
      const answers = grammar.map(([, answer]) => (typeof answer === "string" ? around(answer) : undefined));
      const rows = <Value>(values: readonly Value[]): readonly (readonly [string, Value])[] =>
        values.map((value, row) => [`row-${row}`, value]);
      const answered = rows(answers).filter((row): row is readonly [string, string] => row[1] !== undefined);
      const keys = new Set(answered.map(([key]) => key));
      const templates = rows(grammar.map(([template]) => around(template))).filter(([key]) => keys.has(key));
      await world.publish("v1", [configMap("a", Object.fromEntries(templates))]);
      await world.kustomization("app", { postBuild: { substitute: Object.fromEntries(variables) } });
      await world.run("app");
      expect(await dataOf(world)).toEqual(Object.fromEntries(answered));

      const refused = grammar.flatMap(([template, answer]) =>
        typeof answer === "string" ? [] : [{ template, error: answer.error }],
      );
      const messages: { template: string; error: unknown }[] = [];
      for (const [row, { template, error }] of refused.entries()) {
        await world.publish(`bad${row}`, [configMap("a", { k: around(template) })]);
        await world.run("app");
        const message = await world.ready("app");
        messages.push({ template, error: message.includes(error) ? error : message });
      }
      expect(messages).toEqual(refused);
      expect(await dataOf(world)).toEqual(Object.fromEntries(answered));
    });

    test("from Secrets appear in no status, event or log when an object with them is refused", async () => {
      const world = await newWorld();
      await put(world, "Secret", "vars", { port: "hunter2hunter2" });
      const service = {
        apiVersion: "v1",
        kind: "Service",
        metadata: { name: "s" },
        spec: { ports: [{ port: "${port}" }] },
      };
      await world.publish("v1", [service]);
      await world.kustomization("app", { postBuild: { substituteFrom: [{ kind: "Secret", name: "vars" }] } });
      expect(await world.run("app")).toMatchObject({ outcome: "failed" });
      const told = [await messageOf(world), ...(await world.events("app"))].join("\n");
      expect(told).toContain("Service/");
      expect(told).not.toContain("hunter2");
    });
  });
}
