import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Condition } from "../../../../lib/api/condition.ts";
import type { SourceStatus } from "../../../../lib/api/source.ts";
import type { LiveObject } from "../../../../lib/core/manifest.ts";
import { ApiError } from "../../../../lib/core/ports/cluster.ts";
import { asHome } from "../../../../lib/core/ports/home-and-target.ts";
import { expectedMode, type Revision, verifyRevision } from "../../../../lib/flows/git-repository/verification.ts";
import type { EventToRecord } from "../../../../lib/flows/record-event.ts";
import type { SourceContext } from "../../../../lib/flows/source/source-context.ts";
import type { GitObject } from "../../../../lib/sources/git/git-object.ts";
import { noCluster } from "../../../doubles/no-cluster.ts";
import { ed25519Signer, type SshSigner, sshSignature } from "../../sources/git/verify/ssh-signer.ts";

const alice = ed25519Signer();
const mallory = ed25519Signer();
const keyId = `SHA256:${createHash("sha256").update(alice.blob).digest("base64").replaceAll("=", "")}`;
const at = Date.parse("2026-11-23T12:00:00Z");

/** Objects by their ids, as they were fetched. */
function repository() {
  const objects = new Map<string, GitObject>();
  const add = (type: GitObject["type"], text: string): string => {
    const bytes = Buffer.from(text);
    const oid = createHash("sha1").update(`${type} ${bytes.length}\0`).update(bytes).digest("hex");
    objects.set(oid, { type, bytes });
    return oid;
  };
  const commit = (by?: SshSigner, message = "hello"): string => {
    const head = `tree ${"1".repeat(40)}\nauthor a <a@example.com> 1 +0000\ncommitter a <a@example.com> 1 +0000\n`;
    const body = `\n${message}\n`;
    if (by === undefined) return add("commit", head + body);
    const signature = sshSignature(by, head + body).trimEnd();
    return add("commit", `${head}gpgsig ${signature.replaceAll("\n", "\n ")}\n${body}`);
  };
  const tag = (object: string, by?: SshSigner, type = "commit"): { name: string; oid: string } => {
    const text = `object ${object}\ntype ${type}\ntag v1\ntagger a <a@example.com> 1 +0000\n\nversion 1\n`;
    return { name: "v1", oid: add("tag", by === undefined ? text : text + sshSignature(by, text)) };
  };
  const read = async (oid: string): Promise<GitObject> => {
    const object = objects.get(oid);
    if (object === undefined) throw new Error(`${oid} was not fetched`);
    return object;
  };
  return { commit, tag, objects: { read } };
}

const secret = (data: Readonly<Record<string, string>>): LiveObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "keys", namespace: "apps", uid: "u", resourceVersion: "1" },
  data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString("base64")])),
});
const trusted = secret({ "alice.sshpub": alice.line });

function world(get: () => Promise<LiveObject | undefined> = async () => trusted, before: SourceStatus = {}) {
  let status = before;
  const events: EventToRecord[] = [];
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- verification asks for no more of its run
  const ctx = {
    home: asHome({ ...noCluster, get }),
    namespace: "apps",
    run: { signal: new AbortController().signal },
    now: () => ({ generation: 1, at }),
    status: () => status,
    setStatus: (next: SourceStatus) => {
      status = next;
    },
    record: async (event: EventToRecord) => void events.push(event),
  } as unknown as SourceContext;
  return { ctx, events, conditions: () => status.conditions ?? [] };
}

const verify = (mode: "head" | "HEAD" | "Tag" | "TagAndHEAD") => ({ mode, secretRef: { name: "keys" } });

