import { afterAll, describe, expect, test } from "vitest";
import { sourceTopic } from "../../../../lib/core/topics.ts";
import { generatorSpaces, output, repoWith, split, type World } from "./generator-spaces.ts";
import { Killed } from "./generator-world.ts";

const spaces = await generatorSpaces();
const { ready } = spaces;
afterAll(() => spaces[Symbol.asyncDispose]());

describe("an ArtifactGenerator whose run is killed between two writes", () => {
  /** What matters at the end, without times. */
  const end = async (one: World) => ({
    conditions: await one.conditions(),
    inventory: (await one.status()).inventory?.map(({ digest, name }) => `${name} ${digest}`),
    files: [await one.filesOf("web"), await one.filesOf("new")],
    objects: await one.externalArtifacts(),
  });
  const changed = async (one: World) => {
    const kustomization = { ...one.keyOf("Kustomization", "ks"), group: "kustomize.toolkit.fluxcd.io" };
    await one.subscribe(kustomization, sourceTopic(one.keyOf("ExternalArtifact", "new")));
    await repoWith(one, { "apps/web/a.yaml": "web 2", "apps/new/a.yaml": "new" });
    await one.generator({
      ...split(),
      artifacts: [output("web"), { name: "new", copy: [{ from: "@repo/apps/new/**", to: "@artifact/" }] }],
    });
  };

  test("is repaired by the next run: nothing is lost, nothing is left over, and consumers are woken", async () => {
    const whole = await ready();
    await changed(whole);
    const before = whole.writes.length;
    await whole.run();
    const writes = whole.writes.length - before;
    const expected = await end(whole);
    expect(expected.objects).toEqual(["new", "web"]);
    expect(writes).toBeGreaterThan(10);
    for (let left = 0; left < writes; left++) {
      const one = await ready();
      await changed(one);
      one.state.writesLeft = left;
      await expect(one.run()).rejects.toThrow(Killed);
      one.state.writesLeft = Number.POSITIVE_INFINITY;
      await one.run();
      expect(await end(one)).toEqual(expected);
      expect(one.requested).toContain("Kustomization/ks");
      expect(await one.run()).toMatchObject({ outcome: "unchanged" });
    }
  });

  test("leaves nothing over if it is deleted after the killed run", async () => {
    for (let left = 0; left < 30; left++) {
      const one = await ready();
      await changed(one);
      one.state.writesLeft = left;
      await one.run().catch(() => undefined);
      one.state.writesLeft = Number.POSITIVE_INFINITY;
      await one.remove("ArtifactGenerator", "gen");
      await one.run();
      expect(await one.externalArtifacts()).toEqual([]);
      expect(await one.get("ArtifactGenerator", "gen")).toBeUndefined();
    }
  });
});
