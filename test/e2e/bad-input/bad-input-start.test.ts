import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnLocal } from "../../../local/sluice-process.ts";
import { portOnLoopback } from "../../doubles/port-on-loopback.ts";

const { signal } = new AbortController();
let folder: string;
let server: Server;
let address: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-start-"));
  server = createServer((_, response) => response.writeHead(401).end());
  address = `http://127.0.0.1:${await portOnLoopback(server)}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** The one line that a start ends with instead of being ready. */
async function refusal(...args: readonly string[]): Promise<string> {
  try {
    const local = await spawnLocal(args, signal);
    await local.end("SIGKILL");
    return "ready";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function oneLine(says: string): RegExp {
  const escaped = says.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`^sluice local ended with 1 before it was ready: ✗ sluice local: [^\\n]*${escaped}[^\\n]*$`);
}

function kubeconfig(cluster: string, user: object): string {
  return JSON.stringify({
    "current-context": "c",
    clusters: [{ name: "c", cluster: { server: cluster } }],
    users: [{ name: "u", user }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
  });
}

describe("an unusable kubeconfig gives one clear line, and the process exits with 1", () => {
  const expired = ["{}", JSON.stringify({ exp: 1_000_000_000 }), "signature"]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");

  test.each([
    { name: "with a token that has expired", user: { token: expired }, says: "token has expired at 2001-09-09" },
    { name: "whose token the server does not know", user: { token: "hunter2" }, says: "cannot be used" },
    {
      name: "that points to no server",
      user: {},
      server: "http://127.0.0.1:1",
      says: "connect ECONNREFUSED 127.0.0.1:1",
    },
  ])("$name", async ({ user, server: elsewhere, says }) => {
    const file = join(folder, "kubeconfig");
    await writeFile(file, kubeconfig(elsewhere ?? address, user));
    const message = await refusal("--state", join(folder, "other"), "--kubeconfig", file);
    expect(message).toMatch(oneLine(says));
    expect(message).toContain(file);
    expect(message).not.toContain("hunter2");
  });
});

describe("an unusable state folder gives one clear line, and the process exits with 1", () => {
  let state: string;
  beforeAll(async () => {
    state = join(folder, "state");
    const local = await spawnLocal(["--state", state], signal);
    await local.end("SIGTERM");
  });

  test("with a file in its place", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    expect(await refusal("--state", file)).toMatch(oneLine(`the state folder ${file} cannot be used: EEXIST`));
    expect(await refusal("--state", join(file, "below"))).toMatch(oneLine("cannot be used: ENOTDIR"));
  });

  test("of a newer version", async () => {
    const layout = join(state, "layout");
    const before = await readFile(layout);
    await writeFile(layout, "999\n");
    expect(await refusal("--state", state)).toMatch(oneLine("was written by a newer Sluice (layout 999"));
    await writeFile(layout, before);
  });

  const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
    "cut off": (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2)),
    "no database": () => Buffer.from("garbage ".repeat(2_000)),
    "overwritten in its middle": (bytes) => Buffer.from(bytes).fill(0xff, 8_192, bytes.length - 8_192),
  };
  const cases = ["state.db", "kubernetes.db"].flatMap((name) => Object.keys(damages).map((how) => ({ name, how })));
  test.each(cases)("with a $name that is $how", async ({ name, how }) => {
    const file = join(state, name);
    const before = await readFile(file);
    await writeFile(file, damages[how]?.(before) ?? "");
    expect(await refusal("--state", state)).toMatch(oneLine(name));
    await writeFile(file, before);
  });

  test("a file of ports that cannot be read is replaced, with new ports", async () => {
    await writeFile(join(state, "ports.json"), "{{{");
    expect(await refusal("--state", state)).toBe("ready");
  });
});