describe("verification of a revision", () => {
  test.each([
    { mode: "HEAD", parts: ["commit"] },
    { mode: "head", parts: ["commit"] },
    { mode: "Tag", parts: ["tag"] },
    { mode: "TagAndHEAD", parts: ["tag", "commit"] },
  ] as const)("mode $mode verifies its $parts", async ({ mode, parts }) => {
    const { commit, tag, objects } = repository();
    const head = commit(alice);
    const named = tag(head, alice);
    const { ctx, conditions, events } = world();
    const shown = mode === "head" ? "HEAD" : mode;
    expect(await verifyRevision(verify(mode), { commit: head, tag: named, objects }, ctx)).toBe(shown);
    const lines = {
      commit: `\n\t- commit '${head}' with key '${keyId}'`,
      tag: `\n\t- tag 'v1@${named.oid}' with key '${keyId}'`,
    };
    const message = `verified signature of${parts.map((part) => lines[part]).join("")}`;
    expect(conditions()).toMatchObject([{ type: "SourceVerified", status: "True", reason: "Succeeded", message }]);
    expect(events).toEqual([{ type: "Normal", reason: "Succeeded", message, annotations: {}, isTrace: true }]);
  });

  /** What the run of an object would show, and nothing else than that. */
  async function failureOf(mode: Parameters<typeof verify>[0], revision: Revision, get?: () => Promise<LiveObject>) {
    const { ctx, conditions, events } = world(get);
    const error: unknown = await verifyRevision(verify(mode), revision, ctx).then(
      () => "verified",
      (reason: unknown) => reason,
    );
    expect([conditions(), events]).toEqual([[], []]);
    return error;
  }

  test("fails if a signed tag is required and no tag is set, until the spec changes", async () => {
    const { commit, objects } = repository();
    const head = commit(alice);
    for (const mode of ["Tag", "TagAndHEAD"] as const) {
      expect(await failureOf(mode, { commit: head, objects })).toMatchObject({
        reason: "InvalidVerificationMode",
        retry: "never",
        message: "cannot verify tag object's signature if a tag reference is not specified",
      });
    }
  });

  test("fails for a lightweight tag and for an unsigned tag", async () => {
    const { commit, tag, objects } = repository();
    const head = commit(alice);
    const unsigned = tag(head);
    const message = (name: string): string => `cannot verify signature of tag '${name}' since it is not signed`;
    expect(await failureOf("Tag", { commit: head, tag: { name: "v1" }, objects })).toMatchObject({
      reason: "InvalidGitObject",
      retry: "backoff",
      message: message("v1"),
    });
    expect(await failureOf("TagAndHEAD", { commit: head, tag: unsigned, objects })).toMatchObject({
      reason: "InvalidGitObject",
      message: message(`v1@${unsigned.oid}`),
    });
  });

  test("fails if the tag or the commit is signed with another key", async () => {
    const { commit, tag, objects } = repository();
    const [head, bad] = [commit(alice), commit(mallory, "bad")];
    const why =
      "unable to verify payload with any of the given authorized keys: no matching key\npublic key does not match";
    const forged = tag(head, mallory);
    expect(await failureOf("TagAndHEAD", { commit: head, tag: forged, objects })).toMatchObject({
      reason: "InvalidTagSignature",
      retry: "backoff",
      message: `signature verification of tag 'v1@${forged.oid}' failed: unable to verify Git tag SSH signature: ${why}`,
    });
    expect(await failureOf("TagAndHEAD", { commit: bad, tag: tag(bad, alice), objects })).toMatchObject({
      reason: "InvalidCommitSignature",
      retry: "backoff",
      message: `signature verification of commit '${bad}' failed: unable to verify Git commit SSH signature: ${why}`,
    });
  });

  test("fails for a commit with two signatures", async () => {
    const { objects } = repository();
    const header = `gpgsig ${sshSignature(alice, "x").trimEnd().replaceAll("\n", "\n ")}\n`;
    const bytes = Buffer.from(`tree ${"1".repeat(40)}\n${header}${header}\nhello\n`);
    const oid = "2".repeat(40);
    const both = {
      read: (one: string) => (one === oid ? Promise.resolve({ type: "commit" as const, bytes }) : objects.read(one)),
    };
    expect(await failureOf("HEAD", { commit: oid, objects: both })).toMatchObject({
      reason: "InvalidCommitSignature",
      message: `signature verification of commit '${oid}' failed: the commit has 2 gpgsig headers, but only one can be verified`,
    });
  });

  test("fails for a signed tag of another commit than the server advertises", async () => {
    const { commit, tag, objects } = repository();
    const [head, other] = [commit(alice), commit(mallory, "other")];
    const signed = tag(head, alice);
    expect(await failureOf("Tag", { commit: other, tag: signed, objects })).toMatchObject({
      reason: "InvalidTagSignature",
      message: `signature verification of tag 'v1@${signed.oid}' failed: the tag does not point to the commit '${other}'`,
    });
    const ofTree = tag("1".repeat(40), alice, "tree");
    const trees = {
      read: (oid: string) =>
        oid === "1".repeat(40) ? Promise.resolve({ type: "tree" as const, bytes: Buffer.alloc(0) }) : objects.read(oid),
    };
    expect(await failureOf("Tag", { commit: head, tag: ofTree, objects: trees })).toMatchObject({
      reason: "InvalidTagSignature",
    });
  });

  test("fails for a signed tag that is served under another name: an old tag must not pass as a new release", async () => {
    const { commit, tag, objects } = repository();
    const head = commit(alice);
    const { name, oid } = tag(head, alice);
    const failure = {
      reason: "InvalidTagSignature",
      retry: "backoff",
      message: `signature verification of tag 'v9.9.9@${oid}' failed: it was signed as tag '${name}'`,
    };
    for (const mode of ["Tag", "TagAndHEAD"] as const) {
      expect(await failureOf(mode, { commit: head, tag: { name: "v9.9.9", oid }, objects })).toMatchObject(failure);
    }
  });

  test("follows a signed tag that points to another tag", async () => {
    const { commit, tag, objects } = repository();
    const head = commit();
    const outer = tag(tag(head).oid, alice, "tag");
    expect(await verifyRevision(verify("Tag"), { commit: head, tag: outer, objects }, world().ctx)).toBe("Tag");
  });

  test("without spec.verify nothing is verified, and the condition is removed", async () => {
    const { commit, objects } = repository();
    const verified = Condition.parse({
      type: "SourceVerified",
      status: "True",
      reason: "Succeeded",
      message: "verified",
      lastTransitionTime: "2026-11-23T12:00:00Z",
    });
    const { ctx, conditions } = world(undefined, { conditions: [verified] });
    expect(await verifyRevision(undefined, { commit: commit(), objects }, ctx)).toBeUndefined();
    expect(conditions()).toEqual([]);
  });
});

