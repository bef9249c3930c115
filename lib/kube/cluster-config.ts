import type { Secret } from "../core/secret.ts";

/** The address of a cluster and our credentials for it, with every file read and every default filled in. */
export interface ClusterConfig {
  /** Its name in messages: the kubeconfig's context, or `in-cluster`. */
  readonly name: string;
  readonly server: URL;
  /** The context's namespace, for commands that follow it. */
  readonly namespace: string | undefined;
  readonly tls: TlsConfig;
  /** An HTTP proxy for the connection. */
  readonly proxy: URL | undefined;
  readonly user: UserConfig;
}

interface TlsConfig {
  /** PEM of the authorities that are trusted instead of the public ones. */
  readonly ca: string | undefined;
  /** The name that the server's certificate must have, if it is not the host of the URL. */
  readonly serverName: string | undefined;
  readonly insecure: boolean;
}

/** Our credentials. Every part that is given is sent. */
export interface UserConfig {
  readonly name: string;
  readonly certificate: ClientCertificate | undefined;
  readonly token: TokenSource | undefined;
  readonly impersonate: Impersonation | undefined;
}

export interface ClientCertificate {
  readonly cert: string;
  readonly key: Secret;
}

export type TokenSource =
  | { readonly kind: "token"; readonly token: Secret }
  /** Read again every minute, since the file is rotated. */
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "basic"; readonly username: string; readonly password: Secret }
  | { readonly kind: "exec"; readonly plugin: ExecPlugin }
  /** Requested again at `renewAt`, and at once if the server refuses the last one. */
  | { readonly kind: "supplied"; readonly supply: (signal: AbortSignal) => Promise<SuppliedToken> };

/** A token that `supply` has made. */
export interface SuppliedToken {
  readonly token: Secret;
  /** Wall time at which the next token is requested, well before this one expires. */
  readonly renewAt: number;
}

/** A program that prints an `ExecCredential`, for example `aws eks get-token`. */
export interface ExecPlugin {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint: string | undefined;
  /** `spec.cluster` of KUBERNETES_EXEC_INFO, if the plugin asks for it. */
  readonly cluster: Readonly<Record<string, unknown>> | undefined;
}

interface Impersonation {
  readonly user: string;
  readonly groups: readonly string[];
}
