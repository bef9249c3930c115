import { X509Certificate } from "node:crypto";
import { delimiter, join } from "node:path";
import { messageOf } from "../core/failure.ts";
import { isJsonObject } from "../core/json.ts";
import { Secret } from "../core/secret.ts";
import type { ClientCertificate, ClusterConfig, ExecPlugin, TokenSource, UserConfig } from "./cluster-config.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { type Fields, type KubeconfigFile, type NamedEntry, readKubeconfigFile } from "./kubeconfig-file.ts";

export interface KubeconfigQuery {
  /** `--kubeconfig`: this file and no other. */
  readonly file?: string;
  /** `--context`; the file's own choice by default. */
  readonly context?: string;
  /** `--cluster`: the context of this cluster, by the name of its entry, or by the name or ARN of an EKS cluster. */
  readonly cluster?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
}

/**
 * The cluster that kubectl would use: `--kubeconfig`, else the merged files of `KUBECONFIG`, else `~/.kube/config`, else the
 * service account of the pod that we run in. Throws one error that names the file, the field and what to do.
 */
export async function readKubeconfig(query: KubeconfigQuery): Promise<ClusterConfig> {
  const paths = pathsOf(query);
  const files = (await Promise.all(paths.map(readKubeconfigFile))).filter((file) => file !== undefined);
  if (files.length === 0) {
    const inCluster = query.file === undefined && query.cluster === undefined ? inClusterConfig(query.env) : undefined;
    if (inCluster !== undefined) return await inCluster;
    throw new Error(`no kubeconfig at ${paths.join(", ")}: give --kubeconfig FILE or set KUBECONFIG`);
  }
  return await resolve(files, query);
}

function pathsOf({ file, env, homeDir }: KubeconfigQuery): readonly string[] {
  if (file !== undefined) return [file];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return listed.length > 0 ? listed : [join(homeDir, ".kube", "config")];
}

/** Merges as kubectl does: the first file with a value, or with an entry of that name, wins. */
async function resolve(
  files: readonly KubeconfigFile[],
  { context: wanted, cluster: wantedCluster }: Pick<KubeconfigQuery, "context" | "cluster">,
): Promise<ClusterConfig> {
  const where = files.map(({ path }) => path).join(", ");
  const current = files.find(({ currentContext }) => currentContext !== undefined)?.currentContext;
  const name = wanted ?? (wantedCluster === undefined ? current : contextOf(wantedCluster, current, files, where));
  if (name === undefined) throw new Error(`kubeconfig ${where} has no current-context: give --context NAME`);
  const find = (list: "clusters" | "contexts" | "users", entry: string): NamedEntry => {
    const found = files.flatMap((file) => file[list]).find((each) => each.name === entry);
    if (found !== undefined) return found;
    const known = files.flatMap((file) => file[list].map((each) => each.name));
    const others = known.length === 0 ? "it has none" : `it has ${known.join(", ")}`;
    throw new Error(`kubeconfig ${where} has no ${list.slice(0, -1)} ${entry}: ${others}`);
  };
  const context = find("contexts", name).fields;
  const clusterName = context.text("cluster");
  if (clusterName === undefined) throw context.fault("cluster", "is required");
  const cluster = find("clusters", clusterName).fields;
  const userName = context.text("user");
  return {
    name,
    server: urlOf(cluster, "server", ["http:", "https:"]) ?? missing(cluster, "server"),
    namespace: context.text("namespace"),
    tls: {
      ca: await cluster.material("certificate-authority"),
      serverName: cluster.text("tls-server-name"),
      insecure: cluster.flag("insecure-skip-tls-verify"),
    },
    proxy: urlOf(cluster, "proxy-url", ["http:", "https:"]),
    user: userName === undefined ? anonymous : await userOf(find("users", userName), cluster),
  };
}

/** The context of a cluster: the current one if it is of that cluster, else the only one. */
function contextOf(
  wanted: string,
  current: string | undefined,
  files: readonly KubeconfigFile[],
  where: string,
): string {
  const clusters = [...new Set(files.flatMap((file) => file.clusters.map((each) => each.name)))];
  const named = clusters.includes(wanted) ? [wanted] : clusters.filter((name) => isEksName(name, wanted));
  const [cluster] = named;
  const list = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
  if (cluster === undefined) throw new Error(`kubeconfig ${where} has no cluster ${wanted}: it has ${list(clusters)}`);
  if (named.length > 1)
    throw new Error(`kubeconfig ${where} has several clusters ${wanted}: give one of ${list(named)}`);
  const all = new Map(files.toReversed().flatMap((file) => file.contexts.map(({ name, fields }) => [name, fields])));
  const contexts = [...all].flatMap(([name, fields]) => (fields.text("cluster") === cluster ? [name] : []));
  const [only] = contexts;
  if (current !== undefined && contexts.includes(current)) return current;
  if (only !== undefined && contexts.length === 1) return only;
  const mend = only === undefined ? "add one" : `choose one of ${list(contexts)} with --context`;
  throw new Error(`kubeconfig ${where} has ${contexts.length} contexts of cluster ${cluster}: ${mend}`);
}

/** As `aws eks update-kubeconfig` (the ARN) and eksctl (`<name>.<region>.eksctl.io`) call the entry of a cluster. */
function isEksName(entry: string, name: string): boolean {
  return /^[\w-]+$/.test(name) && (entry.endsWith(`:cluster/${name}`) || isOfEksctl(entry, name));
}

