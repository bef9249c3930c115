import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { portToTake, readPorts, writePorts } from "../../../local/remembered-ports.ts";

describe("ports over a restart", () => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "sluice-ports-"));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  test("are read back unchanged", async () => {
    expect(await readPorts({ path })).toEqual({});
    await writePorts({ path }, { api: 1, registry: 2, receiver: 3 });
    expect(await readPorts({ path })).toEqual({ api: 1, registry: 2, receiver: 3 });
  });

  test.each(["", "{", '{"api":"x"}', '{"api":70000}'])("a damaged file (%s) counts as missing", async (content) => {
    await writeFile(join(path, "ports.json"), content);
    expect(await readPorts({ path })).toEqual({});
  });

  test.each([
    { name: "the given one", asked: 6_000, last: 5_000, port: 6_000 },
    { name: "that of the last start if none is given", asked: undefined, last: 5_000, port: 5_000 },
    { name: "a free one for 0", asked: 0, last: 5_000, port: 0 },
    { name: "a free one the first time", asked: undefined, last: undefined, port: 0 },
  ])("the port is $name", ({ asked, last, port }) => {
    expect(portToTake(asked, last)).toBe(port);
  });
});
