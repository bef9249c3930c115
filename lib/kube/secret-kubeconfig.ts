import { createPrivateKey, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { cutText } from "../core/cut-text.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import { addressKind } from "../core/network/address-kind.ts";
import { KubeconfigFault, type StoredKubeconfig } from "../core/ports/remote-clusters.ts";
import { Secret } from "../core/secret.ts";
import type { ClientCertificate, ClusterConfig, TokenSource, UserConfig } from "./cluster-config.ts";
import { certificatesIn } from "./endpoint.ts";
import { type Fields, type KubeconfigFile, kubeconfigOf, parseYaml } from "./kubeconfig-file.ts";

/**
 * The limit for a kubeconfig in a Secret: more would be parsed for too long. A real one has some KiB, or a few hundred with many
 * contexts.
 */
export const maxStoredKubeconfigBytes = 256 * 1024;

/** A kubeconfig of a Secret, as far as others may tell us whom to trust and who we are. */
export interface StoredConfig {
  readonly config: ClusterConfig;
  /** What it has and we leave out, as Flux does: named when the cluster cannot be entered, since that may be why. */
  readonly leftOut: readonly string[];
}

/**
 * The cluster of a kubeconfig that another user wrote (reference 6.2): the server of its current context, its authority, names,
 * proxy and credentials, all inline. No program is run and no file is read for it. Impersonation is left out; so is an exec plugin
 * or auth provider beside another credential, and the wish not to verify the server's certificate.
 *
 * @throws KubeconfigFault in the words of Flux's client where it has some; others begin with the Secret and its key. It quotes no value
 * but those of `kind` and `apiVersion`
 */
export async function readStoredKubeconfig({ secret, key, bytes }: StoredKubeconfig): Promise<StoredConfig> {
  const where = `of secret '${secret}', key '${key}'`;
  const prefix = `kubeconfig ${where}: `;
  try {
    return configOf(await contentOf(where, bytes));
  } catch (error) {
    if (error instanceof KubeconfigFault || !(error instanceof Error)) throw error;
    // The fault of a field has it already.
    const message = error.message.startsWith(prefix) ? error.message : `${prefix}${error.message}`;
    throw new KubeconfigFault(message, { cause: error.cause ?? error });
  }
}

async function contentOf(where: string, bytes: Uint8Array): Promise<KubeconfigFile> {
  if (bytes.length > maxStoredKubeconfigBytes) {
    throw new Error(`it has ${bytes.length} bytes, ${maxStoredKubeconfigBytes} are allowed`);
  }
  const text = Buffer.from(bytes).toString("utf8");
  if (text.trim() === "") throw new KubeconfigFault(nothingSaid);
  const content = await parseYaml(text);
  // The parser's reason may quote the text.
  if (content instanceof Error)
    throw new Error(
      `yaml: ${/^line \d+/.exec(content.message)?.[0] ?? "line 1"}: not YAML. Store a kubeconfig in this key, as YAML or JSON`,
    );
  if (!isJsonObject(content)) throw new KubeconfigFault(notAnObject(content));
  refuseOtherKind(content);
  return kubeconfigOf(content, where);
}

/** Without a kind or version it counts as a kubeconfig, as for kubectl. */
function refuseOtherKind(content: JsonObject): void {
  const textOr = (key: string, usual: string): string => {
    const value = content[key] ?? "";
    if (typeof value !== "string") throw new Error(`${key} must be a text`);
    return value === "" ? usual : cutText(value, 100);
  };
  const version = textOr("apiVersion", "v1");
  const kind = textOr("kind", "Config");
  if (version === "v1" && kind === "Config") return;
  throw new KubeconfigFault(
    `no kind "${kind}" is registered for version "${version}" in scheme "pkg/runtime/scheme.go:111"`,
  );
}

/** As Go's decoder says it. */
function notAnObject(content: unknown): string {
  const what = Array.isArray(content) ? "array" : typeof content === "boolean" ? "bool" : typeof content;
  const wanted = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;
  return `couldn't get version/kind; json parse error: json: cannot unmarshal ${what} into Go value of type ${wanted}`;
}

const nothingSaid =
  "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

function configOf({ currentContext, contexts, clusters, users }: KubeconfigFile): StoredConfig {
  const context = contexts.find(({ name }) => name === currentContext)?.fields;
  if (currentContext !== undefined && context === undefined) {
    const faults = [`context was not found for specified context: ${currentContext}`, "cluster has no server defined"];
    throw new KubeconfigFault(`invalid configuration: [${faults.join(", ")}]`);
  }
  const clusterName = context?.text("cluster");
  const cluster = clusters.find(({ name }) => name === clusterName)?.fields;
  if (context === undefined || clusterName === undefined || cluster === undefined)
    throw new KubeconfigFault(nothingSaid);
  const userName = context.text("user");
  const user = users.find(({ name }) => name === userName)?.fields;
  if (userName !== undefined && user === undefined) {
    throw new KubeconfigFault(`auth info "${userName}" does not exist`);
  }
  const leftOut: string[] = [];
  const proxy = proxyOf(cluster);
  const config: ClusterConfig = {
    name: currentContext ?? "",
    server: serverOf(cluster, clusterName, proxy),
    namespace: undefined,
    tls: {
      ca: authorityOf(cluster),
      serverName: cluster.text("tls-server-name"),
      insecure: false,
    },
    proxy,
    user: user === undefined || userName === undefined ? anonymous : userOf(user, userName, leftOut),
  };
  if (cluster.flag("insecure-skip-tls-verify"))
    leftOut.push(`clusters[${clusterName}].cluster.insecure-skip-tls-verify`);
  return { config, leftOut };
}

const anonymous: UserConfig = { name: "", certificate: undefined, token: undefined, impersonate: undefined };

function serverOf(cluster: Fields, name: string, proxy: URL | undefined): URL {
  const text = cluster.text("server");
  if (cluster.isEmpty()) throw new KubeconfigFault(nothingSaid);
  if (text === undefined) throw new KubeconfigFault(`invalid configuration: no server found for cluster "${name}"`);
  // As client-go reads an address without a scheme.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !["https:", "http:"].includes(url.protocol)) {
    throw cluster.fault("server", "must be an address that begins with https://");
  }
  if (url.username !== "" || url.password !== "")
    throw cluster.fault("server", "must hold no user name and no password");
  if (url.protocol === "http:" && (proxy !== undefined || !isOwnMachine(url.hostname))) {
    throw cluster.fault(
      "server",
      "must begin with https://: without TLS the credential and the answers could be read on the way",
    );
  }
  return url;
}

function isOwnMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || (isIP(host) !== 0 && addressKind(host) === "loopback");
}

function proxyOf(cluster: Fields): URL | undefined {
  const text = cluster.text("proxy-url");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:", "socks5:"].includes(url.protocol)) {
    throw cluster.fault("proxy-url", "must be an address that begins with http://, https:// or socks5://");
  }
  return url;
}

function authorityOf(cluster: Fields): string | undefined {
  const ca = inline(cluster, "certificate-authority");
  if (ca === undefined) return undefined;
  const fault = (reason: string, cause?: unknown) =>
    new Error(cluster.fault("certificate-authority-data", reason).message, { cause });
  let certificates: number;
  try {
    certificates = certificatesIn(ca).length;
  } catch (error) {
    throw fault("holds a certificate that cannot be read", error);
  }
  if (certificates === 0) throw fault("holds no certificate in PEM");
  return ca;
}

function userOf(user: Fields, name: string, leftOut: string[]): UserConfig {
  if (user.path("tokenFile") !== undefined) throw noFile(user, "tokenFile", "token");
  const certificate = certificateOf(user, name);
  const token = tokenOf(user, name);
  for (const key of ["exec", "auth-provider"] as const) {
    if (user.nested(key) === undefined) continue;
    if (certificate === undefined && token === undefined) {
      throw user.fault(
        key,
        "is not allowed: no program is run for a kubeconfig of a Secret. Give a token or a client certificate",
      );
    }
    leftOut.push(`users[${name}].user.${key}`);
  }
  if (user.text("as") !== undefined) leftOut.push(`users[${name}].user.as`);
  return { name, certificate, token, impersonate: undefined };
}

function certificateOf(user: Fields, name: string): ClientCertificate | undefined {
  const cert = inline(user, "client-certificate");
  const key = inline(user, "client-key");
  if (cert === undefined) return undefined;
  if (key === undefined) {
    throw new KubeconfigFault(
      `invalid configuration: client-key-data or client-key must be specified for ${name} to use the clientCert authentication method.`,
    );
  }
  let holder: X509Certificate;
  try {
    holder = new X509Certificate(cert);
  } catch (error) {
    const fault = user.fault("client-certificate-data", "holds no certificate in PEM");
    throw new Error(fault.message, { cause: error });
  }
  const expiresAt = holder.validToDate;
  if (expiresAt.getTime() <= Date.now()) {
    throw user.fault("client-certificate-data", `has expired at ${expiresAt.toISOString()}: renew it`);
  }
  let isOfKey: boolean;
  try {
    isOfKey = holder.checkPrivateKey(createPrivateKey(key));
  } catch (error) {
    throw new Error(user.fault("client-key-data", "holds no private key in PEM").message, { cause: error });
  }
  if (!isOfKey) throw user.fault("client-key-data", "is not the key of client-certificate-data");
  return { cert, key: new Secret(key) };
}

function tokenOf(user: Fields, name: string): TokenSource | undefined {
  const [token, username, password] = [user.text("token"), user.text("username"), user.text("password")];
  const isBasic = username !== undefined || password !== undefined;
  if (token !== undefined && isBasic) {
    throw new KubeconfigFault(
      `invalid configuration: more than one authentication method found for ${name}; found [token basicAuth], only one is allowed`,
    );
  }
  if (token !== undefined) {
    // What no header can hold would be quoted by the client.
    if (!/^[\x21-\x7e]+$/.test(token)) throw user.fault("token", "must be printable ASCII without spaces");
    return { kind: "token", token: new Secret(token) };
  }
  if (!isBasic) return undefined;
  return { kind: "basic", username: username ?? "", password: new Secret(password ?? "") };
}

/** The content of `<key>-data`. Refuses the field that names a file. */
function inline(fields: Fields, key: string): string | undefined {
  const data = fields.text(`${key}-data`);
  if (data === undefined) {
    if (fields.path(key) !== undefined) throw noFile(fields, key, `${key}-data`);
    return undefined;
  }
  // Without its white space first: an expression that may match it in two places takes minutes for a megabyte of it.
  const packed = data.replaceAll(/\s/g, "");
  if (!/^[A-Za-z0-9+/]*=*$/.test(packed)) throw fields.fault(`${key}-data`, "is not base64");
  return Buffer.from(packed, "base64").toString("utf8");
}

function noFile(fields: Fields, key: string, instead: string): Error {
  return fields.fault(
    key,
    `names a file, which is not read for a kubeconfig of a Secret: put its content in ${instead}`,
  );
}
