import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Manifest } from "../../../../lib/core/manifest.ts";
import { routesWorlds, type Scene } from "./routes-world.ts";

const definition = join(import.meta.dirname, "../../../../local/demo/gateway-api/httproutes.json");
const worldOf = routesWorlds("definition", [z.custom<Manifest>().parse(JSON.parse(readFileSync(definition, "utf8")))]);

const scenes: readonly (readonly [title: string, scene: Scene])[] = [
  ["a plain route", { service: {} }],
  ["hosts", { service: { hosts: ["app.example.test"] } }],
  ["conditions on headers only", { service: { match: [{ headers: { a: { exact: "b" } } }] } }],
  [
    "conditions on all",
    {
      service: {
        match: [
          {
            uri: { regex: "/a.*" },
            method: { exact: "GET" },
            headers: { a: { regex: "b" } },
            queryParams: { q: { exact: "x" } },
          },
        ],
      },
    },
  ],
  [
    "changed requests",
    {
      service: {
        headers: { request: { add: { a: "b" }, set: { c: "d" }, remove: ["e"] }, response: { remove: ["f"] } },
        rewrite: { uri: "/", authority: "api.example.test" },
        mirror: [{ backendRef: { name: "shadow", port: 80 } }],
        timeout: "15s",
        backendTimeout: "5s",
      },
    },
  ],
  [
    "an A/B test",
    {
      analysis: { iterations: 2, match: [{ headers: { a: { exact: "b" } } }, { queryParams: { q: { exact: "1" } } }] },
    },
  ],
  ["a mirror", { analysis: { mirror: true, iterations: 2 }, status: { phase: "Progressing" } }],
  ["session affinity", { analysis: { sessionAffinity: { cookieName: "c", primaryCookieName: "p" } } }],
];

describe("with the definition of Gateway API 1.2", () => {
  it.each(scenes)("the API server accepts %s, and the next step writes nothing", async (_, scene) => {
    const world = await worldOf();
    await world.router(scene).ensure();
    for (const routes of [
      { primary: 100, canary: 0, isMirrored: scene.analysis?.["mirror"] === true },
      { primary: 60, canary: 40, isMirrored: false },
      { primary: 100, canary: 0, isMirrored: false },
    ]) {
      const changes = await world.router(scene).setRoutes(routes);
      const next: Scene = { ...scene, status: { ...scene.status, ...changes } };
      world.writes.splice(0);
      await world.router(next).ensure();
      expect(world.writes).toEqual([]);
      expect(await world.router(next).routes()).toEqual(routes);
    }
  });
});
