import { createHash, createHmac } from "node:crypto";
import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { orAborted } from "../../core/concurrency.ts";
import { messageOf } from "../../core/failure.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type GitLogin, GitLoginError, type GitLoginRequest } from "../../core/ports/git-login.ts";
import { Secret } from "../../core/secret.ts";
import { codeCommitRegion } from "../../sources/git/codecommit-host.ts";
import type { AwsConnection } from "../aws-connection.ts";

export interface CodeCommitLoginOptions {
  readonly connection: Pick<AwsConnection, "credentials">;
  readonly clock: Pick<Clock, "now">;
  /** Whether objects of this namespace of a cluster may use our own identity for this repository (`host/path`). */
  readonly isAllowed: (tenant: Pick<GitLoginRequest, "cluster" | "namespace">, repository: string) => boolean;
}

/** The part of our identity that signs. */
export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/**
 * Logs in to repositories of CodeCommit with our own identity (reference sources 2.4). Each login is a signature for one
 * repository, which is valid for 15 minutes: it is made for each run, without a request.
 */
export function codeCommitLogin({ connection, clock, isAllowed }: CodeCommitLoginOptions): GitLogin {
  const { credentials = defaultProvider() } = connection;
  const identity = typeof credentials === "function" ? credentials : () => Promise.resolve(credentials);
  return {
    async credentials({ cluster, namespace, url }, signal) {
      const region = codeCommitRegion(url);
      const repository = `${url.host}${url.pathname}`;
      if (!isAllowed({ cluster, namespace }, repository)) {
        throw new GitLoginError(
          "not-allowed",
          `this installation does not lend its AWS identity to namespace ${namespace} for ${repository}: add it to the repositories of this cluster in the installation, or give a secretRef`,
        );
      }
      const key = await orAborted(Promise.resolve(identity()), signal).catch((error: unknown) => {
        signal.throwIfAborted();
        const why = `failed to get access token for Git repository: ${messageOf(error)}`;
        throw new GitLoginError("failed", why, { cause: error });
      });
      return codeCommitPassword(url, region, key, new Date(clock.now()));
    },
  };
}

/**
 * Username and password that CodeCommit takes over https: a Signature Version 4 of a request `GIT` for the repository's path, as
 * the credential helper of the AWS CLI makes it. The username holds the session token.
 */
export function codeCommitPassword(
  { hostname, pathname }: URL,
  region: string,
  { accessKeyId, secretAccessKey, sessionToken }: SigningKey,
  now: Date,
): { readonly username: string; readonly password: Secret } {
  const time = now.toISOString().replace(/[-:]|\.\d+Z$/g, "");
  const day = time.slice(0, 8);
  const scope = [day, region, "codecommit", "aws4_request"];
  const request = `GIT\n${pathname}\n\nhost:${hostname}\n\nhost\n`;
  const digest = createHash("sha256").update(request).digest("hex");
  const key = scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope.join("/"), digest].join("\n")).toString("hex");
  return {
    username: sessionToken === undefined ? accessKeyId : `${accessKeyId}%${sessionToken}`,
    password: new Secret(`${time}Z${signature}`),
  };
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