describe("the Secret with the public keys", () => {
  const { commit, objects } = repository();
  const revision = { commit: commit(alice), objects };
  const failing = (get: () => Promise<LiveObject | undefined>) =>
    verifyRevision(verify("HEAD"), revision, world(get).ctx).then(
      () => "verified",
      (reason: unknown) => reason,
    );
  const apiError = (code: number, reason: "Forbidden" | "ServiceUnavailable") => () =>
    Promise.reject(new ApiError({ code, reason, message: `secrets "keys" is ${code}` }));

  test("must exist", async () => {
    expect(await failing(async () => undefined)).toMatchObject({
      name: "Failure",
      reason: "VerificationError",
      retry: "backoff",
      message: 'public keys secret error: secrets "keys" not found',
    });
  });

  test("must be readable; if the API server is down, the Secret is not blamed", async () => {
    expect(await failing(apiError(403, "Forbidden"))).toMatchObject({
      name: "Failure",
      reason: "VerificationError",
      message: 'public keys secret error: secrets "keys" is 403',
    });
    expect(await failing(apiError(503, "ServiceUnavailable"))).toMatchObject({ name: "Outage" });
  });

  test("without an SSH key fails with a message that says which entries are for SSH", async () => {
    expect(await failing(async () => secret({ "a.asc": "x" }))).toMatchObject({
      reason: "InvalidCommitSignature",
      message: expect.stringContaining("no SSH public keys found in secret (keys with .sshpub suffix)"),
    });
  });
});

describe("a stored revision", () => {
  test.each([
    { before: undefined, mode: "HEAD", expected: "HEAD" },
    { before: undefined, mode: "head", expected: "HEAD" },
    { before: "HEAD", mode: "HEAD", expected: "HEAD" },
    { before: "HEAD", mode: "head", expected: "HEAD" },
    { before: "HEAD", mode: "Tag", expected: "Tag" },
    { before: "HEAD", mode: "TagAndHEAD", expected: "TagAndHEAD" },
    { before: "Tag", mode: "HEAD", expected: "HEAD" },
    { before: "Tag", mode: "TagAndHEAD", expected: "TagAndHEAD" },
    { before: "TagAndHEAD", mode: "HEAD", expected: "TagAndHEAD" },
    { before: "TagAndHEAD", mode: "Tag", expected: "TagAndHEAD" },
  ] as const)(
    "that was verified by $before needs, with mode $mode in the spec, verification by $expected",
    ({ before, mode, expected }) => {
      expect(expectedMode(verify(mode), { sourceVerificationMode: before })).toBe(expected);
    },
  );

  test("stays verified when spec.verify is removed, until a new revision is fetched", () => {
    expect(expectedMode(undefined, { sourceVerificationMode: "HEAD" })).toBe("HEAD");
    expect(expectedMode(undefined, {})).toBeUndefined();
  });
});
