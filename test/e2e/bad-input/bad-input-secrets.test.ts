import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canary } from "../canary.ts";
import { type BadInputWorld, badInputWorld } from "./bad-input-world.ts";
import { secretCases } from "./secret-cases.ts";

let world: BadInputWorld;

beforeAll(async () => {
  world = await badInputWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe("a failure with data of a Secret is reported without the data", () => {
  test.each(secretCases)("$name", async ({ name, files, spec = {}, says }) => {
    expect(JSON.stringify([files, spec])).toContain("c4n4ry");
    await world.push(name, files);
    await world.source(name);
    await world.kustomization(name, { ...spec, retryInterval: "1h" });
    await expect.poll(() => world.ready("Kustomization", name), { interval: 50 }).toContain(says);
    expect(await world.leaks()).toEqual([]);
  });

  test("the data is not shown either if a Secret is applied after all", async () => {
    const text = `apiVersion: v1\nkind: Secret\nmetadata:\n  name: good\n  namespace: default\nstringData:\n  a: ${canary}\n`;
    await world.push("good", { "s.yaml": text });
    await world.source("good");
    await world.kustomization("good");
    await expect.poll(() => world.ready("Kustomization", "good")).toContain("Applied revision");
    expect(await world.leaks()).toEqual([]);
  });
});
