import type { KeyReader } from "../decrypt-ssh-key.ts";
import type { SignCommit } from "./git-clone.ts";

/** The Secret that a signing key is in. */
export interface SigningSecret {
  readonly name: string;
  readonly data: ReadonlyMap<string, string>;
}

/** A key cannot be used to sign commits. The message is Flux's (image-automation-controller, `signing.go`), and quotes nothing of the key. */
export class SigningKeyFault extends Error {
  override readonly name = "SigningKeyFault";
}

/**
 * Reads the key that `spec.git.commit.signingKey` names, and answers what signs by it. Throws a {@link SigningKeyFault}, or the reason
 * that the reader's signal was aborted with.
 *
 * @param now milliseconds since 1970: a PGP key must be valid then
 */
export async function readSigningKey(
  type: "gpg" | "ssh",
  secret: SigningSecret,
  reader: KeyReader,
  now: number,
): Promise<SignCommit> {
  // Each needs a library that most runs do without.
  if (type === "ssh") return await (await import("./sign-ssh.ts")).sshSigner(secret, reader);
  return await (await import("./sign-gpg.ts")).gpgSigner(secret, now);
}
