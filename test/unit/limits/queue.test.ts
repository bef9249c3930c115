import { describe, expect, test } from "vitest";
import { maxAwsNameChars } from "../../../functions/ingest/announcement.ts";
import { codeCommit, maxRefChars, maxRepositoryChars } from "../../../functions/ingest/code-commit.ts";
import { EcrAction, maxEcrNameChars } from "../../../functions/ingest/ecr.ts";
import { maxBucketChars, maxObjectKeyChars, s3 } from "../../../functions/ingest/s3.ts";
import { reconcileHandler } from "../../../functions/reconcile.ts";
import { maxBatch } from "../../../functions/sqs-batch.ts";
import { maxUnpackedBytes, pack, unpack } from "../../../lib/aws/dynamodb/rows.ts";
import { messageBody } from "../../../lib/core/ports/message-body.ts";
import {
  LookRequest,
  maxHolderChars,
  maxKeyChars,
  maxMessageBytes,
  maxVersionChars,
  WakeUp,
} from "../../../lib/core/ports/wake-ups.ts";
import { formatWorkKey } from "../../../lib/core/work-key.ts";
import { requestReconcile } from "../../../lib/queue/request-reconcile.ts";
import { maxFaultLength } from "../../../lib/queue/run-under-lease.ts";
import { never } from "../../contract/state-back-end.ts";
import { openGate } from "../../doubles/open-gate.ts";
import { openLimits } from "../../doubles/open-limits.ts";
import { recordedMetrics } from "../../doubles/recorded-metrics.ts";
import { applied, key, queueWorld } from "../queue/queue-world.ts";

