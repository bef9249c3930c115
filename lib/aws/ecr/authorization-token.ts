import type { GetAuthorizationTokenResponse } from "@aws-sdk/client-ecr";
import { RegistryLoginError } from "../../core/ports/registry-login.ts";
import { Secret } from "../../core/secret.ts";

/** A login to the registries of one region. */
export interface EcrToken {
  readonly username: string;
  readonly password: Secret;
  /** Wall time. */
  readonly expiresAt: number;
}

/** Reads ECR's answer. Throws a {@link RegistryLoginError} with Flux's texts (reference sources 5.3), which quote nothing of it. */
export function parseAuthorizationToken({ authorizationData }: GetAuthorizationTokenResponse): EcrToken {
  const [first] = authorizationData ?? [];
  if (first === undefined) throw problem("no authorization data returned");
  const { authorizationToken, expiresAt } = first;
  if (authorizationToken === undefined) throw problem("authorization token is nil");
  if (expiresAt === undefined) throw problem("authorization token expiration is nil");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(authorizationToken)) {
    throw problem("failed to parse authorization token: it is not base64");
  }
  const parts = Buffer.from(authorizationToken, "base64").toString().split(":");
  const [username, password] = parts;
  if (username === undefined || password === undefined || parts.length !== 2) {
    throw problem("invalid authorization token format");
  }
  return { username, password: new Secret(password), expiresAt: expiresAt.getTime() };
}

function problem(why: string): RegistryLoginError {
  return new RegistryLoginError(`failed to create artifact registry credentials: ${why}`);
}
