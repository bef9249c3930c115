import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../lib/core/json.ts";
import { registryClients } from "../../../../lib/sources/oci/registry-client.ts";
import { untilDeadline } from "../../../deadline.ts";
import { signSimply } from "../../../doubles/cosign-signatures.ts";
import { file, seenSources } from "../seen-sources.ts";
import { ociRepository } from "../source-world.ts";

const { world, url, artifactOf, condition, conditionTypes, told } = seenSources();

const keyPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const [alice, bob, mallory] = [keyPair(), keyPair(), keyPair()];

function secret(name: string, data: Readonly<Record<string, string>>) {
  const encoded = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString("base64")]);
  world().apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "apps" },
    data: Object.fromEntries(encoded),
  });
}

function publicKeys(...pairs: readonly KeyPairKeyObjectResult[]) {
  const pem = ({ publicKey }: KeyPairKeyObjectResult) => String(publicKey.export({ type: "spki", format: "pem" }));
  const entries = pairs.map((pair, at) => [`${at}.pub`, pem(pair)] as const);
  secret("keys", Object.fromEntries(entries));
}

async function sign(digest: string, ...pairs: readonly KeyPairKeyObjectResult[]) {
  const { deps, address } = world();
  const client = registryClients(deps.http, deps.clock)({ host: address, insecure: true });
  await signSimply({ client, repository: "app", digest }, ...pairs.map(({ privateKey }) => privateKey));
}

const verify = { provider: "cosign", secretRef: { name: "keys" } };
const requests = () => world().sent.splice(0);

