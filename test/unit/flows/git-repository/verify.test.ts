import { describe, expect, test } from "vitest";
import { ed25519Signer, sshSignature } from "../../sources/git/verify/ssh-signer.ts";
import { gitWorld, manifest } from "./git-world.ts";

const { world, repository, status, artifact, conditions, condition, message, apply, run, told } = gitWorld();

const ssh = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n";

function keys(data: Readonly<Record<string, string>>): void {
  world().apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "keys", namespace: "apps" },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")])),
  });
}
const verify = (mode?: string) => ({
  verify: { ...(mode === undefined ? {} : { mode }), secretRef: { name: "keys" } },
});

describe("spec.verify", () => {
  test("11.2/55: mode Tag with a branch stalls", async () => {
    repository().commit({ "a.yaml": manifest });
    keys({});
    apply(verify("Tag"));
    expect(await run()).toMatchObject({ outcome: "stalled", dueInMs: undefined });
    const why = "cannot verify tag object's signature if a tag reference is not specified";
    expect(condition("SourceVerified")).toMatchObject({
      status: "False",
      reason: "InvalidVerificationMode",
      message: why,
    });
    expect(condition("Stalled")).toMatchObject({ reason: "InvalidVerificationMode", message: why });
  });

  test("11.2/56: mode HEAD with an unsigned commit keeps the old artifact and announces nothing", async () => {
    const first = repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    const second = repository().commit({ "b.yaml": manifest });
    keys({});
    apply(verify("HEAD"));
    await run();
    told();
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False InvalidCommitSignature",
      "SourceVerified=False InvalidCommitSignature",
      "ArtifactInStorage=True Succeeded",
    ]);
    expect(message()).toBe(`signature verification of commit '${second}' failed: unsupported signature type: empty`);
    expect(condition("Reconciling")?.message).toBe("processing object: new generation 1 -> 2");
    expect(artifact().revision).toBe(`main@sha1:${first}`);
  });

  test("the recovery from a failed verification sends no event about the artifact", async () => {
    repository().commit({ "a.yaml": manifest });
    apply();
    await run();
    keys({});
    apply(verify("HEAD"));
    await run();
    expect(conditions()).toContain("SourceVerified=False InvalidCommitSignature");
    told();
    apply({ verify: null });
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    expect(told().filter((line) => line.startsWith("Normal Succeeded"))).toEqual([]);
  });

  test("adding spec.verify fetches and verifies an unchanged revision again", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    keys({});
    apply();
    await run();
    apply(verify());
    await run();
    expect(repository().asked.filter((line) => line.startsWith("fetch"))).toEqual([
      `fetch ${commit}`,
      `fetch ${commit}`,
    ]);
    expect(conditions()).toContain("SourceVerified=False InvalidCommitSignature");
  });

  test("11.2/57: an SSH signature with a Secret that has only PGP keys fails with a text that names .sshpub", async () => {
    repository().commit({ "a.yaml": manifest }, { signature: ssh });
    keys({ "a.asc": "x" });
    apply(verify());
    await run();
    expect(message()).toContain(
      "failed: SSH signature detected but no SSH public keys found in secret (keys with .sshpub suffix)",
    );
  });

  test("a missing Secret fails the run, which retries", async () => {
    repository().commit({ "a.yaml": manifest });
    apply(verify());
    expect(await run()).toMatchObject({ outcome: "failed" });
    expect(condition("SourceVerified")).toMatchObject({
      reason: "VerificationError",
      message: 'public keys secret error: secrets "keys" not found',
    });
    expect(conditions()).toContain("Ready=False VerificationError");
  });

  test("an unsigned tag is named in the message, with its object if it has one", async () => {
    const commit = repository().commit({ "a.yaml": manifest });
    repository().tag("light", commit);
    repository().tag("heavy", commit, "One");
    keys({});
    apply({ ...verify("TagAndHEAD"), ref: { tag: "light" } });
    await run();
    expect(message()).toBe("cannot verify signature of tag 'light' since it is not signed");
    apply({ ref: { name: "refs/tags/heavy" } });
    await run();
    const { oid } = repository().refs.get("refs/tags/heavy") ?? { oid: "" };
    expect(message()).toBe(`cannot verify signature of tag 'heavy@${oid}' since it is not signed`);
    expect(conditions()).toContain("SourceVerified=False InvalidGitObject");
    repository().tag("heavy", commit, "Two", ssh);
    await run();
    expect(message()).toMatch(/^signature verification of tag 'heavy@[0-9a-f]{40}' failed: SSH signature detected/);
    expect(conditions()).toContain("SourceVerified=False InvalidTagSignature");
  });

  test("11.2/58, 59: mode head counts as HEAD; without verify a new revision shows neither condition nor mode", async () => {
    const alice = ed25519Signer();
    keys({ "alice.sshpub": alice.line });
    const unsigned = repository().commit({ "a.yaml": manifest });
    const { bytes } = repository().objects.get(unsigned) ?? { bytes: new Uint8Array() };
    const text = Buffer.from(bytes).toString();
    const signature = sshSignature(alice, text);
    repository().refs.delete("refs/heads/main");
    const at = Number(/committer .*> (\d+) /.exec(text)?.[1]);
    const commit = repository().commit({ "a.yaml": manifest }, { at, signature });
    apply(verify("head"));
    await run();
    expect(status()).toMatchObject({ sourceVerificationMode: "HEAD", artifact: { revision: `main@sha1:${commit}` } });
    const message = expect.stringMatching(
      new RegExp(`^verified signature of\n\t- commit '${commit}' with key 'SHA256:[A-Za-z0-9+/]+'$`),
    );
    expect(condition("SourceVerified")).toMatchObject({ status: "True", reason: "Succeeded", message });
    expect(told()).toEqual([
      expect.stringMatching(/^Normal Succeeded: verified signature of/),
      "Normal NewArtifact: stored artifact for commit 'Add a'",
    ]);
    // While the revision is the same, both stay, as recorded of Flux.
    apply({ verify: null });
    await run();
    expect(status()).toHaveProperty("sourceVerificationMode", "HEAD");
    repository().commit({ "b.yaml": manifest });
    await run();
    expect(status()).not.toHaveProperty("sourceVerificationMode");
    expect(condition("SourceVerified")).toBeUndefined();
  });

  test("a revision that failed verification is fetched normally once spec.verify is removed", async () => {
    repository().commit({ "a.yaml": manifest });
    keys({});
    apply(verify());
    await run();
    apply({ verify: null });
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    expect(status()).not.toHaveProperty("sourceVerificationMode");
  });
});
