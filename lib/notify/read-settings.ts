import { load } from "js-yaml";
import type { NotificationProviderSpec } from "../api/notification-provider.ts";
import { maxAddress } from "../api/notification-provider.ts";
import { isJsonObject } from "../core/json.ts";
import { nameFault } from "../core/object-ref.ts";
import { ApiError, type Cluster } from "../core/ports/cluster.ts";
import type { Proxy } from "../core/ports/dial.ts";
import type { TlsTrust } from "../core/ports/http.ts";
import { secretTexts } from "../core/secret-texts.ts";
import { type GithubApp, githubAppIn } from "../git-hosts/host-settings.ts";
import { goSchema } from "../manifests/go-yaml/go-schema.ts";
import { numberText } from "../manifests/go-yaml/number.ts";
import { proxyAt, proxyIn } from "../secrets/proxy.ts";
import { isWholeTrust, type SecretData, trustIn } from "../secrets/trust.ts";
import type { ProviderClass } from "./admits.ts";
import type { ProviderSettings } from "./provider.ts";

/** A Provider as the cluster has it. */
export interface LiveProvider {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly spec: NotificationProviderSpec;
}

/** The settings that come from a Provider and its Secrets. */
export type OwnSettings = Omit<ProviderSettings, "alert" | "commitStatus">;

interface SettingsParts {
  readonly home: Pick<Cluster, "get">;
  /** Called with every value of a Secret as soon as it is read, so that no text shows the value. */
  readonly hide: (value: string) => void;
  readonly class: ProviderClass;
}

/**
 * Reads the Secrets of a Provider (reference notifications 14). Throws Flux's text for what is wrong with them, and an `ApiError` where the
 * cluster does not answer.
 */
export async function readSettings(
  provider: LiveProvider,
  parts: SettingsParts,
  signal: AbortSignal,
): Promise<OwnSettings> {
  const { name, namespace, uid, spec } = provider;
  const { certSecretRef, proxySecretRef, secretRef } = spec;
  const read = async (ref: { readonly name: string }): Promise<NamedSecret> => ({
    subject: `secret '${namespace}/${ref.name}'`,
    data: await secretData(namespace, ref.name, parts, signal),
  });
  const secret = secretRef && (await read(secretRef));
  const own = secret === undefined ? noSecret : ownSettings(secret, `${namespace}/${secretRef?.name ?? ""}`);
  for (const value of Object.values(own.headers)) parts.hide(value);
  const ofSpec = spec.proxy === undefined || spec.proxy === "" ? undefined : proxyAt(spec.proxy, asError);
  const proxySecret = proxySecretRef && (await read(proxySecretRef));
  const proxy =
    proxySecret === undefined
      ? (own.proxy ?? ofSpec)
      : proxyIn(proxySecret.data, proxySecret.subject, (why) => new Error(`failed to get proxy URL: ${why}`));
  const tls = tlsOf(certSecretRef && (await read(certSecretRef)), secret, parts.class);
  const { proxy: _proxy, username = spec.username ?? "", ...rest } = own;
  return {
    ...{ type: spec.type, name, namespace, uid, channel: spec.channel ?? "", username },
    ...rest,
    address: rest.address ?? spec.address ?? "",
    ...(proxy === undefined ? {} : { proxy }),
    ...(tls === undefined ? {} : { tls }),
  };
}

/** A Secret with how messages name it. */
interface NamedSecret {
  readonly subject: string;
  readonly data: SecretData;
}

/** The settings from the Secret of `spec.secretRef`. */
interface OfSecret extends Pick<ProviderSettings, "headers" | "password" | "secret" | "token"> {
  readonly address: string | undefined;
  readonly username?: string;
  readonly proxy?: Proxy;
  readonly githubApp?: GithubApp;
}

const noSecret: OfSecret = { address: undefined, headers: {}, password: "", secret: {}, token: "" };

function ownSettings({ data, subject }: NamedSecret, name: string): OfSecret {
  const address = data.get("address");
  if (address !== undefined && Buffer.byteLength(address) > maxAddress) {
    throw new Error(`invalid address in secret: address exceeds maximum length of ${maxAddress} bytes`);
  }
  const proxy = data.get("proxy")?.trim() ?? "";
  const username = data.get("username");
  const password = data.get("password");
  const fault = loginFault({ data, subject });
  const githubApp = githubAppIn(data);
  return {
    address: address?.trim(),
    ...(proxy === "" ? {} : { proxy: proxyAt(proxy, () => new Error(`invalid 'proxy' in secret '${name}'`)) }),
    headers: headersOf(data.get("headers")),
    token: fault === undefined ? (data.get("token") ?? "") : "",
    password: fault === undefined ? (password ?? "") : "",
    ...(fault === undefined && username !== undefined ? { username } : {}),
    secret: Object.fromEntries(data),
    ...(githubApp === undefined ? {} : { githubApp }),
  };
}