describe("limits on messages of a queue", () => {
  test("apply to the bytes of a message", () => {
    const body = (bytes: number) => messageBody("ä".repeat((bytes - 2) / 2)).length;
    expect(() => body(maxMessageBytes - 2)).not.toThrow();
    expect(() => body(maxMessageBytes)).not.toThrow();
    expect(() => body(maxMessageBytes + 2)).toThrow("is too long for a queue");
  });

  test("apply to the key of a wake-up", () => {
    const isTaken = (length: number) => WakeUp.safeParse({ key: "k".repeat(length) }).success;
    expect([maxKeyChars - 1, maxKeyChars, maxKeyChars + 1].map(isTaken)).toEqual([true, true, false]);
  });

  test("apply to the uid and the resourceVersion in a hint about a change", () => {
    const isTaken = (length: number) => {
      const before = { uid: "u".repeat(length), resourceVersion: "1".repeat(length) };
      return LookRequest.safeParse({ look: { key: "k", before, tries: 0 } }).success;
    };
    expect([maxVersionChars, maxVersionChars + 1].map(isTaken)).toEqual([true, false]);
  });

  test("apply to the lease name in a wake-up: a longer one is ignored", () => {
    const heldOf = (length: number) =>
      WakeUp.parse({ key: "k", held: { holder: "h".repeat(length), renewals: 0 } }).held;
    expect(heldOf(maxHolderChars)?.holder).toHaveLength(maxHolderChars);
    expect(heldOf(maxHolderChars + 1)).toBeUndefined();
  });

  test("apply to the messages of an invocation", async () => {
    const { deps } = queueWorld();
    const handler = reconcileHandler({
      ...deps,
      clusters: { get: () => ({ gate: openGate }) },
      limits: openLimits,
      metrics: recordedMetrics(),
      flowOf: () => undefined,
      extendVisibility: async () => undefined,
      sweepCluster: async () => undefined,
      lookAtObject: async () => undefined,
    });
    const body = JSON.stringify({ key: formatWorkKey(key) });
    const failures = async (count: number) => {
      const Records = Array.from({ length: count }, () => ({ messageId: "m", receiptHandle: "r", body }));
      return (await handler({ Records }, never)).batchItemFailures.length;
    };
    expect(await failures(maxBatch - 1)).toBe(0);
    expect(await failures(maxBatch)).toBe(0);
    await expect(failures(maxBatch + 1)).rejects.toThrow("Too big");
  });

  test("apply to the names in an event of ECR", () => {
    const isTaken = (names: { account?: string; region?: string }, detail: object) =>
      EcrAction.safeParse({
        source: "aws.ecr",
        "detail-type": "ECR Image Action",
        account: "1",
        region: "r",
        ...names,
        detail: { "action-type": "PUSH", result: "SUCCESS", "repository-name": "app", ...detail },
      }).success;
    const aws = [maxAwsNameChars - 1, maxAwsNameChars, maxAwsNameChars + 1].map((length) => "a".repeat(length));
    expect(aws.map((account) => isTaken({ account }, {}))).toEqual([true, true, false]);
    expect(aws.map((region) => isTaken({ region }, {}))).toEqual([true, true, false]);
    const ecr = [maxEcrNameChars - 1, maxEcrNameChars, maxEcrNameChars + 1].map((length) => "a".repeat(length));
    for (const field of ["repository-name", "image-tag", "image-digest"]) {
      expect(ecr.map((text) => isTaken({}, { [field]: text }))).toEqual([true, true, false]);
    }
  });

  test.each([
    {
      what: "the bucket of an event of S3",
      most: maxBucketChars,
      sender: s3,
      detail: (text: string) => ({ bucket: { name: text }, object: { key: "k" } }),
    },
    {
      what: "the key of an event of S3",
      most: maxObjectKeyChars,
      sender: s3,
      detail: (text: string) => ({ bucket: { name: "b" }, object: { key: text } }),
    },
    {
      what: "the repository of an event of CodeCommit",
      most: maxRepositoryChars,
      sender: codeCommit,
      detail: (text: string) => ({ event: "referenceUpdated", repositoryName: text }),
    },
    {
      what: "the ref of an event of CodeCommit",
      most: maxRefChars,
      sender: codeCommit,
      detail: (text: string) => ({ event: "referenceUpdated", repositoryName: "r", referenceFullName: text }),
    },
  ])("$what", ({ most, sender, detail }) => {
    const isTaken = (length: number): boolean => {
      const event = {
        source: sender.source,
        "detail-type": "t",
        account: "1",
        region: "r",
        detail: detail("a".repeat(length)),
      };
      try {
        return sender.read(event, { registryHosts: () => [] }) !== undefined;
      } catch {
        return false;
      }
    };
    expect([most - 1, most, most + 1].map(isTaken)).toEqual([true, true, false]);
  });
});

test("the error text in a work item has a limit", async () => {
  const { deps, handle, row } = queueWorld();
  const failing = async (length: number): Promise<number | undefined> => {
    await requestReconcile(key, "test", deps, never);
    await handle(applied);
    await requestReconcile(key, "test", deps, never);
    await handle(() => Promise.reject(new Error("x".repeat(length))));
    const { fault } = row() ?? {};
    const dueAt = row()?.dueAt;
    await handle(applied, { key: formatWorkKey(key), ...(dueAt === undefined ? {} : { dueAt }) });
    return fault?.length;
  };
  expect(await failing(maxFaultLength - 1)).toBe(maxFaultLength - 1);
  expect(await failing(maxFaultLength)).toBe(maxFaultLength);
  expect(await failing(maxFaultLength + 1)).toBe(maxFaultLength);
});

test("the unpacked size of a row has a limit", () => {
  const lengthOf = (bytes: number) => unpack(pack("x".repeat(bytes))).length;
  expect(lengthOf(maxUnpackedBytes - 1)).toBe(maxUnpackedBytes - 1);
  expect(lengthOf(maxUnpackedBytes)).toBe(maxUnpackedBytes);
  expect(() => lengthOf(maxUnpackedBytes + 1)).toThrow("Cannot create a Buffer larger than");
});
