import type { KMSClient } from "@aws-sdk/client-kms";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import {
  DataKeyError,
  type DataKeyErrorReason,
  type DataKeys,
  type KeyIdentity,
  type SealedDataKey,
} from "../core/ports/data-keys.ts";
import { Secret } from "../core/secret.ts";
import { accountRole, assumedRole } from "./assumed-role.ts";
import { type AwsConnection, clientConfig } from "./aws-connection.ts";
import { AwsFault, type AwsFaultReason } from "./aws-fault.ts";
import { callAws } from "./call-aws.ts";

export interface KmsDataKeysOptions {
  /** Of the installation. The region is that of each key. */
  readonly connection: AwsConnection;
  readonly clock: Pick<Clock, "now">;
  /** Whether objects of this namespace of a cluster may use our own identity with this key or alias, and with this role if one is named. */
  readonly isAllowed: (
    tenant: Omit<Extract<KeyIdentity, { kind: "installation" }>, "kind">,
    sealed: Pick<SealedDataKey, "sealedBy" | "role">,
  ) => boolean;
}

/** The clients of one identity, by region and role. */
type Clients = Map<string, KMSClient>;

/**
 * Opens data keys that KMS has sealed. Each call names the KMS key, so that only the allowed key that the file names can decrypt the data
 * key, and no other key that the credentials may use.
 */
export function kmsDataKeys({ connection, clock, isAllowed }: KmsDataKeysOptions): DataKeys & { close(): void } {
  const own: Clients = new Map();
  /** With an identity its clients and what they know of credentials are dropped; KMS closes their idle connections. */
  const lent = new WeakMap<KeyIdentity, Clients>();

  const clientOf = async (identity: KeyIdentity, region: string, role: string | undefined): Promise<KMSClient> => {
    // Most installations open no data key.
    const { KMSClient } = await import("@aws-sdk/client-kms");
    const clients = identity.kind === "installation" ? own : (lent.get(identity) ?? new Map<string, KMSClient>());
    if (identity.kind !== "installation") lent.set(identity, clients);
    const key = `${region} ${role ?? ""}`;
    const known = clients.get(key);
    if (known !== undefined) return known;
    const base = { ...connection, region, credentials: credentialsOf(identity, { ...connection, region }, clock) };
    const credentials = role === undefined ? base.credentials : assumedRole(role, base, clock);
    const made = new KMSClient(clientConfig({ ...base, credentials }));
    clients.set(key, made);
    return made;
  };

  return {
    async open(sealed, identity, signal) {
      const key = checkSealed(sealed);
      if (identity.kind === "installation" && !isAllowed(identity, sealed)) {
        const name = sealed.role === undefined ? sealed.sealedBy : `${sealed.sealedBy}+${sealed.role}`;
        const why = `this installation does not lend its AWS identity to namespace ${identity.namespace} for it`;
        const mend = "add it to the decryptionKeys of this cluster in the installation, or give other credentials";
        throw new DataKeyError("denied", `kms:Decrypt on key ${name}: ${why}: ${mend}`);
      }
      return decrypt(await clientOf(identity, key.region, sealed.role), sealed, key, signal);
    },
    close() {
      for (const client of own.values()) client.destroy();
    },
  };
}

function credentialsOf(
  identity: KeyIdentity,
  connection: AwsConnection,
  clock: Pick<Clock, "now">,
): AwsConnection["credentials"] {
  switch (identity.kind) {
    case "installation":
      return connection.credentials;
    case "static": {
      const { accessKeyId, secretAccessKey, sessionToken } = identity;
      const session = sessionToken === undefined ? {} : { sessionToken: sessionToken.reveal() };
      return { accessKeyId, secretAccessKey: secretAccessKey.reveal(), ...session };
    }
    case "account":
      return accountRole(identity, connection, clock);
  }
}

async function decrypt(
  client: KMSClient,
  { sealedBy, ciphertext, context }: SealedDataKey,
  { region, account }: { readonly region: string; readonly account: string },
  signal: AbortSignal,
): Promise<Secret> {
  const { DecryptCommand } = await import("@aws-sdk/client-kms");
  const action = { name: "kms:Decrypt", resource: `key ${sealedBy}`, region, account };
  const command = new DecryptCommand({
    KeyId: sealedBy,
    CiphertextBlob: ciphertext,
    EncryptionContext: { ...context },
  });
  try {
    const { Plaintext: opened } = await callAws(action, (options) => client.send(command, options), signal);
    if (opened !== undefined && opened.length > 0) return new Secret(Buffer.from(opened).toString("base64"));
    throw new DataKeyError("mismatched", `${action.name} on ${action.resource}: the data key is empty`);
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    throw new DataKeyError(reasonOf(error.reason), messageOf(error), { cause: error });
  }
}

function reasonOf(reason: AwsFaultReason): DataKeyErrorReason {
  switch (reason) {
    case "credentials":
    case "denied":
      return "denied";
    case "ciphertext":
      return "mismatched";
    case "elsewhere":
    case "missing":
      return "missing";
    case "refused":
      return "malformed";
    case "key":
      return "unusable";
    case "clock":
    case "throttled":
    case "timeout":
    case "unavailable":
    case "unreachable":
      return "unavailable";
  }
}

/** The limits of KMS. */
const maxArnChars = 2048;
export const maxCiphertextBytes = 6144;
/** Our limits: a context is a few names, and any author may have written its file. */
export const maxContextPairs = 32;
export const maxContextChars = 8192;

/** As the reference has it (kustomization 3.10), but stricter: the region becomes part of a host's name. */
const arnPattern = /^arn:aws[\w-]*:kms:([a-z0-9-]{1,32}):([0-9]{12}):(?:key|alias)\/[\w/-]+$/;

const rolePattern = /^arn:aws[\w-]*:iam::[0-9]{12}:role\/[\w+=,.@/-]{1,512}$/;

/** The region and the account of the key. Throws a {@link DataKeyError} `malformed` for a data key that KMS could not open. */
function checkSealed({ sealedBy, role, ciphertext, context }: SealedDataKey): {
  readonly region: string;
  readonly account: string;
} {
  const [, region, account] = sealedBy.length > maxArnChars ? [] : (arnPattern.exec(sealedBy) ?? []);
  if (region === undefined || account === undefined) {
    const form = "write arn:aws:kms:<region>:<account>:key/<id> or …:alias/<name>";
    throw new DataKeyError("malformed", `${JSON.stringify(sealedBy.slice(0, 200))} is not a key of KMS: ${form}`);
  }
  const malformed = (why: string): DataKeyError =>
    new DataKeyError("malformed", `the data key that ${sealedBy} sealed ${why}`);
  if (role !== undefined && !rolePattern.test(role)) {
    throw malformed("names an invalid role: write arn:aws:iam::<account>:role/<name>");
  }
  if (ciphertext.length === 0) throw malformed("is empty");
  if (ciphertext.length > maxCiphertextBytes) {
    throw malformed(`has ${ciphertext.length} bytes, KMS opens ${maxCiphertextBytes} at most`);
  }
  const pairs = Object.entries(context);
  if (pairs.length > maxContextPairs) {
    throw malformed(`is bound to a context of ${pairs.length} names, more than ${maxContextPairs}`);
  }
  if (pairs.flat().join("").length > maxContextChars) {
    throw malformed(`is bound to a context of more than ${maxContextChars} letters`);
  }
  return { region, account };
}
