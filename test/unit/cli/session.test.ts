import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type GlobalOptions, TimeIsUp, withCluster } from "../../../cli/session.ts";
import { terminal } from "../../../cli/terminal.ts";

const { signal } = new AbortController();
const kubeconfig = JSON.stringify({
  "current-context": "c",
  clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
  contexts: [{ name: "c", context: { cluster: "c" } }],
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-settings-"));
  await writeFile(join(folder, "kubeconfig"), kubeconfig);
});
afterAll(() => rm(folder, { recursive: true }));

const surroundings = {
  terminal: terminal(
    () => {},
    () => {},
  ),
  ...{ env: {}, homeDir: "/nonexistent", cwd: "/nonexistent", stdin: Readable.from([]), signal, onSignal: () => {} },
  exit: () => {
    throw new Error("exit");
  },
};

describe("the time limit of a command", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Why the command's signal was aborted after so many milliseconds. */
  const abortedAfter = (ms: number, options: GlobalOptions & { readonly watch?: boolean }): Promise<unknown> =>
    withCluster(
      { ...options, kubeconfig: join(folder, "kubeconfig") },
      surroundings,
      async (session): Promise<unknown> => {
        vi.advanceTimersByTime(ms);
        return session.signal.reason;
      },
    );

  test.each([
    ["is 5 minutes", {}, 300_000],
    ["is that of --timeout", { timeout: "10s" }, 10_000],
    ["is that of --timeout with --watch too", { timeout: "10s", watch: true }, 10_000],
  ])("%s", async (_, options, limitMs) => {
    expect(await abortedAfter(limitMs - 1, options)).toBeUndefined();
    expect(await abortedAfter(limitMs, options)).toBeInstanceOf(TimeIsUp);
  });

  test("is none with --watch alone: it ends when the user stops it", async () => {
    expect(await abortedAfter(86_400_000, { watch: true })).toBeUndefined();
  });
});