describe("the signature of an OCIRepository", () => {
  test("11.3/79: is accepted if the second of two keys matches", async () => {
    const digest = await world().push("latest", file);
    publicKeys(bob, alice);
    await sign(digest, alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    expect(await world().run()).toMatchObject({ outcome: "stored" });
    expect(condition("app", "SourceVerified")).toMatchObject({
      status: "True",
      reason: "Succeeded",
      message: `verified signature of revision latest@${digest}`,
      observedGeneration: 1,
    });
    expect(told().map(({ reason }) => reason)).toEqual(["NewArtifact"]);
  });

  test("11.3/80: if it is missing on a new revision, the last artifact is kept and the run retries", async () => {
    const first = await world().push("latest", file);
    publicKeys(alice);
    await sign(first, alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    const second = await world().push("latest", { "a.yaml": "kind: Secret\n" });
    await sign(second, mallory);
    requests();
    const waits = [(await world().run()).dueInMs, (await world().run()).dueInMs];
    expect(waits).toEqual([750, 1_500]);
    const message = `failed to verify the signature using provider 'cosign': no matching signatures were found for '${world().address}/app@${second}'`;
    for (const type of ["SourceVerified", "Ready"]) {
      expect(condition("app", type)).toMatchObject({ status: "False", reason: "VerificationError", message });
    }
    const isNew = `new revision 'latest@${second}' for '${world().address}/app:latest'`;
    expect(condition("app", "ArtifactOutdated")).toMatchObject({ reason: "NewRevision", message: isNew });
    expect(condition("app", "Reconciling")).toMatchObject({
      reason: "ProgressingWithRetry",
      message: `building artifact: ${isNew}`,
    });
    expect(artifactOf("app").revision).toBe(`latest@${first}`);
    expect(told().at(-1)).toMatchObject({ type: "Warning", reason: "VerificationError", message });
    const blobs = requests().filter((one) => one.url.includes("/blobs/"));
    expect(blobs.length, "only what is signed is downloaded").toBe(2);
  });

  test("an artifact that was never verified is not stored", async () => {
    await world().push("latest", file);
    publicKeys(alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    expect(world().stored.size).toBe(0);
    expect(conditionTypes("app")).toEqual(["Reconciling", "Ready", "SourceVerified"]);
  });

  test("any push to the repository wakes the source, because a signature follows its artifact", async () => {
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    expect([...world().listens.values()]).toEqual([[`repo#${world().address}/app`]]);
  });

  test("11.3/81: without a secretRef the provider is called cosign keyless", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url(), verify: { provider: "cosign" } }));
    await world().run();
    expect(condition("app", "Ready")).toMatchObject({
      message: "failed to verify the signature using provider 'cosign keyless': no signatures found",
    });
  });

  test("without identities a Warning says that anyone can sign, once per generation", async () => {
    await world().push("latest", file);
    const warnings = () => told().filter(({ reason }) => reason === "AnySignerAccepted").length;
    world().apply(ociRepository("app", { url: url(), verify: { provider: "cosign" } }));
    await world().run();
    await world().run();
    expect(warnings()).toBe(1);
    const matchOIDCIdentity = [{ issuer: "a", subject: "b" }];
    world().apply(ociRepository("app", { url: url(), verify: { provider: "cosign", matchOIDCIdentity } }));
    await world().run();
    expect(warnings()).toBe(1);
  });

  test("11.3/82: a verified revision is verified again only if the spec changes; without verify the condition is removed", async () => {
    const digest = await world().push("latest", file);
    publicKeys(alice);
    await sign(digest, alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    requests();
    await world().run();
    const asked = requests().filter((one) => /\/(?:blobs|manifests|referrers)\//.test(one.url));
    expect(asked.map((one) => `${one.method} ${one.url}`)).toEqual([
      `HEAD http://${world().address}/v2/app/manifests/latest`,
    ]);
    publicKeys(bob);
    world().apply(ociRepository("app", { url: url(), verify, timeout: "30s" }));
    await world().run();
    expect(condition("app", "Ready")).toMatchObject({ status: "False", reason: "VerificationError" });
    expect(conditionTypes("app")).not.toContain("ArtifactOutdated");
    publicKeys(alice);
    await world().run();
    expect(condition("app", "Ready")).toMatchObject({ status: "True" });
    expect(condition("app", "SourceVerified")).toMatchObject({ status: "True", observedGeneration: 2 });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(conditionTypes("app"), "nothing is verified any more").toEqual(["Ready", "ArtifactInStorage"]);
  });

  test("a user who can write the status cannot have an unsigned revision stored, nor make a stored one count as verified", async () => {
    const forge = async (status: JsonObject) => {
      const ref = { ...world().key("app"), version: "v1" };
      const by = { manager: "mallory", subresource: "status" } as const;
      await world().deps.home.patch(ref, { type: "merge", body: { status } }, by, untilDeadline());
    };
    const verified = (observedGeneration: number) => {
      const lastTransitionTime = "2026-11-21T12:00:00Z";
      const said = { reason: "Succeeded", message: "verified", lastTransitionTime, observedGeneration };
      return { conditions: [{ type: "SourceVerified", status: "True", ...said }] };
    };
    const first = await world().push("latest", file);
    publicKeys(alice);
    await sign(first, alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    const second = await world().push("latest", { "a.yaml": "kind: Secret\n" });
    const artifact = { revision: `latest@${second}` };
    await forge({ ...verified(1), artifact, observedIgnore: "forged" });
    await world().run();
    expect(world().stored.size, "only the signed revision").toBe(1);
    expect(condition("app", "SourceVerified")).toMatchObject({ status: "False", reason: "VerificationError" });

    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    world().apply(ociRepository("app", { url: url(), verify }));
    await forge(verified(3));
    await world().run();
    expect(condition("app", "SourceVerified")).toMatchObject({ status: "False", reason: "VerificationError" });
  });

  test("adding spec.verify verifies a revision that is already stored", async () => {
    await world().push("latest", file);
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    publicKeys(alice);
    world().apply(ociRepository("app", { url: url(), verify }));
    await world().run();
    expect(condition("app", "SourceVerified")).toMatchObject({ status: "False" });
    world().apply(ociRepository("app", { url: url() }));
    await world().run();
    expect(conditionTypes("app")).toEqual(["Ready", "ArtifactInStorage"]);
  });

  test.each([
    [{ verify, data: undefined }, `'cosign': secrets "keys" not found`],
    [{ verify, data: { "a.pub": "no key" } }, "'cosign': PEM decoding failed; the key is 'a.pub' of the Secret"],
    [
      { verify, data: { "a.key": "no key" } },
      "'cosign': no matching signatures were found for <artifact>; the Secret has no key that ends in .pub",
    ],
    [
      { verify: { provider: "cosign", trustedRootSecretRef: { name: "keys" } }, data: { a: "" } },
      "'cosign keyless': failed to read trusted root from secret 'apps/keys': 'trusted_root.json' not found in secret 'apps/keys'",
    ],
    [{ verify: { provider: "notation" }, data: {} }, "'notation': verification secret cannot be empty: <artifact>"],
    [
      { verify: { provider: "notation", secretRef: { name: "keys" } }, data: { "ca.crt": "" } },
      "'notation': 'trustpolicy.json' not found in secret 'apps/keys'",
    ],
    [
      { verify: { provider: "notation", secretRef: { name: "keys" } }, data: { "trustpolicy.json": "{" } },
      "'notation': error occurred while parsing trustpolicy.json: it is not JSON",
    ],
    [
      {
        verify: { provider: "notation", secretRef: { name: "keys" } },
        data: { "trustpolicy.json": '{"version":"1.0"}' },
      },
      "'notation': no certificates found in secret 'apps/keys'",
    ],
  ])("11.3/84: an invalid part of it is named: %j", async ({ verify: asked, data }, why) => {
    await world().push("latest", file);
    if (data !== undefined) secret("keys", data);
    world().apply(ociRepository("app", { url: url(), verify: asked }));
    await world().run();
    const { message } = { message: "", ...condition("app", "SourceVerified") };
    const prefix = "failed to verify the signature using provider ";
    expect(message.replace(/'\S+@sha256:[0-9a-f]{64}'/, "<artifact>")).toBe(`${prefix}${why}`);
  });
});
