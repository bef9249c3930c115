import { DecryptCommand, KMSClient } from "@aws-sdk/client-kms";
import { messageOf } from "../../core/failure.ts";
import { DataKeyError, type DataKeyErrorKind, type DataKeys, type SealedDataKey } from "../../core/ports/data-keys.ts";
import { Secret } from "../../core/secret.ts";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";
import { AwsFault, type AwsFaultKind } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { regionalClients } from "../regional-clients.ts";
import { checkSealed } from "./check-sealed.ts";

export interface KmsDataKeysOptions {
  /** With credentials of a tenant's own, or with the installation's. The region is that of each key. */
  readonly connection: AwsConnection;
  /** Whether objects of this namespace may use these credentials on this key, or on this alias. */
  readonly isAllowed: (namespace: string, keyArn: string) => boolean;
}

/**
 * Data keys that KMS has sealed. The key is named in each call, so that a data key opens by the key that its file names, which is
 * the one that was allowed, and by no other that the credentials could use.
 */
export function kmsDataKeys({ connection, isAllowed }: KmsDataKeysOptions): DataKeys & { close(): void } {
  const clients = regionalClients((region) => new KMSClient(clientConfig({ ...connection, region })));
  return {
    async open(sealed, namespace, signal) {
      const key = checkSealed(sealed);
      if (!isAllowed(namespace, sealed.sealedBy)) {
        const why = `this installation does not lend its AWS identity to namespace ${namespace} for it`;
        throw new DataKeyError("denied", `kms:Decrypt on key ${sealed.sealedBy}: ${why}`);
      }
      return decrypt(clients.of(key.region), sealed, key, signal);
    },
    close: () => clients.close(),
  };
}

async function decrypt(
  client: KMSClient,
  { sealedBy, ciphertext, context }: SealedDataKey,
  { region, account }: { readonly region: string; readonly account: string },
  signal: AbortSignal,
): Promise<Secret> {
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
    throw new DataKeyError(kindOf(error.kind), messageOf(error), { cause: error });
  }
}

function kindOf(kind: AwsFaultKind): DataKeyErrorKind {
  switch (kind) {
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
