import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPorts, startOnPort, writePorts } from "../../../local/remembered-ports.ts";

describe("ports over a restart", () => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "sluice-ports-"));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));

  test("come back as they were written", async () => {
    expect(await readPorts({ path })).toEqual({});
    await writePorts({ path }, { api: 1, registry: 2, receiver: 3 });
    expect(await readPorts({ path })).toEqual({ api: 1, registry: 2, receiver: 3 });
  });

  test.each(["", "{", '{"api":"x"}', '{"api":70000}'])("a damaged file (%s) counts as none", async (content) => {
    await writeFile(join(path, "ports.json"), content);
    expect(await readPorts({ path })).toEqual({});
  });

  const taken = 7_000;
  const start = async (port: number): Promise<number> => {
    if (port === taken) throw new Error("taken");
    return port === 0 ? 50_000 : port;
  };

  test.each([
    { name: "the one asked for", wanted: 6_000, last: 5_000, port: 6_000 },
    { name: "that of the last time where any will do", wanted: 0, last: 5_000, port: 5_000 },
    { name: "another where that of the last time is taken", wanted: 0, last: taken, port: 50_000 },
    { name: "any at the first time", wanted: 0, last: undefined, port: 50_000 },
  ])("the port is $name", async ({ wanted, last, port }) => {
    expect(await startOnPort(wanted, last, start)).toBe(port);
  });

  test("a port that was asked for and is taken is no other's", async () => {
    await expect(startOnPort(taken, 5_000, start)).rejects.toThrow("taken");
  });
});
