import { describe, expect, test } from "vitest";
import { z } from "zod";
import { file, seenSources } from "./seen-sources.ts";
import { ociRepository } from "./source-world.ts";

const { world, url } = seenSources();

describe("an artifact that was replaced", () => {
  const recordedOf = () => [...world().recorded].map((record) => record.split(" ")[1]);
  const digestInStatus = () =>
    z.object({ artifact: z.object({ digest: z.string() }) }).parse(world().get("app")["status"]).artifact.digest;

  test("11.1/14: is deleted, except the last one, which a consumer may still be reading", async () => {
    world().apply(ociRepository("app", { url: url() }));
    const stored: string[] = [];
    for (const version of ["1", "2", "3"]) {
      await world().push("latest", { "a.yaml": `v: ${version}\n` });
      await world().run();
      stored.push(digestInStatus());
      // Nothing new: nothing is forgotten.
      await world().run();
    }
    expect(recordedOf()).toEqual(stored.slice(1));
    expect(world().stored.size).toBe(3);
  });

  test("is kept until the status names its replacement: a run that is killed earlier deletes nothing", async () => {
    world().apply(ociRepository("app", { url: url() }));
    await world().push("latest", { "a.yaml": "v: 1\n" });
    await world().run();
    const first = digestInStatus();
    for (const version of ["2", "3"]) {
      await world().push("latest", { "a.yaml": `v: ${version}\n` });
      world().refuseStatus(true);
      await expect(world().run()).rejects.toThrow("the API server is away");
      world().refuseStatus(false);
      expect(recordedOf()).toContain(first);
    }
    await world().run();
    expect(recordedOf()).toEqual(expect.arrayContaining([first, digestInStatus()]));
  });

  test("11.1/10: is deleted with everything else when the source is deleted", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(recordedOf()).toHaveLength(1);
    world().delete("app");
    await world().run();
    expect(recordedOf()).toEqual([]);
  });
});