function isOfEksctl(entry: string, name: string): boolean {
  return entry.startsWith(`${name}.`) && /^[\w-]+\.[a-z0-9-]+\.eksctl\.io$/.test(entry);
}

const anonymous: UserConfig = {
  name: "",
  certificate: undefined,
  token: undefined,
  impersonate: undefined,
};

function missing(fields: Fields, key: string): never {
  throw fields.fault(key, "is required");
}

function urlOf(fields: Fields, key: string, protocols: readonly string[]): URL | undefined {
  const text = fields.text(key);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !protocols.includes(url.protocol)) {
    throw fields.fault(
      key,
      `is "${placeOf(text)}": it must be an address that begins with ${protocols.join("// or ")}//`,
    );
  }
  return url;
}

/** An address without user name and password, and without its path, which may hold a token. */
function placeOf(address: string): string {
  const anonymous = address.replace(/^([a-z0-9+.-]*:\/\/)?.*@/is, "$1");
  return /^([^/]*\/\/)?[^/?#]*/.exec(anonymous)?.[0] ?? "";
}

async function userOf({ name, fields }: NamedEntry, cluster: Fields): Promise<UserConfig> {
  if (fields.nested("auth-provider") !== undefined) {
    throw fields.fault("auth-provider", "is no longer supported by Kubernetes: use an exec plugin");
  }
  const impersonated = fields.text("as");
  return {
    name,
    certificate: await certificateOf(fields),
    token: await tokenOf(fields, cluster),
    impersonate: impersonated === undefined ? undefined : { user: impersonated, groups: fields.texts("as-groups") },
  };
}

async function certificateOf(fields: Fields): Promise<ClientCertificate | undefined> {
  const cert = await fields.material("client-certificate");
  const key = await fields.material("client-key");
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined) throw fields.fault("client-certificate", "is required beside client-key");
  if (key === undefined) throw fields.fault("client-key", "is required beside client-certificate");
  let expiresAt: Date;
  try {
    expiresAt = new X509Certificate(cert).validToDate;
  } catch (error) {
    throw new Error(fields.fault("client-certificate", `is not a certificate: ${messageOf(error)}`).message, {
      cause: error,
    });
  }
  refuseExpired(fields, "client-certificate", expiresAt);
  return { cert, key: new Secret(key) };
}

async function tokenOf(fields: Fields, cluster: Fields): Promise<TokenSource | undefined> {
  const exec = fields.nested("exec");
  if (exec !== undefined) return { kind: "exec", plugin: await pluginOf(exec, cluster) };
  const path = fields.path("tokenFile");
  if (path !== undefined) return { kind: "file", path };
  const token = fields.text("token");
  if (token !== undefined) {
    const expiresAt = expiryOfJwt(token);
    if (expiresAt !== undefined) refuseExpired(fields, "token", expiresAt);
    return { kind: "token", token: new Secret(token) };
  }
  const username = fields.text("username");
  if (username === undefined) return undefined;
  return { kind: "basic", username, password: new Secret(fields.text("password") ?? "") };
}

function refuseExpired(fields: Fields, key: string, expiresAt: Date): void {
  if (expiresAt.getTime() > Date.now()) return;
  throw fields.fault(key, `has expired at ${expiresAt.toISOString()}: renew it and write the kubeconfig again`);
}

async function pluginOf(exec: Fields, cluster: Fields): Promise<ExecPlugin> {
  const command = exec.text("command") ?? missing(exec, "command");
  const apiVersion = exec.text("apiVersion") ?? missing(exec, "apiVersion");
  if (exec.text("interactiveMode") === "Always") {
    throw exec.fault("interactiveMode", "is Always: Sluice cannot ask for input, use a plugin that needs none");
  }
  const env = exec
    .list("env")
    .map((entry) => [entry.text("name") ?? missing(entry, "name"), entry.text("value") ?? ""] as const);
  return {
    apiVersion,
    // A command with a slash is a path relative to the kubeconfig; one without is looked up in PATH.
    command: command.includes("/") ? (exec.path("command") ?? command) : command,
    args: exec.texts("args"),
    env: Object.fromEntries(env),
    installHint: exec.text("installHint"),
    cluster: exec.flag("provideClusterInfo") ? await clusterInfo(cluster) : undefined,
  };
}

async function clusterInfo(cluster: Fields): Promise<Readonly<Record<string, unknown>>> {
  const ca = await cluster.material("certificate-authority");
  return {
    server: cluster.text("server"),
    "tls-server-name": cluster.text("tls-server-name"),
    "insecure-skip-tls-verify": cluster.flag("insecure-skip-tls-verify") || undefined,
    "certificate-authority-data": ca === undefined ? undefined : Buffer.from(ca).toString("base64"),
    "proxy-url": cluster.text("proxy-url"),
  };
}

/** When a JSON web token expires; undefined for another kind of token and for one without an expiry. */
export function expiryOfJwt(token: string): Date | undefined {
  const [, payload, signature] = token.split(".");
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const seconds = isJsonObject(claims) ? claims["exp"] : undefined;
    return typeof seconds === "number" ? new Date(seconds * 1000) : undefined;
  } catch {
    // Three parts with dots between them, but not a web token: the API server will judge it.
    return undefined;
  }
}
