import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CreateQueueCommand, DeleteQueueCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { sqsClient } from "../../../lib/aws/sqs.ts";
import { realAws } from "../../contract/real-aws.ts";
import { untilDeadline } from "../../deadline.ts";
import { bundleFunction } from "./bundle-function.ts";
import { startFunctionUrl } from "./function-url.ts";
import { invokeAsync } from "./invoke-async.ts";
import { sandboxes } from "./sandbox.ts";
import { feedFromSqs } from "./sqs-source.ts";
import { type FunctionSpec, type LambdaFunction, startFunction } from "./start-function.ts";

const probe = fileURLToPath(new URL("probe-function.ts", import.meta.url));
let folder: string;
let lambda: LambdaFunction | undefined;

beforeAll(async () => {
  const cache = join(import.meta.dirname, "../../../.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "lambda-"));
  await bundleFunction(probe, folder);
});
afterEach(async () => {
  await lambda?.stop();
  lambda = undefined;
});
afterAll(() => rm(folder, { recursive: true }));

async function start(more: Partial<FunctionSpec> = {}): Promise<LambdaFunction> {
  const limits = { memoryMegabytes: 512, timeoutMs: 240_000, region: "eu-west-1" };
  lambda = await startFunction({ name: "probe", folder, env: { SLUICE_TABLE: "t" }, ...limits, ...more });
  return lambda;
}

describe("a bundle that runs as in Lambda", () => {
  test("stays warm between two events and sees only its own environment", async () => {
    const { invoke } = await start();
    expect(await invoke({})).toMatchObject({ kind: "returned", payload: { calls: 1 } });
    const second = await invoke({});
    expect(second).toMatchObject({ kind: "returned", payload: { calls: 2, remainingMs: expect.any(Number) } });
    const names = second.kind === "returned" ? JSON.stringify(second.payload) : "";
    expect(names).toContain("SLUICE_TABLE");
    expect(names).not.toContain("HOME");
  });

  test.each(sandboxes())("may write only to /tmp (%s)", async (sandbox) => {
    const { invoke } = await start({ sandbox });
    const file = `sluice-${randomUUID()}`;
    expect(await invoke({ write: `/tmp/${file}` })).toEqual({ kind: "returned", payload: "x" });
    await rm(`/tmp/${file}`, { force: true });
    // Node's permission model knows one /tmp, the machine's, and a checkout may lie in it.
    for (const place of sandbox === "mount namespace" ? [homedir(), folder, "/mnt/task"] : [homedir(), "/var/tmp"]) {
      expect((await invoke({ write: `${place}/${file}` })).kind).toBe("failed");
    }
  });

  test("reports the error that its handler threw", async () => {
    const { invoke } = await start();
    const error = { errorType: "RangeError", errorMessage: "too far" };
    expect(await invoke({ throws: "too far" })).toMatchObject({ kind: "failed", error });
    expect(await invoke({})).toMatchObject({ kind: "returned", payload: { calls: 2 } });
  });

  test("reports why it could not be loaded", async () => {
    const broken = join(folder, "broken");
    await bundleFunction(probe, broken);
    await writeFile(join(broken, "handler.mjs"), "throw new Error('SLUICE_TABLE is missing')");
    const { invoke } = await start({ folder: broken });
    expect(await invoke({})).toMatchObject({ kind: "failed", error: { errorMessage: "SLUICE_TABLE is missing" } });
  });

  test("is killed when its time is over, and the next event starts it again", async () => {
    const { invoke } = await start({ timeoutMs: 3_000 });
    expect(await invoke({ waitMs: 600_000 })).toEqual({ kind: "lost", reason: "timed out after 3000 ms" });
    expect(await invoke({})).toMatchObject({ kind: "returned", payload: { calls: 1 } });
  });

  test.each([{ inChild: false }, { inChild: true }])(
    "is killed when it exceeds its memory, including child processes %o",
    async (how) => {
      const { invoke } = await start({ memoryMegabytes: 256 });
      const result = await invoke({ ...how, allocateMegabytes: 400, waitMs: 600_000 });
      expect(result).toEqual({ kind: "lost", reason: "over its memory of 256 MB" });
    },
  );

  test("that is killed loses only its answer", async () => {
    const { invoke, pid } = await start();
    await invoke({});
    const lost = invoke({ waitMs: 600_000 });
    process.kill(pid() ?? 0, "SIGKILL");
    expect(await lost).toEqual({ kind: "lost", reason: "the process ended with SIGKILL" });
    expect(await invoke({})).toMatchObject({ kind: "returned", payload: { calls: 1 } });
  });
});

describe("an asynchronous event", () => {
  test("is retried twice", async () => {
    const { invoke } = await start();
    const signal = untilDeadline();
    expect(await invokeAsync({ throwsUntil: 3 }, invoke, 1, signal)).toMatchObject({ payload: { calls: 3 } });
    expect(await invokeAsync({ throws: "always" }, invoke, 1, signal)).toMatchObject({ kind: "failed" });
    expect(await invoke({})).toMatchObject({ payload: { calls: 7 } });
  });
});

describe("a function's URL", () => {
  test("passes the request to the function and its answer back, text unchanged and bytes in base64", async () => {
    const { invoke } = await start();
    const { url, close } = await startFunctionUrl(invoke);
    try {
      for (const [type, body] of [
        ["application/json", '{"a":"ü"}'],
        ["application/octet-stream", "\u0000ü"],
      ] as const) {
        const response = await fetch(`${url}hook/abc?x=1`, { method: "POST", headers: { "content-type": type }, body });
        expect([response.status, response.headers.get("x-path"), await response.text()]).toEqual([
          202,
          "/hook/abc",
          body,
        ]);
      }
    } finally {
      await close();
    }
  });

  test("answers 502 if the function throws, and JSON if the function returns a plain value", async () => {
    const { invoke } = await start();
    const throwing = await startFunctionUrl(() => invoke({ throws: "no" }));
    const plain = await startFunctionUrl(() => invoke({}));
    try {
      expect((await fetch(throwing.url)).status).toBe(502);
      const response = await fetch(plain.url);
      expect([response.status, await response.json()]).toMatchObject([200, { calls: 2 }]);
    } finally {
      await throwing.close();
      await plain.close();
    }
  });
});

const connection = realAws("SQS");

describe.skipIf(connection === undefined)("a queue that feeds a bundle (SLUICE_REAL_SQS names one)", () => {
  test("deletes handled messages and delivers the others again", async () => {
    const of = connection ?? { region: "" };
    const client = sqsClient(of);
    const { QueueUrl: queueUrl = "" } = await client.send(new CreateQueueCommand({ QueueName: randomUUID() }));
    const { invoke, output } = await start();
    const stop = new AbortController();
    const source = { client, queueUrl, queueArn: "arn", region: of.region, batchSize: 10, visibilitySeconds: 1 };
    const feeding = feedFromSqs(source, invoke, stop.signal);
    try {
      for (const MessageBody of ["good", "bad"])
        await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
      const times = (word: string): number => output().split(new RegExp(`\\b${word}\\b`)).length - 1;
      await expect.poll(() => times("bad")).toBeGreaterThan(2);
      expect(times("good")).toBe(1);
    } finally {
      stop.abort();
      await feeding;
      await client.send(new DeleteQueueCommand({ QueueUrl: queueUrl }));
      client.destroy();
    }
  });
});
