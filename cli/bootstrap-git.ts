import { readFile } from "node:fs/promises";
import { messageOf } from "../lib/core/failure.ts";
import { basicAuthorization, type GitAccess } from "./bootstrap/open-branch.ts";
import { type BootstrapPlan, bootstrapCluster } from "./bootstrap-cluster.ts";
import { type BootstrapGitOptions, type BootstrapOptions, checkOptions } from "./bootstrap-options.ts";
import { keySecret, tokenSecret } from "./bootstrap-secret.ts";
import { repositoryUrl, type SecretData } from "./git-credentials.ts";
import { hidingValues } from "./hiding-values.ts";
import { type Surroundings, withCluster } from "./session.ts";

/** `bootstrap git`: has a cluster follow a repository of any git server. */
export async function bootstrapGit(given: BootstrapGitOptions, surroundings: Surroundings): Promise<void> {
  const password = given.password ?? surroundings.env["GIT_PASSWORD"] ?? "";
  const options = { ...given, password, username: userOf(given) };
  const checked = checkOptions(options);
  const url = syncUrlOf(options);
  const plan: BootstrapPlan = {
    ...{ options, checked, syncUrl: url, onHost: undefined },
    ...(url.protocol === "ssh:" ? bySsh(url, options, surroundings) : await byHttp(url, options)),
  };
  await hidingValues([password, options.gpgPassphrase ?? "", options.sshSigningPassword ?? ""], () =>
    withCluster(options, surroundings, (session) => bootstrapCluster(plan, session)),
  );
}

/** The user in `--username`, else in the URL. */
function userOf({ url = "", username }: BootstrapGitOptions): string {
  const inUrl = URL.canParse(url) ? new URL(url).username : "";
  return username === "git" && inUrl !== "" ? decodeURIComponent(inUrl) : username;
}

/** Where the cluster reads the repository: without a password, which only its Secret has. */
function syncUrlOf({
  url: text,
  tokenAuth,
  withBearerToken,
  allowInsecureHttp,
  username,
  sshHostname,
  ...options
}: BootstrapGitOptions): URL {
  const url = repositoryUrl(text);
  if (url.password !== "") {
    throw new Error(
      "--url has a password, which would be written to the repository: give it by --password or GIT_PASSWORD",
    );
  }
  const isToken = tokenAuth === true || withBearerToken === true;
  if (url.protocol === "ssh:" && isToken) return new URL(`https://${url.hostname}${url.pathname}`);
  if (url.protocol === "http:" && allowInsecureHttp !== true) {
    throw new Error("--url uses http, which sends the password unencrypted: use https, or give --allow-insecure-http");
  }
  if (url.protocol !== "ssh:") {
    if (options.privateKeyFile !== undefined) {
      throw new Error(
        "--private-key-file is for ssh, but --url uses https: give --url=ssh://git@HOST/PATH, or --password",
      );
    }
    url.username = "";
    return url;
  }
  url.username = username;
  return sshHostname === undefined ? url : withHost(url, sshHostname);
}

/** The URL at another host, which may have a port. */
export function withHost(url: URL, host: string): URL {
  const at = url.username === "" ? "" : `${url.username}@`;
  const text = `${url.protocol}//${at}${host}${url.pathname}`;
  if (/[/@\s]/.test(host) || !URL.canParse(text)) {
    throw new Error(`--ssh-hostname ${host} is not a valid host: write it like ssh.github.com or ssh.github.com:443`);
  }
  return new URL(text);
}

type Login = Pick<BootstrapPlan, "access" | "confirmKey" | "loginMend" | "secret">;

function bySsh(url: URL, options: BootstrapGitOptions, { terminal }: Surroundings): Login {
  const { password = "", privateKeyFile, secretName, silent } = options;
  const confirmKey = async (key: string): Promise<void> => {
    terminal.generating(`deploy key: ${key.trim()}`);
    if (silent === true) return;
    const aborted = "add it to the repository with the right to write, and run the command again with --silent";
    if (terminal.confirm === undefined) throw new Error(`aborting: ${aborted}`);
    if (await terminal.confirm("Have you added the deploy key to your repository, with the right to write")) return;
    throw new Error(`aborting: ${aborted}`);
  };
  return {
    secret: (session) => keySecret(secretName ?? session.namespace, url, options, session),
    access: ({ data }) => sshAccess(url, data, password),
    confirmKey: privateKeyFile === undefined ? confirmKey : undefined,
    loginMend: "add the deploy key of the Secret to the repository with the right to write, or give --private-key-file",
  };
}

function sshAccess(url: URL, data: SecretData, password: string): GitAccess {
  return {
    ...{ kind: "ssh", url, identity: data["identity"] ?? "", knownHosts: data["known_hosts"] ?? "" },
    passphrase: password === "" ? (data["password"] ?? "") : password,
  };
}

async function byHttp(url: URL, options: BootstrapGitOptions): Promise<Login> {
  const { password = "", secretName, username, withBearerToken } = options;
  if (password === "") {
    const isCodeCommit = /^git-codecommit(?:-fips)?\./.test(url.hostname);
    const mend = isCodeCommit
      ? "the Git credentials of an IAM user by --username and --password"
      : "it by --password or GIT_PASSWORD";
    throw new Error(`a password or token is required for a URL of https: give ${mend}`);
  }
  const ca = await authority(options);
  const login: SecretData = withBearerToken === true ? { bearerToken: password } : { username, password };
  const data = { ...login, ...(ca === undefined ? {} : { "ca.crt": ca }) };
  const authorization = withBearerToken === true ? `Bearer ${password}` : basicAuthorization(username, password);
  return {
    secret: (session) => tokenSecret(secretName ?? session.namespace, data, session),
    access: () => ({ kind: "http", url, authorization, tls: ca === undefined ? {} : { ca } }),
    confirmKey: undefined,
    loginMend: "check --url, --username and --password",
  };
}

/** The PEM of `--ca-file`. */
export async function authority({ caFile }: BootstrapOptions): Promise<string | undefined> {
  if (caFile === undefined) return undefined;
  try {
    return await readFile(caFile, "utf8");
  } catch (error) {
    throw new Error(`the file of --ca-file cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