/** Why Flux takes no login at all from the Secret. */
function loginFault({ data, subject }: NamedSecret): string | undefined {
  const [username, password] = [data.has("username"), data.has("password")];
  if (username && !password) return `${subject}: malformed basic auth - has 'username' but missing 'password'`;
  if (password && !username) return `${subject}: malformed basic auth - has 'password' but missing 'username'`;
  const [byOwner, byId] = [data.has("githubAppInstallationOwner"), data.has("githubAppInstallationID")];
  if (data.has("githubAppID") && data.has("githubAppPrivateKey") && byOwner === byId) {
    return `${subject} must contain exactly one of 'githubAppInstallationOwner' or 'githubAppInstallationID'`;
  }
  return trustBesideLogin({ data, subject }).fault;
}

/** The certificates of a Secret that is a login first: a half pair does not count, and what cannot be read is a fault. */
function trustBesideLogin({ data, subject }: NamedSecret): { readonly trust?: TlsTrust; readonly fault?: string } {
  if (!isWholeTrust(data)) return {};
  try {
    return { trust: trustIn(data, subject, (why) => new TrustFault(why)) };
  } catch (error) {
    if (!(error instanceof TrustFault)) throw error;
    return { fault: error.message };
  }
}

class TrustFault extends Error {
  override readonly name = "TrustFault";
}

function tlsOf(
  certificates: NamedSecret | undefined,
  secret: NamedSecret | undefined,
  of: ProviderClass,
): TlsTrust | undefined {
  const failed = (why: string): Error => new Error(`failed to get TLS config: ${why}`);
  if (certificates !== undefined) return alone(trustIn(certificates.data, certificates.subject, failed));
  if (secret === undefined || of !== "commit-status") return undefined;
  const fault = loginFault(secret);
  if (fault !== undefined) throw failed(fault);
  const { trust } = trustBesideLogin(secret);
  return trust && alone(trust);
}

/** As in Flux, an authority takes the place of the system's. */
function alone(trust: TlsTrust): TlsTrust {
  return trust.ca === undefined ? trust : { ...trust, isCaAlone: true };
}

/** The limit for the YAML of the key `headers`. */
export const maxHeadersChars = 65_536;

/** A mapping of names to texts in YAML. As Go reads it, numbers and booleans are their text, and null is an empty one. */
function headersOf(yaml: string | undefined): Readonly<Record<string, string>> {
  if (yaml === undefined) return {};
  if (yaml.length > maxHeadersChars) {
    throw new Error(`failed to read headers from secret: they have more than ${maxHeadersChars} characters`);
  }
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`failed to read headers from secret: ${why}`, { cause });
  let value: unknown;
  try {
    value = load(yaml, { schema: goSchema });
  } catch (error) {
    // Its own text quotes the Secret.
    throw failed("it is not YAML", error);
  }
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw failed("it is not a mapping of names to texts");
  return Object.fromEntries(
    Object.entries(value).map(([name, each]: readonly [string, unknown]) => {
      const text = headerText(each);
      if (text === undefined) throw failed("it is not a mapping of names to texts");
      return [name, text];
    }),
  );
}

function headerText(value: unknown): string | undefined {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" || typeof value === "bigint" ? numberText(value) : undefined;
}

async function secretData(
  namespace: string,
  name: string,
  { hide, home }: SettingsParts,
  signal: AbortSignal,
): Promise<SecretData> {
  const failed = (why: string, cause?: unknown): Error =>
    new Error(`failed to get secret '${namespace}/${name}': ${why}`, { cause });
  const fault = nameFault(name);
  if (fault !== undefined) throw failed(fault);
  const ref = { group: "", version: "v1", kind: "Secret", namespace, name };
  const live = await home.get(ref, signal).catch((error: unknown) => {
    if (error instanceof ApiError && error.reason === "Forbidden") throw failed(error.message, error);
    throw error;
  });
  if (live === undefined) throw failed(`secrets ${JSON.stringify(name)} not found`);
  const data = secretTexts(live);
  for (const value of data.values()) hide(value);
  return data;
}

function asError(why: string): Error {
  return new Error(why);
}
