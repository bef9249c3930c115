import { describe, expect, test } from "vitest";
import { verifyKeyless } from "../../../../lib/sources/oci/verify/cosign-keyless.ts";
import {
  maxIdentities,
  maxIdentityPatternLength,
  maxSignerLength,
} from "../../../../lib/sources/oci/verify/identities.ts";
import { maxRekorBundleBytes } from "../../../../lib/sources/oci/verify/log-entry.ts";
import {
  maxTrustedRootBytes,
  maxTrustedRootEntries,
  publicTrust,
} from "../../../../lib/sources/oci/verify/trusted-root.ts";
import {
  claimOf,
  pushReferrer,
  pushSimple,
  type SimpleLayer,
  statementOf,
} from "../../../doubles/cosign-signatures.ts";
import { checkingAt, memoryRegistry } from "../../../doubles/memory-registry.ts";
import { ownSigstore, type Times } from "../../../doubles/own-sigstore.ts";

const [ours, others] = await Promise.all([ownSigstore(), ownSigstore()]);
const person = {
  issuer: "https://token.actions.githubusercontent.com",
  subject: "https://github.com/acme/app/.github/workflows/release.yml@refs/heads/main",
};
const identities = [{ issuer: "^https://token\\.actions\\.githubusercontent\\.com$", subject: "/acme/app/" }];
const trustedRoot = JSON.stringify(ours.trustedRoot);
const bundleKey = "dev.sigstore.cosign/bundle";

type Artifact = Awaited<ReturnType<ReturnType<typeof memoryRegistry>["artifact"]>>;
type Sigstore = typeof ours;

const forms = {
  "cosign 2": async (artifact: Artifact, sigstore: Sigstore, digest: string, times?: Times) =>
    pushSimple(artifact, [await sigstore.simpleLayer(person, claimOf(digest), times)]),
  "cosign 3": async (artifact: Artifact, sigstore: Sigstore, digest: string, times?: Times) =>
    pushReferrer(artifact, Buffer.from(JSON.stringify(await sigstore.bundle(person, statementOf(digest), times)))),
};

describe.each(Object.entries(forms))("a keyless signature of %s", (_form, sign) => {
  const signed = async (sigstore = ours, times?: Times, digest?: string) => {
    const artifact = await memoryRegistry().artifact();
    await sign(artifact, sigstore, digest ?? artifact.digest, times);
    return artifact;
  };
  const later = (minutes: number) => new Date(ours.now.getTime() + minutes * 60_000);

  test("is valid for one matching identity of several", async () => {
    const several = [{ issuer: "nobody", subject: "nothing" }, ...identities];
    await expect(
      verifyKeyless(await signed(), { identities: several, trustedRoot }, checkingAt()),
    ).resolves.toBeUndefined();
  });

  test("is valid for any identity if none is required", async () => {
    await expect(verifyKeyless(await signed(), { identities: [], trustedRoot }, checkingAt())).resolves.toBeUndefined();
  });

  test.each([[{ issuer: "gitlab", subject: "/acme/app/" }], [{ issuer: "github", subject: "/other/app/" }]])(
    "is invalid for %j: issuer and subject must match",
    async (identity) => {
      await expect(
        verifyKeyless(await signed(), { identities: [identity], trustedRoot }, checkingAt()),
      ).rejects.toThrow(
        `none of the expected identities matched what was in the certificate, got subjects [${person.subject}] with issuer ${person.issuer}`,
      );
    },
  );

  test("is invalid with an unknown certificate authority", async () => {
    await expect(verifyKeyless(await signed(others), { identities, trustedRoot }, checkingAt())).rejects.toThrow(
      "Failed to verify certificate chain: no valid certificate path found",
    );
    await expect(verifyKeyless(await signed(), { identities }, checkingAt())).rejects.toThrow(
      "Failed to verify certificate chain",
    );
  });

  test.each([
    ["after the certificate expired", { logged: later(11) }],
    ["before it was issued", { issued: later(5), logged: later(1) }],
  ])("is invalid if the log recorded it %s", async (_name, times) => {
    await expect(verifyKeyless(await signed(ours, times), { identities, trustedRoot }, checkingAt())).rejects.toThrow(
      "certificate is not valid or expired at the specified date",
    );
  });

  test("is invalid without the proof of a known certificate log, or of a known Rekor", async () => {
    const { ctlogs, tlogs } = others.trustedRoot;
    const without = (part: object) => JSON.stringify({ ...ours.trustedRoot, ...part });
    await expect(
      verifyKeyless(await signed(), { identities, trustedRoot: without({ ctlogs }) }, checkingAt()),
    ).rejects.toThrow(/expected 1 SCTs, got 0|SCT/);
    await expect(
      verifyKeyless(await signed(), { identities, trustedRoot: without({ tlogs }) }, checkingAt()),
    ).rejects.toThrow(/no matching/);
  });

  test("is invalid for another digest", async () => {
    const artifact = await signed(ours, {}, `sha256:${"0".repeat(64)}`);
    await expect(verifyKeyless(artifact, { identities, trustedRoot }, checkingAt())).rejects.toThrow("digest");
  });
});

test("a signer's name longer than maxSignerLength does not match", async () => {
  const artifact = await memoryRegistry().artifact();
  const long = { ...person, subject: `https://${"a".repeat(maxSignerLength)}` };
  await pushSimple(artifact, [await ours.simpleLayer(long, claimOf(artifact.digest))]);
  await expect(verifyKeyless(artifact, { identities: [], trustedRoot }, checkingAt())).rejects.toThrow(
    `the certificate has a name of more than ${maxSignerLength} characters`,
  );
});

