import { X509Certificate } from "node:crypto";
import { delimiter, join } from "node:path";
import { messageOf } from "../core/failure.ts";
import { Secret } from "../core/secret.ts";
import type { ClientCertificate, ClusterConfig, ExecPlugin, TokenSource, UserConfig } from "./cluster-config.ts";
import { inClusterConfig } from "./in-cluster.ts";
import { expiryOfJwt } from "./jwt.ts";
import { type Fields, type KubeconfigFile, type NamedEntry, readKubeconfigFile } from "./kubeconfig-file.ts";

export interface KubeconfigQuery {
  /** `--kubeconfig`: this file and no other. */
  readonly file?: string;
  /** `--context`; the file's own choice by default. */
  readonly context?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
}

/**
 * The cluster that kubectl would speak to: `--kubeconfig`, else the files of `KUBECONFIG` merged, else `~/.kube/config`, else
 * the service account of the pod we run in. Throws one error that names the file, the field and what to do.
 */
export async function readKubeconfig(query: KubeconfigQuery): Promise<ClusterConfig> {
  const paths = pathsOf(query);
  const files = (await Promise.all(paths.map(readKubeconfigFile))).filter((file) => file !== undefined);
  if (files.length === 0) {
    const inCluster = query.file === undefined ? inClusterConfig(query.env) : undefined;
    if (inCluster !== undefined) return await inCluster;
    throw new Error(`no kubeconfig at ${paths.join(", ")}: give --kubeconfig FILE or set KUBECONFIG`);
  }
  return await resolve(files, query.context);
}

function pathsOf({ file, env, homeDir }: KubeconfigQuery): readonly string[] {
  if (file !== undefined) return [file];
  const listed = (env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return listed.length > 0 ? listed : [join(homeDir, ".kube", "config")];
}

/** As kubectl merges: the first file that has a value or an entry of that name wins. */
async function resolve(files: readonly KubeconfigFile[], wanted: string | undefined): Promise<ClusterConfig> {
  const where = files.map(({ path }) => path).join(", ");
  const name = wanted ?? files.find(({ currentContext }) => currentContext !== undefined)?.currentContext;
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

/** An address as it may be printed: without a user's name and password, and without its path, which may hold a token. */
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
    throw new Error(fields.fault("client-certificate", `is no certificate: ${messageOf(error)}`).message, {
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
    // A command with a slash is a path, which counts from the kubeconfig; one without is looked up in PATH.
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
