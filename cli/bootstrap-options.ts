import type { SigningOptions } from "./bootstrap/commit-signer.ts";
import { durationOf } from "./duration-option.ts";
import type { CredentialOptions } from "./git-credentials.ts";
import { relativePath } from "./relative-path.ts";
import type { GlobalOptions } from "./session.ts";

/** The options of every `bootstrap`. */
export interface BootstrapOptions
  extends GlobalOptions,
    SigningOptions,
    Omit<CredentialOptions, "bearerToken" | "caCrtFile" | "password" | "privateKeyFile"> {
  readonly branch: string;
  readonly path?: string;
  readonly interval: string;
  readonly secretName?: string;
  readonly tokenAuth?: boolean;
  readonly sshHostname?: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly commitMessageAppendix: string;
  readonly recurseSubmodules?: boolean;
  readonly sparseCheckout?: readonly string[];
  readonly allowInsecureHttp?: boolean;
  readonly force?: boolean;
  /** Absent: that of the installation. False: no webhook. */
  readonly webhook: boolean;
  readonly webhookUrl?: string;
}

export interface BootstrapGitOptions extends BootstrapOptions {
  readonly username: string;
  readonly withBearerToken?: boolean;
  /** Takes it that the deploy key has been added. */
  readonly silent?: boolean;
}

/** The options for hosts with an API. */
export interface BootstrapHostOptions extends BootstrapOptions {
  readonly owner?: string;
  readonly repository?: string;
  readonly personal?: boolean;
  readonly private: boolean;
  readonly hostname: string;
  readonly reconcile?: boolean;
  readonly readWriteKey?: boolean;
  readonly team?: readonly string[];
  /** The visibility on GitLab: `private`, `internal` or `public`. */
  readonly visibility?: string;
}

/** What the options of every `bootstrap` say, checked. */
export interface CheckedOptions {
  readonly branch: string;
  /** `./clusters/prod`. */
  readonly path: string;
  /** As Go writes it. */
  readonly interval: string;
  readonly sparseCheckout: readonly string[];
}

/** Checks what no server has to be asked for. Throws an Error that names the option. */
export function checkOptions(options: BootstrapOptions): CheckedOptions {
  refuseForeign(options);
  const { branch, sparseCheckout = [] } = options;
  if (branch === "" || /[\p{Cc} ~^:?*[\\]|\.\.|^[-/]|\/$|\.lock$/u.test(branch)) {
    throw new Error(`--branch ${JSON.stringify(branch)} is not a valid branch name: write it like main`);
  }
  const path = relativePath(options.path ?? "./");
  const isInside = sparseCheckout.some((folder) => `${path}/`.startsWith(`${relativePath(folder)}/`));
  if (sparseCheckout.length > 0 && !isInside) {
    throw new Error(`--sparse-checkout leaves out ${path}: add the folder of --path to it`);
  }
  if (!options.webhook && options.webhookUrl !== undefined) {
    throw new Error("--no-webhook and --webhook-url cannot be used together");
  }
  const { webhookUrl } = options;
  if (webhookUrl !== undefined && !/^https?:$/.test(URL.canParse(webhookUrl) ? new URL(webhookUrl).protocol : "")) {
    throw new Error(
      `--webhook-url ${webhookUrl} is not a URL of http or https: write it like https://hooks.example.com`,
    );
  }
  return { branch, path, interval: durationOf(options.interval, "--interval"), sparseCheckout };
}

/** Where a host is: `https://github.com`, for its name or for a URL. */
export function hostOrigin({ hostname, allowInsecureHttp }: BootstrapHostOptions): string {
  const text = hostname.includes("://") ? hostname : `https://${hostname}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.pathname !== "/" || url.username !== "") {
    throw new Error(`--hostname ${hostname} is not a valid host: write it like github.example.com`);
  }
  if (url.protocol === "http:" && allowInsecureHttp !== true) {
    throw new Error(
      "--hostname is a URL of http, by which the token is sent unencrypted: use https, or give --allow-insecure-http",
    );
  }
  return url.origin;
}

/** Options of flux that say how its controllers are installed, and what to use instead. */
export const foreignOptions: readonly { readonly flags: string; readonly name: string; readonly instead: string }[] = [
  ...[
    ["components", "all kinds are a part of Sluice"],
    ["components-extra", "all kinds are a part of Sluice"],
    ["registry", "Sluice pulls no images of its own"],
    ["registry-creds", "Sluice pulls no images of its own"],
    ["image-pull-secret", "Sluice pulls no images of its own"],
    ["watch-all-namespaces", "the rights of the installation say which namespaces count (docs/cluster-rights.md)"],
    ["network-policy", "Sluice has no pods in the cluster; docs/network.md says what it may connect to"],
    ["log-level", "the log's level is a setting of the installation (docs/settings.md)"],
    ["cluster-domain", "Sluice has no pods in the cluster"],
    ["toleration-keys", "Sluice has no pods in the cluster"],
    ["manifests", "Sluice has no controllers in the cluster"],
    ["ssh-hostkey-algos", "the algorithms are chosen by the types of keys in known_hosts"],
    ["gpg-key-id", "give --gpg-key-ring a file with this key alone: gpg --export-secret-keys --armor ID"],
    ["deploy-token-auth", "use --token-auth, or the deploy key that is made without it"],
  ].map(([flag = "", instead = ""]) => ({
    flags: `--${flag} [value]`,
    name: flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    instead,
  })),
];

function refuseForeign(options: BootstrapOptions): void {
  for (const { flags, name, instead } of foreignOptions) {
    if (Reflect.get(options, name) === undefined) continue;
    throw new Error(`${flags.replace(" [value]", "")} of flux has no meaning here: ${instead}; leave it out`);
  }
}