describe("the entry in the transparency log", () => {
  const signedWith = async (change: (layer: SimpleLayer, other: SimpleLayer) => SimpleLayer["annotations"]) => {
    const artifact = await memoryRegistry().artifact();
    const payload = claimOf(artifact.digest);
    const [layer, other] = await Promise.all([
      ours.simpleLayer(person, payload),
      ours.simpleLayer({ ...person, subject: "https://github.com/mallory/app" }, payload),
    ]);
    await pushSimple(artifact, [{ ...layer, annotations: { ...layer.annotations, ...change(layer, other) } }]);
    return verifyKeyless(artifact, { identities: [], trustedRoot }, checkingAt());
  };
  const entryOf = ({ annotations }: SimpleLayer) => annotations[bundleKey] ?? "";
  const changed = (text: string, from: RegExp, to: string) => ({ [bundleKey]: text.replace(from, to) });

  test.each<[string, Parameters<typeof signedWith>[0], string]>([
    ["for another signature", (_own, other) => ({ [bundleKey]: entryOf(other) }), "is of another certificate"],
    [
      "of another time than the log has signed",
      (own) =>
        changed(entryOf(own), /"integratedTime":\d+/, `"integratedTime":${Math.ceil(ours.now.getTime() / 1_000) + 60}`),
      "no matching signatures: ",
    ],
    ["that is missing", () => ({ [bundleKey]: "" }), "does not include its transparency log entry"],
    ["an invalid text", () => ({ [bundleKey]: "{}" }), "it is not an entry of a Rekor log"],
    [
      "of more than maxRekorBundleBytes",
      () => ({ [bundleKey]: " ".repeat(maxRekorBundleBytes + 1) }),
      "it is too large",
    ],
    ["beside a certificate that is missing", () => ({ "dev.sigstore.cosign/certificate": "" }), "no certificate found"],
    [
      "next to the certificate of another signer",
      (_own, other) => ({
        "dev.sigstore.cosign/certificate": other.annotations["dev.sigstore.cosign/certificate"] ?? "",
      }),
      "is of another certificate",
    ],
  ])("with %s is refused", async (_name, change, why) => {
    await expect(signedWith(change)).rejects.toThrow(why);
  });

  test("one valid signature of two is enough", async () => {
    const artifact = await memoryRegistry().artifact();
    const payload = claimOf(artifact.digest);
    await pushSimple(artifact, [await others.simpleLayer(person, payload), await ours.simpleLayer(person, payload)]);
    const checking = checkingAt();
    await expect(verifyKeyless(artifact, { identities, trustedRoot }, checking)).resolves.toBeUndefined();
    expect(checking.reasons).toEqual([expect.stringContaining("Failed to verify certificate chain")]);
  });
});

describe("the trust root of keyless signatures", () => {
  const fault = async (trust: Parameters<typeof verifyKeyless>[1]) => {
    const artifact = await memoryRegistry().artifact();
    return verifyKeyless(artifact, trust, checkingAt()).catch((error: unknown) => String(error));
  };
  const root = (part: object) => JSON.stringify({ ...ours.trustedRoot, ...part });

  test("of public Sigstore is part of this release", () => {
    const { certificateAuthorities, tlogs, ctlogs } = publicTrust();
    expect([certificateAuthorities.length, tlogs.map(({ baseURL }) => baseURL), ctlogs.length]).toEqual([
      2,
      ["https://rekor.sigstore.dev", "https://log2025-1.rekor.sigstore.dev"],
      2,
    ]);
  });

  test.each([
    ["", "unable to parse trusted root: it is not JSON"],
    ["[]", "unable to parse trusted root: "],
    [root({ tlogs: [] }), "no transparency log entries found in trusted root"],
    [
      root({ tlogs: ours.trustedRoot.tlogs.map((log) => ({ ...log, baseUrl: "" })) }),
      "no transparency log entry with a BaseURL found in trusted root",
    ],
    [root({ tlogs: [{ baseUrl: "a" }] }), "unable to parse trusted root: "],
    [" ".repeat(maxTrustedRootBytes + 1), `it has more than ${maxTrustedRootBytes} bytes`],
    [
      root({ ctlogs: Array.from({ length: maxTrustedRootEntries + 1 }, () => ({})) }),
      `or of more than ${maxTrustedRootEntries} entries`,
    ],
  ])("is refused if a custom one is invalid: %#", async (text, why) => {
    expect(await fault({ identities, trustedRoot: text })).toContain(why);
  });

  test.each([
    [[{ issuer: "(", subject: "a" }], "malformed issuer in identity: ( : "],
    [[{ issuer: "a", subject: "(?=a)" }], "malformed subject in identity: (?=a) : "],
    [
      [{ issuer: "a".repeat(maxIdentityPatternLength + 1), subject: "a" }],
      `it has more than ${maxIdentityPatternLength} characters`,
    ],
    [
      Array.from({ length: maxIdentities + 1 }, () => ({ issuer: "a", subject: "a" })),
      `has more than ${maxIdentities} entries`,
    ],
  ])("invalid identities are refused: %#", async (asked, why) => {
    expect(await fault({ identities: asked, trustedRoot })).toContain(why);
  });
});
