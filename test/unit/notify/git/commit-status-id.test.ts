import { createHash } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { celModule, wasmCel } from "../../../../lib/cel/wasm-cel.ts";
import { commitStatusOf, defaultCommitStatus } from "../../../../lib/notify/commit-status-id.ts";
import { untilDeadline } from "../../../deadline.ts";
import { eventOf, never, providerUid } from "./played-scenario.ts";

const cel = wasmCel({ file: celModule, threads: 1, idleMs: 60_000 });
afterAll(() => cel.close());

const values = {
  event: eventOf({ metadata: { env: "prod", revision: "1.4.2" } }),
  provider: { metadata: { name: "deploys", uid: providerUid, generation: 3 }, spec: { type: "github" } },
  alert: { metadata: { name: "all", namespace: "apps" } },
};
const result = (expression: string, signal = untilDeadline()): Promise<string> =>
  commitStatusOf(expression, values, cel, signal).catch((error: unknown) => String(error));
const failed = "Error: failed to evaluate the spec.commitStatusExpr CEL expression for the event";
const mismatch = `${failed}: failed to compile expression: CEL expression output type mismatch`;

describe("the ID of a commit status without an expression", () => {
  test("is the kind, the name and the first part of the Provider's UID, in lower case", () => {
    expect(defaultCommitStatus("HelmRelease", "cart", providerUid)).toBe("helmrelease/cart/0c9c2e41");
    expect(defaultCommitStatus("Kustomization", "Gitops-System", "ABC")).toBe("kustomization/gitops-system/abc");
  });

  test("66: has this SHA-1 as its key for Bitbucket", () => {
    const id = defaultCommitStatus("HelmRelease", "cart", providerUid);
    expect(createHash("sha1").update(id).digest("hex")).toBe("4faf4afc61196db8e22f5ef0a635c6f82c0399b3");
  });
});

describe("65: commitStatusExpr", () => {
  test.each([
    ["event.metadata.env + '/' + provider.metadata.name", "prod/deploys"],
    ["(event.involvedObject.kind + '/' + alert.metadata.name).lowerAscii()", "kustomization/all"],
    ["string(event.metadata.env)", "prod"],
    ["event.metadata[?'missing'].orValue('none')", "none"],
    ["string(provider.metadata.generation)", "3"],
    ["event.severity + ' ' + event.reason + event.timestamp", "info ApplySucceeded2026-03-02T11:31:07Z"],
    ["''", ""],
  ])("%s is '%s'", async (expression, id) => {
    expect(await result(expression)).toBe(id);
  });

  test.each([
    ["event.metadata.env", "expected string, got dyn"],
    ["provider.metadata.name", "expected string, got dyn"],
    ["event.severity + event.reason", "expected string, got dyn"],
    ["1 + 1", "expected string, got int"],
  ])("%s is refused, because it may not be a string: %s", async (expression, why) => {
    expect(await result(expression)).toBe(`${mismatch}: ${why}`);
  });

  test("that uses another variable does not compile", async () => {
    const said = await result("kustomization.metadata.name + '/' + provider.metadata.uid");
    expect(said).toContain(
      `${failed}: failed to compile expression: failed to parse the CEL expression 'kustomization.metadata.name + '/' + provider.metadata.uid': ERROR: <input>:1:1: undeclared reference to 'kustomization'`,
    );
  });

  test("fails for a key that the metadata lack", async () => {
    expect(await result("event.metadata.missing + '/'")).toBe(
      `${failed}: failed to evaluate the CEL expression 'event.metadata.missing + '/'': no such key: missing`,
    );
  });

  test("reads no metadata if the event has none", async () => {
    const bare = { ...values, event: eventOf({ metadata: {} }) };
    const id = commitStatusOf("string(has(event.metadata))", bare, cel, never);
    expect(await id).toBe("false");
  });

  test("ends with the reason of a caller that aborts", async () => {
    const reason = new Error("shutting down");
    await expect(commitStatusOf("'a'", values, cel, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
