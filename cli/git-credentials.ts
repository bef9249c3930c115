import { readFile } from "node:fs/promises";
import { messageOf } from "../lib/core/failure.ts";
import { PassphraseMissing, parseSshKey } from "../lib/sources/git/ssh-key.ts";
import { scanHostKey } from "./scan-host-key.ts";

/** The options of `create secret git` and `create source git` that say how to log in. */
export interface CredentialOptions {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
  readonly bearerToken?: string;
  /** PEM file with the authority of the git host. */
  readonly caCrtFile?: string;
  /** The former name of it, which counts less. */
  readonly caFile?: string;
  readonly privateKeyFile?: string;
  readonly sshKeyAlgorithm: "ecdsa" | "ed25519" | "rsa";
  /** Text as it was typed. */
  readonly sshRsaBits: string;
  readonly sshEcdsaCurve: "p256" | "p384" | "p521";
}

/** `stringData` of the Secret; empty if there is nothing to log in with. */
export type SecretData = Readonly<Record<string, string>>;

/** The URL of a repository, in a scheme that sources have. */
export function repositoryUrl(text = ""): URL {
  if (text === "") throw new Error("url is required");
  if (!URL.canParse(text)) {
    throw new Error(
      `git URL parse failed: ${JSON.stringify(withoutLogin(text))} is not a URL: write it like https://host/path or ssh://git@host/path`,
    );
  }
  const url = new URL(text);
  const scheme = url.protocol.replace(/:$/, "");
  if (["ssh", "http", "https"].includes(scheme)) return url;
  throw new Error(`git URL scheme '${scheme}' not supported, can be: ssh, http and https`);
}

function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/@]*@/, "//");
}

/** For ssh: the key of a file, or a new one, and the host's key as it shows it now. */
export async function sshData(url: URL, options: CredentialOptions, signal: AbortSignal): Promise<SecretData> {
  if ((options.caCrtFile ?? options.caFile) !== undefined) {
    throw new Error("specifying a CA file is not supported for Git over SSH");
  }
  const { password = "", privateKeyFile } = options;
  const key = privateKeyFile === undefined ? await newKey(options) : await readKey(privateKeyFile, password);
  const knownHosts = await scanHostKey(url, signal);
  return { ...key, known_hosts: knownHosts.trimEnd(), ...(password === "" ? {} : { password }) };
}

/** For http and https: what was given. */
export async function httpData(options: CredentialOptions): Promise<SecretData> {
  const { username = "", password = "", bearerToken = "" } = options;
  const file = options.caCrtFile ?? options.caFile;
  return {
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
    ...(bearerToken === "" ? {} : { bearerToken }),
    ...(file === undefined ? {} : { "ca.crt": await readText(file, "--ca-crt-file") }),
  };
}

async function readKey(file: string, passphrase: string): Promise<SecretData> {
  const identity = await readText(file, "--private-key-file");
  try {
    const key = await parseSshKey(identity, passphrase);
    return { identity, "identity.pub": publicLine(key.type, key.getPublicSSH()) };
  } catch (error) {
    const mend = error instanceof PassphraseMissing ? "; give its passphrase with --password" : "";
    throw new Error(`private key of ${file} cannot be used: ${messageOf(error)}${mend}`, { cause: error });
  }
}

async function newKey({ sshKeyAlgorithm, sshRsaBits, sshEcdsaCurve }: CredentialOptions): Promise<SecretData> {
  const { default: ssh } = await import("ssh2");
  const generate = (): KeyPair => {
    switch (sshKeyAlgorithm) {
      case "ed25519":
        return ssh.utils.generateKeyPairSync("ed25519");
      case "ecdsa":
        return ssh.utils.generateKeyPairSync("ecdsa", { bits: ecdsaBits[sshEcdsaCurve] });
      case "rsa":
        return ssh.utils.generateKeyPairSync("rsa", { bits: rsaBits(sshRsaBits) });
    }
  };
  const { public: open, private: secret } = await usablePair(generate);
  return { identity: `${secret.trimEnd()}\n`, "identity.pub": `${open.trim()}\n` };
}

/** In the formats of OpenSSH. */
interface KeyPair {
  readonly public: string;
  readonly private: string;
}

/** ssh2 1.17 damages about one key of ed25519 in 250, so ten in a row have another cause. */
const maxDamaged = 10;

/**
 * The first pair whose private key can be read: the server would refuse a login with a damaged one.
 *
 * @internal
 */
export async function usablePair(generate: () => KeyPair): Promise<KeyPair> {
  for (let damaged = 1; ; damaged++) {
    const pair = generate();
    try {
      await parseSshKey(pair.private, "");
      return pair;
    } catch (error) {
      if (damaged === maxDamaged) throw error;
    }
  }
}

const ecdsaBits = { p256: 256, p384: 384, p521: 521 } as const;

function rsaBits(text: string): number {
  const bits = Number(text);
  if (Number.isInteger(bits) && bits >= 2048 && bits <= 8192 && bits % 8 === 0) return bits;
  throw new Error(`--ssh-rsa-bits must be a multiple of 8 from 2048 to 8192, not ${text}`);
}

function publicLine(type: string, blob: Buffer): string {
  return `${type} ${blob.toString("base64")}\n`;
}

async function readText(file: string, option: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new Error(`the file of ${option} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
