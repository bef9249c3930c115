import { createHash, createPrivateKey, createSign, randomUUID, X509Certificate } from "node:crypto";
import { z } from "zod";
import { Secret } from "../../core/secret.ts";
import { SopsFault } from "../sops-fault.ts";

// The entry `sops.azure-kv` of a decryption Secret, and the form that it asks Entra ID for a token with.

const publicAuthority = "https://login.microsoftonline.com/";
const assertionSeconds = 600;

const text = z.string().default("");
const Entry = z.object({
  tenantId: text,
  clientId: text,
  clientSecret: text,
  clientCertificate: text,
  clientCertificatePassword: text,
  clientCertificateSendChain: z.boolean().default(false),
  authorityHost: text,
  tenant: text,
  appId: text,
  password: text,
});

/** An application of Entra ID and how it proves who it is. */
export interface AzureCredentials {
  /** The URL of the token service: `https://login.microsoftonline.com/<tenant>/oauth2/v2.0/token`. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly proof:
    | { readonly kind: "secret"; readonly secret: Secret }
    | { readonly kind: "certificate"; readonly pem: Secret; readonly sendsChain: boolean };
}

const missing =
  "invalid data: requires a 'clientId' field, a combination of 'tenantId', 'clientId' and 'clientSecret', or 'tenantId', 'clientId' and 'clientCertificate'";

/**
 * The credentials of an entry, in the order in which Flux looks for them. A managed identity (`clientId` alone) belongs to a machine of
 * Azure, which Sluice does not run on: it is refused. Throws a {@link SopsFault} that quotes no value.
 */
export async function readAzureCredentials(bytes: Uint8Array): Promise<AzureCredentials> {
  const entry = await parseEntry(bytes);
  const { tenantId, clientId, clientSecret, clientCertificate, tenant, appId, password } = entry;
  if (tenantId !== "" && clientId !== "") {
    const way = { tokenUrl: tokenUrl(entry.authorityHost, tenantId), clientId };
    if (clientSecret !== "") return { ...way, proof: { kind: "secret", secret: new Secret(clientSecret) } };
    if (clientCertificate !== "") {
      if (entry.clientCertificatePassword !== "" || !clientCertificate.includes("-----BEGIN ")) {
        throw new SopsFault("clientCertificate must be PEM with the certificate and its key, without a password");
      }
      certificateOf(clientCertificate);
      const pem = new Secret(clientCertificate);
      return { ...way, proof: { kind: "certificate", pem, sendsChain: entry.clientCertificateSendChain } };
    }
  }
  if (tenant !== "" && appId !== "" && password !== "") {
    const way = { tokenUrl: tokenUrl(entry.authorityHost, tenant), clientId: appId };
    return { ...way, proof: { kind: "secret", secret: new Secret(password) } };
  }
  if (clientId === "") throw new SopsFault(missing);
  const mend = "give tenantId and clientSecret or clientCertificate as well";
  throw new SopsFault(`clientId alone means a managed identity of Azure, which Sluice does not have: ${mend}`);
}

async function parseEntry(bytes: Uint8Array): Promise<z.output<typeof Entry>> {
  const { loadAll } = await import("js-yaml");
  let parsed: unknown;
  try {
    [parsed] = loadAll(decode(bytes));
  } catch {
    throw new SopsFault("failed to unmarshal Azure authentication file: it is neither YAML nor JSON");
  }
  const entry = Entry.safeParse(parsed ?? {});
  if (entry.success) return entry.data;
  const fields = entry.error.issues.map(({ path }) => path.join(".")).join(", ");
  throw new SopsFault(
    `failed to unmarshal Azure authentication file: ${fields === "" ? "it" : fields} has the wrong type`,
  );
}

/** Tools of Windows write UTF-16 with a byte order mark. */
function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(bytes);
}

function tokenUrl(authorityHost: string, tenant: string): string {
  const authority = authorityHost === "" ? publicAuthority : authorityHost;
  if (!URL.canParse(authority) || new URL(authority).protocol !== "https:") {
    throw new SopsFault("authorityHost must be an https URL");
  }
  if (!/^[\w.-]{1,256}$/.test(tenant)) throw new SopsFault("tenantId must be the id or the domain of a tenant");
  return `${new URL(authority).origin}/${tenant}/oauth2/v2.0/token`;
}

/** The form of a token for `scope` (OAuth's client credentials), and the secrets in it. */
export function tokenForm(
  { clientId, proof, tokenUrl: audience }: AzureCredentials,
  scope: string,
  now: number,
): { readonly form: Readonly<Record<string, string>>; readonly secrets: readonly Secret[] } {
  const form = { grant_type: "client_credentials", client_id: clientId, scope };
  if (proof.kind === "secret") {
    return { form: { ...form, client_secret: proof.secret.reveal() }, secrets: [proof.secret] };
  }
  const { certificates, key } = certificateOf(proof.pem.reveal());
  const [own] = certificates;
  const chain = proof.sendsChain ? { x5c: certificates.map(({ raw }) => raw.toString("base64")) } : {};
  const thumbprint = createHash("sha1")
    .update(own?.raw ?? "")
    .digest("base64url");
  const nbf = Math.floor(now / 1000);
  const claims = { aud: audience, iss: clientId, sub: clientId, jti: randomUUID(), nbf, exp: nbf + assertionSeconds };
  const payload = [{ alg: "RS256", typ: "JWT", x5t: thumbprint, ...chain }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const assertion = `${payload}.${createSign("sha256").update(payload).sign(key, "base64url")}`;
  const type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
  return {
    form: { ...form, client_assertion_type: type, client_assertion: assertion },
    secrets: [new Secret(assertion)],
  };
}

/** The certificates of a PEM, that of the key first, and the key. */
function certificateOf(pem: string) {
  try {
    const key = createPrivateKey(pem);
    const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    const certificates = blocks.map((block) => new X509Certificate(block));
    const own = certificates.find((certificate) => certificate.checkPrivateKey(key));
    if (own !== undefined && key.asymmetricKeyType === "rsa") {
      return { key, certificates: [own, ...certificates.filter((one) => one !== own)] };
    }
  } catch {
    // OpenSSL's words say nothing to the reader, and may say something of the key.
  }
  throw new SopsFault("clientCertificate does not hold a certificate and its RSA key, without a password");
}
