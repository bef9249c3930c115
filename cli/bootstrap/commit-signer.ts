import { readFile } from "node:fs/promises";
import { messageOf } from "../../lib/core/failure.ts";
import { noTenant } from "../../lib/core/tenant.ts";
import type { SignCommit } from "../../lib/sources/git/write/git-clone.ts";
import { readSigningKey, SigningKeyFault } from "../../lib/sources/git/write/signing-key.ts";

/** The options that say how the commits of a bootstrap are signed. */
export interface SigningOptions {
  /** Armored, with one private key. */
  readonly gpgKeyRing?: string;
  readonly gpgPassphrase?: string;
  readonly sshSigningKeyFile?: string;
  readonly sshSigningPassword?: string;
  readonly sshSigningReusePrivateKey?: boolean;
  /** The key that logs in. */
  readonly privateKeyFile?: string;
  /** Its passphrase. */
  readonly password?: string;
}

interface KeyFile {
  readonly type: "gpg" | "ssh";
  readonly file: string;
  readonly option: string;
  readonly passphrase: string | undefined;
  readonly passphraseOption: string;
}

/** What signs the commits; undefined where no option asks for it. Throws an Error that names the option. */
export async function commitSigner(
  options: SigningOptions,
  now: number,
  signal: AbortSignal,
): Promise<SignCommit | undefined> {
  const key = keyFile(options);
  if (key === undefined) return undefined;
  const { type, file, option, passphrase, passphraseOption } = key;
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new Error(`the file of ${option} cannot be read: ${messageOf(error)}`, { cause: error });
  });
  const [field, phrase] = type === "gpg" ? ["git.asc", "passphrase"] : ["identity", "password"];
  const data = new Map([[field, text], ...(passphrase === undefined ? [] : ([[phrase, passphrase]] as const))]);
  const reader = { tenant: noTenant, signal };
  try {
    return await readSigningKey(type, { name: file, data }, reader, now);
  } catch (error) {
    if (!(error instanceof SigningKeyFault)) throw error;
    if (/without '(?:passphrase|password)' field/.test(error.message)) {
      throw new Error(`the key of ${option} is protected by a passphrase: give it by ${passphraseOption}`, {
        cause: error,
      });
    }
    const why = error.message
      .replaceAll(`secret '${file}'`, `file '${file}'`)
      .replaceAll(`in secret ${file}`, `in ${file}`);
    throw new Error(`the key of ${option} cannot sign: ${why}`, { cause: error });
  }
}

function keyFile(options: SigningOptions): KeyFile | undefined {
  const { gpgKeyRing, gpgPassphrase, sshSigningKeyFile, sshSigningPassword, sshSigningReusePrivateKey } = options;
  const isReused = sshSigningReusePrivateKey === true;
  const hasSsh = sshSigningKeyFile !== undefined || isReused;
  if (gpgKeyRing !== undefined && hasSsh) {
    throw new Error("--gpg-key-ring and --ssh-signing-* are mutually exclusive; pick one signing format");
  }
  if (sshSigningKeyFile !== undefined && isReused) {
    throw new Error("--ssh-signing-key-file and --ssh-signing-reuse-private-key are mutually exclusive");
  }
  if (sshSigningPassword !== undefined && sshSigningKeyFile === undefined) {
    throw new Error("--ssh-signing-password requires --ssh-signing-key-file");
  }
  if (gpgPassphrase !== undefined && gpgKeyRing === undefined) {
    throw new Error("--gpg-passphrase requires --gpg-key-ring");
  }
  if (gpgKeyRing !== undefined) {
    const option = "--gpg-key-ring";
    const passphraseOption = "--gpg-passphrase";
    return { type: "gpg", file: gpgKeyRing, option, passphrase: gpgPassphrase, passphraseOption };
  }
  if (sshSigningKeyFile !== undefined) {
    const option = "--ssh-signing-key-file";
    const passphraseOption = "--ssh-signing-password";
    return { type: "ssh", file: sshSigningKeyFile, option, passphrase: sshSigningPassword, passphraseOption };
  }
  if (!isReused) return undefined;
  const { privateKeyFile, password = "" } = options;
  if (privateKeyFile === undefined) throw new Error("--ssh-signing-reuse-private-key requires --private-key-file");
  const passphrase = password === "" ? undefined : password;
  return {
    type: "ssh",
    file: privateKeyFile,
    option: "--private-key-file",
    passphrase,
    passphraseOption: "--password",
  };
}
