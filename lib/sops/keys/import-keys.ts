import { messageOf } from "../../core/failure.ts";
import { isJsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../core/manifest.ts";
import { nameFault } from "../../core/object-ref.ts";
import { ApiError } from "../../core/ports/cluster.ts";
import type { KeyIdentity } from "../../core/ports/data-keys.ts";
import type { HomeCluster } from "../../core/ports/home-and-target.ts";
import { outageOf } from "../../core/ports/outage.ts";
import { Secret } from "../../core/secret.ts";
import { type CloudAccount, cloudAccount } from "../../identity/cloud-account.ts";
import type { KeySource, RecipientKind } from "../key-source.ts";
import { SopsFault } from "../sops-fault.ts";
import { ageIdentities, ageKeys } from "./age.ts";
import { type AzureCredentials, readAzureCredentials } from "./azure-credentials.ts";
import { azureKeyVaultSource } from "./azure-key-vault.ts";
import { type GcpCredentials, gcpKmsKeySource, readGcpCredentials } from "./gcp-kms.ts";
import type { InstalledObject, KeyParts } from "./key-parts.ts";
import { kmsKeySource, readStaticCredentials } from "./kms.ts";
import { misnamedEntries } from "./misnamed-entries.ts";
import { pgpKeySource, readPgpKeys } from "./pgp.ts";
import { vaultKeySource } from "./vault.ts";
import { vaultTokens } from "./vault-tokens.ts";

/** Whose keys: `spec.decryption` of a Kustomization, its cluster (as in work keys) and namespace. */
export interface KeyRequest {
  readonly decryption: {
    readonly secretRef?: { readonly name: string };
    readonly serviceAccountName?: string;
  };
  readonly cluster: string;
  readonly namespace: string;
}

/**
 * The keys of one run (reference 3.10): those of the decryption Secret, else those that the installation has for all, and for each key
 * service the identity that may be used. No service is asked before a file needs it. Throws a {@link SopsFault} in Flux's words, or an
 * `Outage` if the API server does not answer.
 */
export async function importKeys(
  request: KeyRequest,
  parts: KeyParts,
  signal: AbortSignal,
): Promise<readonly KeySource[]> {
  const { cluster, decryption, namespace } = request;
  const imported = await importedOf(request, parts, signal);
  const { serviceAccountName = "" } = decryption;
  const name = serviceAccountName === "" ? parts.defaultAccount : serviceAccountName;
  const faultOf = (message: string) => new SopsFault(message);
  const account = name === "" ? undefined : cloudAccount({ namespace, name }, parts.home, parts.accountTokens, faultOf);
  const { http, clock, dataKeys } = parts;
  return [
    ageKeys(imported.age),
    pgpKeySource(imported.pgp),
    kmsKeySource(dataKeys, onceFor(imported.aws, account, { cluster, namespace })),
    vaultKeySource(http, vaultTokens(imported.vaultToken, account, parts)),
    imported.gcp === undefined
      ? without("gcp_kms", "failed to decrypt sops data key with GCP KMS key", "sops.gcp-kms")
      : gcpKmsKeySource(http, clock, imported.gcp),
    imported.azure === undefined
      ? without("azure_kv", "failed to decrypt sops data key with Azure Key Vault", "sops.azure-kv")
      : azureKeyVaultSource(http, clock, imported.azure),
    misnamedEntries(imported.unread),
  ];
}

interface Imported {
  readonly age: string[];
  readonly pgp: Awaited<ReturnType<typeof readPgpKeys>>[number][];
  aws?: KeyIdentity;
  vaultToken?: Secret;
  gcp?: GcpCredentials;
  azure?: AzureCredentials;
  /** Entries with a name that no key has. */
  readonly unread: (readonly [string, Buffer])[];
}

async function importedOf(
  { decryption: { secretRef }, namespace }: KeyRequest,
  { home, ageSecret }: KeyParts,
  signal: AbortSignal,
): Promise<Imported> {
  const imported: Imported = { age: [], pgp: [], unread: [] };
  // A secretRef disables the Secret of the installation, whose other keys are then not used.
  const place = secretRef === undefined ? ageSecret : { namespace, name: secretRef.name };
  if (place === undefined) return imported;
  const label = secretRef === undefined ? "sops SOPS age decryption Secret" : "sops decryption Secret";
  const what = `${label} '${place.namespace}/${place.name}'`;
  const secret = await secretAt(place, what, home, signal);
  for (const [key, value] of dataOf(secret)) {
    if (secretRef === undefined && !key.endsWith(".agekey")) continue;
    try {
      await importEntry(key, value, imported);
    } catch (error) {
      if (!(error instanceof SopsFault)) throw error;
      throw new SopsFault(`failed to import '${key}' data from ${what}: ${error.message}`);
    }
  }
  return imported;
}

async function importEntry(key: string, value: Buffer, imported: Imported): Promise<void> {
  if (key.endsWith(".asc")) imported.pgp.push(...(await readPgpKeys(value.toString())));
  else if (key.endsWith(".agekey")) imported.age.push(...ageIdentities(value.toString()));
  else if (key === "sops.vault-token") imported.vaultToken = new Secret(value.toString().trim());
  else if (key === "sops.aws-kms") imported.aws = await readStaticCredentials(value.toString());
  else if (key === "sops.azure-kv") imported.azure = await readAzureCredentials(value);
  else if (key === "sops.gcp-kms") imported.gcp = readGcpCredentials(value.toString());
  else imported.unread.push([key, value]);
}

async function secretAt(
  { namespace, name }: InstalledObject,
  what: string,
  home: Pick<HomeCluster, "get">,
  signal: AbortSignal,
): Promise<LiveObject> {
  const fault = nameFault(name);
  if (fault !== undefined) throw new SopsFault(`cannot get ${what}: ${fault}`);
  let found: LiveObject | undefined;
  try {
    found = await home.get({ group: "", version: "v1", kind: "Secret", namespace, name }, signal);
  } catch (error) {
    if (error instanceof ApiError && error.reason === "Forbidden") {
      throw new SopsFault(`cannot get ${what}: ${messageOf(error)}`);
    }
    throw outageOf(error, "BuildFailed", `cannot get ${what}`);
  }
  if (found === undefined) throw new SopsFault(`secrets "${name}" not found`);
  return found;
}

/** By key, so that the same entry is always the first that is refused. */
function dataOf(secret: LiveObject): readonly (readonly [string, Buffer])[] {
  const data = isJsonObject(secret["data"]) ? secret["data"] : {};
  return Object.entries(data)
    .flatMap(([key, value]) => (typeof value === "string" ? [[key, Buffer.from(value, "base64")] as const] : []))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Who asks AWS: the tenant's credentials, his account, or the installation. One object for the run, since it keeps the sessions. */
function onceFor(
  given: KeyIdentity | undefined,
  account: CloudAccount | undefined,
  tenant: { readonly cluster: string; readonly namespace: string },
): (signal: AbortSignal) => Promise<KeyIdentity> {
  let known = given;
  return async (signal) =>
    (known ??= account === undefined ? { kind: "installation", ...tenant } : await account.awsIdentity(signal));
}

/** Stands for a key service that Sluice has no identity of its own at. */
function without(kind: RecipientKind, what: string, key: string): KeySource {
  return {
    open(recipient) {
      if (recipient.kind !== kind) return Promise.resolve(undefined);
      const why = `there are no credentials: store them as ${key} in the Secret of spec.decryption.secretRef`;
      return Promise.reject(new SopsFault(`${what}: ${why}`));
    },
  };
}
