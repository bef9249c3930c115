import { proxyAt } from "../lib/secrets/proxy.ts";
import { goObject, goString } from "../lib/sources/helm/go-json.ts";
import type { CreatedOptions } from "./create-object.ts";
import { createSecret, readSecretFile } from "./create-secret.ts";
import { checkName } from "./created-object.ts";
import type { Surroundings } from "./session.ts";

interface OciSecretOptions extends CreatedOptions {
  readonly url?: string;
  readonly username?: string;
  readonly password?: string;
}

interface ProxySecretOptions extends CreatedOptions {
  readonly address?: string;
  readonly username?: string;
  readonly password?: string;
}

interface GithubAppSecretOptions extends CreatedOptions {
  readonly appId?: string;
  readonly appInstallationOwner?: string;
  readonly appInstallationId?: string;
  /** File with the key. */
  readonly appPrivateKey?: string;
  readonly appBaseUrl?: string;
}

/** A registry or a repository of one, perhaps with tag or digest. */
const registryPattern =
  /^[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?(\/[a-z0-9._-]+)*(:[\w.-]{1,128})?(@[a-z0-9]+:[0-9a-f]+)?$/;

/** `create secret oci`: the login of a registry, as nodes read it too. */
export async function createSecretOci(
  name: string | undefined,
  options: OciSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { url = "", username = "", password = "" } = options;
  if (url === "") throw new Error("--url is required");
  if (username === "") throw new Error("--username is required");
  if (password === "") throw new Error("--password is required");
  if (!registryPattern.test(url)) {
    // Before an @ may be a password.
    const quoted = url.includes("@") ? "--url" : `'${url}'`;
    const mend = "write it without scheme and login, like ghcr.io or ghcr.io/org/app";
    throw new Error(`error parsing url: ${quoted} is not a registry: ${mend}`);
  }
  const data = { ".dockerconfigjson": dockerConfig(url, username, password) };
  await createSecret(
    "oci",
    { name, type: "kubernetes.io/dockerconfigjson", dataIn: () => data },
    options,
    surroundings,
  );
}

/** As Go writes it. */
function dockerConfig(registry: string, username: string, password: string): string {
  const auth = Buffer.from(`${username}:${password}`).toString("base64");
  const fields = { username, password, auth };
  const entry = Object.entries(fields).map(([field, value]) => [field, goString(value)] as const);
  return goObject([["auths", goObject([[registry, goObject(entry, "    ")]], "  ")]], "");
}

/** `create secret proxy`: a proxy that sources and Providers connect through. */
export async function createSecretProxy(
  name: string | undefined,
  options: ProxySecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const { address = "", username = "", password = "" } = options;
  if (address === "") throw new Error("address is required");
  proxyAt(address, (why) => new Error(`invalid proxy address: ${why}; write it like https://proxy.example.com:3128`));
  const data = {
    address,
    ...(username === "" ? {} : { username }),
    ...(password === "" ? {} : { password }),
  };
  await createSecret("proxy", { name, type: "Opaque", dataIn: () => data }, options, surroundings);
}

/** `create secret githubapp`: what a GitRepository with provider `github` logs in with. */
export async function createSecretGithubApp(
  name: string | undefined,
  options: GithubAppSecretOptions,
  surroundings: Surroundings,
): Promise<void> {
  checkName(name);
  const {
    appId = "",
    appInstallationOwner = "",
    appInstallationId = "",
    appPrivateKey = "",
    appBaseUrl = "",
  } = options;
  if (appId === "") throw new Error("githubAppID is required: give --app-id");
  if (appPrivateKey === "") throw new Error("githubAppPrivateKey is required: give its file with --app-private-key");
  const githubAppPrivateKey = await readSecretFile(appPrivateKey, "unable to read private key file");
  if (githubAppPrivateKey === "") throw new Error(`githubAppPrivateKey is required: ${appPrivateKey} is empty`);
  if ((appInstallationOwner === "") === (appInstallationId === "")) {
    const mend = "give --app-installation-owner or --app-installation-id";
    throw new Error(`exactly one of githubAppInstallationOwner or githubAppInstallationID must be provided: ${mend}`);
  }
  const data = {
    githubAppID: appId,
    ...(appInstallationOwner === "" ? {} : { githubAppInstallationOwner: appInstallationOwner }),
    ...(appInstallationId === "" ? {} : { githubAppInstallationID: appInstallationId }),
    githubAppPrivateKey,
    ...(appBaseUrl === "" ? {} : { githubAppBaseURL: appBaseUrl }),
  };
  await createSecret("githubapp", { name, type: "Opaque", dataIn: () => data }, options, surroundings);
}
