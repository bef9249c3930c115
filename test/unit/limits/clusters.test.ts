import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { messageOf } from "../../../lib/core/failure.ts";
import { maxAnswerBytes } from "../../../lib/kube/answer-limits.ts";
import { errorOf, maxCauseChars, maxCauses, maxMessageChars } from "../../../lib/kube/api-answer.ts";
import { apiClient, maxLimitMs } from "../../../lib/kube/api-client.ts";
import { connect } from "../../../lib/kube/connect.ts";
import { credentials, maxTokenBytes } from "../../../lib/kube/credentials.ts";
import { execCredential, maxOutputBytes, timeLimitMs } from "../../../lib/kube/exec-credential.ts";
import { inClusterConfig, maxInClusterFileBytes } from "../../../lib/kube/in-cluster.ts";
import { maxKubeconfigBytes, readKubeconfigFile } from "../../../lib/kube/kubeconfig-file.ts";
import { maxStoredKubeconfigBytes, readStoredKubeconfig } from "../../../lib/kube/secret-kubeconfig.ts";
import { maxEventBytes } from "../../../lib/kube/watch-events.ts";
import { apiDeps, configMapOf, configOf, fakeApi, readNodes, sendDiscovery } from "../kube/fake-api.ts";

const { signal } = new AbortController();
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-limits-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("limits on an API server's answers", () => {
  test("apply to the bytes of an answer", async () => {
    const told = async (bytes: number): Promise<string> => {
      await using api = await fakeApi((_, response) => response.end("{}".padEnd(bytes)));
      const client = apiClient(configOf(api.url), apiDeps);
      const answer = await client.send(readNodes, signal).then(({ text }) => String(text.length), messageOf);
      client.close();
      return answer;
    };
    expect(await told(maxAnswerBytes - 1)).toBe(String(maxAnswerBytes - 1));
    expect(await told(maxAnswerBytes)).toBe(String(maxAnswerBytes));
    expect(await told(maxAnswerBytes + 1)).not.toMatch(/^\d+$/);
  });

  test("apply to the bytes of an event in a watch", async () => {
    const told = async (bytes: number): Promise<string> => {
      const event = JSON.stringify({ type: "ADDED", object: configMapOf("a") });
      await using api = await fakeApi((request, response) => {
        if (!sendDiscovery(request, response)) response.end(`${event.padEnd(bytes)}\n`);
      });
      const cluster = connect(configOf(api.url), apiDeps);
      const events = cluster.watch({ group: "", version: "v1", kind: "ConfigMap" }, signal)[Symbol.asyncIterator]();
      const first = await events.next().then(({ done, value }) => (done === true ? "" : value.type), messageOf);
      cluster.close();
      return first;
    };
    expect(await told(maxEventBytes - 1)).toBe("ADDED");
    expect(await told(maxEventBytes)).toBe("ADDED");
    expect(await told(maxEventBytes + 1)).toBe("the cluster broke off a watch");
  });

  test("apply to the texts of an error", () => {
    const told = (message: number, cause: number, causes: number) => {
      const details = { causes: Array.from({ length: causes }, () => ({ message: "x".repeat(cause), field: "f" })) };
      const status = { kind: "Status", code: 422, reason: "Invalid", message: "x".repeat(message), details };
      return errorOf({ status: 422, headers: {}, rawHeaders: [], text: JSON.stringify(status) });
    };
    const at = told(maxMessageChars, maxCauseChars, maxCauses);
    expect(at.message).toHaveLength(maxMessageChars);
    expect(at.causes).toHaveLength(maxCauses);
    expect(at.causes[0]?.message).toHaveLength(maxCauseChars);
    const above = told(maxMessageChars + 1, maxCauseChars + 1, maxCauses + 1);
    expect(above.message).toMatch(/^x{16384}… \(1 more letters\)$/);
    expect(above.causes).toHaveLength(maxCauses);
    expect(above.causes[0]?.message).toMatch(/^x{2048}… \(1 more letters\)$/);
  });

  test("apply to the time of a call, whatever a caller allows", async () => {
    const stop = new AbortController();
    let now = 0;
    await using api = await fakeApi(() => {
      now += maxLimitMs;
      stop.abort(new Error("enough"));
    });
    const clock = { ...apiDeps.clock, monotonic: () => now };
    const client = apiClient(configOf(api.url), { ...apiDeps, clock, limitMs: maxLimitMs * 100 });
    await expect(client.send(readNodes, stop.signal)).rejects.toThrow("enough");
    // The next one is out of time as soon as it asks: what was given beyond the limit does not count.
    const late = { ...clock, monotonic: () => (now += maxLimitMs) };
    const second = apiClient(configOf(api.url), { ...apiDeps, clock: late, limitMs: maxLimitMs * 100 });
    await expect(second.send(readNodes, signal)).rejects.toThrow("no time was left for the request");
    client.close();
    second.close();
  });
});

