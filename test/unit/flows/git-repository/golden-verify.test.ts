import { describe, expect, test } from "vitest";
import { pgpFingerprint, pgpSignature } from "../../../doubles/pgp-signature.ts";
import { gitWorld } from "./git-world.ts";

const { world, repository, status, condition, conditions, message, apply, run, told } = gitWorld();

/** The keys of the recording: their seeds are the SHA-256 of their names. */
const rings = {
  alice: `-----BEGIN PGP PUBLIC KEY BLOCK-----

xjMEaVW5ABYJKwYBBAHaRw8BAQdA1b9KP8znF7A4i8wnSevBSK2ZabI/Re4bYF/V
h3hXasTNGmFsaWNlIDxhbGljZUBleGFtcGxlLnRlc3Q+wn4EExYIACYFAmlVuQAW
IQR93zHjt7JwSP8rBNPdK52Xuod0TAIbAwIVCAIZAQAKCRDdK52Xuod0TCUTAPwL
SRja3QIBoleBhrLaSSflLRCJ6Dk7OGErBshv2I+uIgEAyPzs6qQ2z+rMqtP6i/Lf
Qw60tSuNZ5moJwJAZYrUtAY=
=2lA0
-----END PGP PUBLIC KEY BLOCK-----
`,
  mallory: `-----BEGIN PGP PUBLIC KEY BLOCK-----

xjMEaVW5ABYJKwYBBAHaRw8BAQdAQVlg1aYV51SjYQT2YprPqfgJPz4PXqdSfZUI
W3EQuLPNHm1hbGxvcnkgPG1hbGxvcnlAZXhhbXBsZS50ZXN0PsJ+BBMWCAAmBQJp
VbkAFiEEvvEarWsQElGohJWp0jSSrsti980CGwMCFQgCGQEACgkQ0jSSrsti980p
VwEAldL5qfMf28aaZrSU/VD1yBb+rxYOsDb/cctrZFXyDsQA+wXXvzusT94gAs+0
L5oaXi/m94FlRLS/hv96fqyPsGwJ
=s18Z
-----END PGP PUBLIC KEY BLOCK-----
`,
};
const ids = { alice: idOf("alice"), mallory: idOf("mallory") };
type Name = keyof typeof rings;

/** Seconds. */
const minute = 60;
/** Of the recording, in seconds since 1970. */
const begin = Date.parse("2026-01-01T00:00:00Z") / 1000;

function idOf(name: string): string {
  return pgpFingerprint(name).toString("hex").toUpperCase().slice(-16);
}

const manifest = (value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: ${value}\n`;

/** The commits of the recording, with the ids that they have there. */
function commit(number: number, text: string, value: string, by?: Name): string {
  const at = begin + number * minute;
  const files = { "a.yaml": manifest(value) };
  const options = { message: `${text}\n`, at };
  if (by === undefined) return repository().commit(files, options);
  const parent = repository().refs.get("refs/heads/main");
  const unsigned = repository().commit(files, options);
  const payload = Buffer.from(repository().objects.get(unsigned)?.bytes ?? []);
  if (parent === undefined) repository().refs.delete("refs/heads/main");
  else repository().refs.set("refs/heads/main", parent);
  return repository().commit(files, { ...options, signature: pgpSignature(by, payload) });
}

function keys(...names: readonly Name[]): void {
  const data = names.map((name) => [`${name}.asc`, Buffer.from(rings[name]).toString("base64")]);
  world().apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "keys", namespace: "apps" },
    data: Object.fromEntries(data),
  });
}

const noMatch = "unable to verify payload with any of the given key rings: no matching key";
const stored = (revision: string): string => `stored artifact for revision 'main@sha1:${revision}'`;
const verified = (revision: string, name: Name): string =>
  `verified signature of\n\t- commit '${revision}' with key '${ids[name]}'`;

describe("golden git-verify-head", () => {
  test("11.2/58, 59: signed and unsigned commits get the same statuses as in Flux, step by step", async () => {
    const first = commit(1, "Signed by alice", "b", "alice");
    expect(first).toBe("9d306ec455d2cb129ebe8d183691108eef0b2657");
    apply({ verify: { mode: "head", secretRef: { name: "keys" } } });
    await run();
    expect(message()).toBe('public keys secret error: secrets "keys" not found');
    expect(told()).toEqual(['Warning VerificationError: public keys secret error: secrets "keys" not found']);

    keys("alice");
    await run();
    expect(conditions()).toEqual([
      "Ready=True Succeeded",
      "ArtifactInStorage=True Succeeded",
      "SourceVerified=True Succeeded",
    ]);
    expect([message(), condition("SourceVerified")?.message]).toEqual([stored(first), verified(first, "alice")]);
    // `head` is an older name: the status has the present one.
    expect(status()).toMatchObject({ sourceVerificationMode: "HEAD" });
    expect(told()).toEqual([
      `Normal Succeeded: ${verified(first, "alice")}`,
      "Normal NewArtifact: stored artifact for commit 'Signed by alice'",
    ]);

    await run();
    expect(told()).toEqual([
      `Normal GitOperationSucceeded: no changes since last reconciliation: observed revision 'main@sha1:${first}'`,
    ]);

    const unsigned = commit(2, "Not signed", "c");
    await run();
    const empty = `signature verification of commit '${unsigned}' failed: unsupported signature type: empty`;
    expect(conditions()).toEqual([
      "Reconciling=True ProgressingWithRetry",
      "Ready=False InvalidCommitSignature",
      "ArtifactInStorage=True Succeeded",
      "SourceVerified=False InvalidCommitSignature",
    ]);
    expect(condition("Reconciling")?.message).toBe("reconciliation in progress");
    expect([message(), status().artifact?.revision]).toEqual([empty, `main@sha1:${first}`]);
    expect(told()).toEqual([`Warning InvalidCommitSignature: ${empty}`]);

    const third = commit(3, "Signed by mallory", "d", "mallory");
    expect(third).toBe("90d90883d7e84387e3837d56f1d90c600894388c");
    await run();
    expect(message()).toBe(
      `signature verification of commit '${third}' failed: unable to verify Git commit: ${noMatch}`,
    );
    expect(status()).toMatchObject({ sourceVerificationMode: "HEAD" });
    told();

    keys("alice", "mallory");
    await run();
    expect([message(), condition("SourceVerified")?.message]).toEqual([stored(third), verified(third, "mallory")]);
    told();

    apply({ verify: null });
    await run();
    expect(condition("SourceVerified")?.message).toBe(verified(third, "mallory"));
    expect(status()).toMatchObject({ sourceVerificationMode: "HEAD" });
    expect(told()).toEqual([
      `Normal GitOperationSucceeded: no changes since last reconciliation: observed revision 'main@sha1:${third}'`,
    ]);

    commit(4, "Not signed either", "e");
    await run();
    expect(conditions()).toEqual(["Ready=True Succeeded", "ArtifactInStorage=True Succeeded"]);
    expect(status()).not.toHaveProperty("sourceVerificationMode");
  });
});
