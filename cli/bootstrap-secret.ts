import { parseSshKey } from "../lib/sources/git/ssh-key.ts";
import { secretOf, upsert } from "./created-object.ts";
import { type CredentialOptions, type SecretData, sshData } from "./git-credentials.ts";
import { secretData } from "./live-secret.ts";
import type { Session } from "./session.ts";

/** The Secret that the cluster logs in with. */
export interface SourceSecret {
  readonly name: string;
  readonly data: SecretData;
  /** Whether the cluster has it as it is. */
  readonly isStored: boolean;
}

/**
 * The key to log in with by ssh: that of the Secret where there is one, so that a bootstrap that is run again makes no second deploy key,
 * or a new one.
 */
export async function keySecret(
  name: string,
  url: URL,
  options: CredentialOptions,
  session: Session,
): Promise<SourceSecret> {
  const live = options.privateKeyFile === undefined ? await secretData(name, session) : undefined;
  if (live?.["identity"] !== undefined && live["known_hosts"] !== undefined) {
    return { name, data: { ...live, "identity.pub": await publicKeyOf(live, name) }, isStored: true };
  }
  const data = await sshData(url, options, session.signal);
  session.terminal.success(`collected public key from SSH server:\n${data["known_hosts"]?.trimEnd() ?? ""}`);
  return { name, data, isStored: false };
}

async function publicKeyOf({ identity = "", password = "", ...data }: SecretData, name: string): Promise<string> {
  if (data["identity.pub"] !== undefined) return data["identity.pub"];
  try {
    const key = await parseSshKey(identity, password);
    return `${key.type} ${key.getPublicSSH().toString("base64")}\n`;
  } catch (error) {
    const mend = "delete the Secret and run the command again, which makes a new key";
    throw new Error(`the identity of Secret ${name} is not a valid key: ${mend}`, { cause: error });
  }
}

/** The values to log in with by https. */
export async function tokenSecret(name: string, data: SecretData, session: Session): Promise<SourceSecret> {
  const live = await secretData(name, session);
  const isStored = Object.entries(data).every(([key, value]) => live?.[key] === value);
  return { name, data, isStored };
}

/** Writes the Secret where the cluster has another one. */
export async function storeSecret({ name, data, isStored }: SourceSecret, session: Session): Promise<void> {
  const { namespace, terminal } = session;
  if (isStored) return terminal.success("source secret up to date");
  terminal.action(`applying source secret "${namespace}/${name}"`);
  await upsert(secretOf(name, namespace, data, {}), session);
  terminal.success("reconciled source secret");
}