describe("limits on credentials", () => {
  async function written(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  test("apply to a kubeconfig", async () => {
    const read = async (bytes: number) => readKubeconfigFile(await written("kubeconfig", "{}".padEnd(bytes)));
    expect(await read(maxKubeconfigBytes - 1)).toBeDefined();
    expect(await read(maxKubeconfigBytes)).toBeDefined();
    await expect(read(maxKubeconfigBytes + 1)).rejects.toThrow(`larger than ${maxKubeconfigBytes} bytes`);
  });

  test("apply to a kubeconfig in a Secret", async () => {
    const told = async (bytes: number) => {
      const stored = {
        secret: "t/remote",
        key: "value",
        id: "u",
        version: "1",
        bytes: Buffer.from("a: b".padEnd(bytes)),
      };
      return readStoredKubeconfig(stored).catch(messageOf);
    };
    expect(await told(maxStoredKubeconfigBytes - 1)).toContain("invalid configuration");
    expect(await told(maxStoredKubeconfigBytes)).toContain("invalid configuration");
    expect(await told(maxStoredKubeconfigBytes + 1)).toContain(`${maxStoredKubeconfigBytes} are allowed`);
  });

  test("apply to the files of a Pod's service account", async () => {
    const read = async (bytes: number) => {
      await written("namespace", "apps");
      await written("ca.crt", "c".repeat(bytes));
      return inClusterConfig({ KUBERNETES_SERVICE_HOST: "h", KUBERNETES_SERVICE_PORT: "1" }, folder);
    };
    expect((await read(maxInClusterFileBytes - 1))?.namespace).toBe("apps");
    expect((await read(maxInClusterFileBytes))?.namespace).toBe("apps");
    await expect(read(maxInClusterFileBytes + 1)).rejects.toThrow(`larger than ${maxInClusterFileBytes} bytes`);
  });

  test("apply to a token file", async () => {
    const read = async (bytes: number) => {
      const path = await written("token", "t".repeat(bytes));
      const user = {
        name: "u",
        certificate: undefined,
        token: { kind: "file", path },
        impersonate: undefined,
      } as const;
      const { headers } = await credentials(user, {}, { now: () => 0 }).current(signal);
      return headers["authorization"]?.length;
    };
    expect(await read(maxTokenBytes - 1)).toBe("Bearer ".length + maxTokenBytes - 1);
    expect(await read(maxTokenBytes)).toBe("Bearer ".length + maxTokenBytes);
    await expect(read(maxTokenBytes + 1)).rejects.toThrow(`larger than ${maxTokenBytes} bytes`);
  });

  test("apply to the output of a credential plugin, and to its time", async () => {
    const apiVersion = "client.authentication.k8s.io/v1";
    const answer = JSON.stringify({ apiVersion, kind: "ExecCredential", status: { token: "t" } });
    const ask = async (bytes: number) => {
      const output = await written("output", answer.padEnd(bytes));
      const command = await written("plugin", `#!/bin/sh\ncat ${output}\n`);
      await chmod(command, 0o755);
      const plugin = { apiVersion, command, args: [], env: {}, installHint: undefined, cluster: undefined };
      return (
        await execCredential(plugin, { PATH: process.env["PATH"] }, new AbortController().signal)
      ).token?.reveal();
    };
    expect(await ask(maxOutputBytes - 1)).toBe("t");
    expect(await ask(maxOutputBytes)).toBe("t");
    await expect(ask(maxOutputBytes + 1)).rejects.toMatchObject({ reason: "Unauthorized" });
    // A call to a cluster waits for it only as long as it has time itself.
    expect(timeLimitMs).toBeGreaterThan(maxLimitMs);
  });
});
