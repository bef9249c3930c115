import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type GlobalOptions, TimeIsUp, withCluster } from "../../../cli/session.ts";
import { terminal } from "../../../cli/terminal.ts";
import { fakeApi, sendJson } from "../kube/fake-api.ts";

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

describe("the cluster and the namespace of a command", () => {
  /** Which of two servers a command with these options asks, and in which namespace. */
  async function reached(options: GlobalOptions, env: Record<string, string> = {}): Promise<string> {
    const serve = (name: string) =>
      fakeApi((_, response) => sendJson(response, 200, { major: "1", minor: "35", gitVersion: name }));
    await using a = await serve("a");
    await using b = await serve("b");
    const text = JSON.stringify({
      "current-context": "of-a",
      clusters: [
        { name: "a", cluster: { server: a.url.href } },
        { name: "b", cluster: { server: b.url.href } },
      ],
      contexts: [
        { name: "of-a", context: { cluster: "a" } },
        { name: "of-b", context: { cluster: "b", namespace: "team" } },
      ],
    });
    const file = join(folder, "two");
    await writeFile(file, text);
    const of = { ...surroundings, env };
    return await withCluster({ ...options, kubeconfig: file }, of, async ({ namespace, serverVersion, ...session }) =>
      [await serverVersion(signal), namespace, ...(session.isNamespaceGiven ? ["given"] : [])].join(" "),
    );
  }

  const follow = { nsFollowsKubeContext: true };
  test.each<[GlobalOptions, Record<string, string>, string]>([
    [{}, {}, "a flux-system"],
    [{ context: "of-b" }, {}, "b flux-system"],
    [{ cluster: "b" }, {}, "b flux-system"],
    [{ cluster: "a" }, {}, "a flux-system"],
    [{ cluster: "b", ...follow }, {}, "b team"],
    [{ context: "of-b" }, { FLUX_NS_FOLLOWS_KUBE_CONTEXT: "true" }, "b team"],
    [{ context: "of-b" }, { FLUX_NS_FOLLOWS_KUBE_CONTEXT: "false" }, "b flux-system"],
    [follow, { FLUX_SYSTEM_NAMESPACE: "ours" }, "a default"],
    [{}, { FLUX_SYSTEM_NAMESPACE: "ours" }, "a ours"],
    [{}, { FLUX_SYSTEM_NAMESPACE: "Not a name" }, "a flux-system"],
    [{ cluster: "b", ...follow, namespace: "apps" }, { FLUX_SYSTEM_NAMESPACE: "ours" }, "b apps given"],
  ])("with %j and %j are %s", async (options, env, what) => {
    expect(await reached(options, env)).toBe(what);
  });

  test("are never guessed from a context and a cluster", async () => {
    await expect(reached({ context: "of-a", cluster: "b" })).rejects.toThrow("give --context or --cluster, not both");
  });
});

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

  test("is unset with --watch, which ends when the user stops it", async () => {
    expect(await abortedAfter(86_400_000, { watch: true })).toBeUndefined();
  });
});
