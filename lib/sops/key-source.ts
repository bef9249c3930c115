/** One recipient of a data key, or of one share of it. `enc` is the encrypted share as the file holds it. */
export type Recipient =
  | { readonly kind: "age"; readonly recipient: string; readonly enc: string }
  | { readonly kind: "pgp"; readonly fingerprint: string; readonly enc: string }
  | {
      readonly kind: "kms";
      readonly arn: string;
      /** A role to assume first. */
      readonly role: string | undefined;
      readonly context: Readonly<Record<string, string>>;
      readonly awsProfile: string | undefined;
      readonly enc: string;
    }
  | { readonly kind: "gcp_kms"; readonly resourceId: string; readonly enc: string }
  | { readonly kind: "hckms"; readonly keyId: string; readonly enc: string }
  | {
      readonly kind: "azure_kv";
      readonly vaultUrl: string;
      readonly keyName: string;
      readonly version: string;
      readonly enc: string;
    }
  | {
      readonly kind: "hc_vault";
      readonly vaultAddress: string;
      readonly enginePath: string;
      readonly keyName: string;
      readonly enc: string;
    };

export type RecipientKind = Recipient["kind"];

/** Whatever can open data keys: a set of private keys, or a key service with credentials. */
export interface KeySource {
  /**
   * The data key or the share of it; undefined if this source does not open recipients of that kind. Throws a {@link SopsFault}
   * that says why it cannot, without key material, or the reason of the signal.
   */
  open(recipient: Recipient, signal: AbortSignal): Promise<Uint8Array | undefined>;
}

/** How sops names a recipient in its messages. */
export function recipientName(recipient: Recipient): string {
  switch (recipient.kind) {
    case "age":
      return shortened(recipient.recipient);
    case "pgp":
      return recipient.fingerprint;
    case "kms":
      return kmsName(recipient);
    case "gcp_kms":
      return recipient.resourceId;
    case "hckms":
      return recipient.keyId;
    case "azure_kv":
      return `${recipient.vaultUrl}/keys/${recipient.keyName}/${recipient.version}`;
    case "hc_vault":
      return `${recipient.vaultAddress}/v1/${recipient.enginePath}/keys/${recipient.keyName}`;
  }
}

/** A post-quantum recipient has 1,959 characters: in front of the reason, they would hide it. */
function shortened(recipient: string): string {
  return recipient.length <= 80 ? recipient : `${recipient.slice(0, 60)}...${recipient.slice(-12)}`;
}

function kmsName({ arn, role, context, awsProfile }: Recipient & { kind: "kms" }): string {
  const withRole = role === undefined ? arn : `${arn}+${role}`;
  const pairs = Object.entries(context).map(([key, value]) => `${key}:${value}`);
  const words = pairs.toSorted().join(",");
  if (awsProfile !== undefined) return `${withRole}|${words}|${awsProfile}`;
  return words === "" ? withRole : `${withRole}|${words}`;
}
