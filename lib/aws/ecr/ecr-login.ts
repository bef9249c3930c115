import type { ECRClient, GetAuthorizationTokenResponse } from "@aws-sdk/client-ecr";
import { orAborted } from "../../core/concurrency.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type RegistryLogin, RegistryLoginError, type RegistryLoginRequest } from "../../core/ports/registry-login.ts";
import { Secret } from "../../core/secret.ts";
import { type AwsConnection, clientConfig, type RegionalClients, regionalClients } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { ecrRegion } from "./ecr-host.ts";

export interface EcrLoginOptions {
  readonly connection: AwsConnection;
  readonly clock: Pick<Clock, "now">;
  /** Whether objects of this namespace of a cluster may use our own identity for this repository (`host/path`). */
  readonly isAllowed: (tenant: Pick<RegistryLoginRequest, "cluster" | "namespace">, repository: string) => boolean;
}

/** As Flux caches tokens: 80 % of their life, an hour at most. */
const shareOfLife = 0.8;
const maxCachedMs = 3_600_000;
const limitMs = 10_000;

interface Cached {
  readonly token: EcrToken;
  readonly until: number;
}

/**
 * Logs in to registries of ECR with our own identity (reference sources 5.3). One token is valid for every registry in a region that the
 * identity may read, so it is fetched once for each region and shared by concurrent callers. `close` ends the connections to ECR.
 */
export function ecrLogin({ connection, clock, isAllowed }: EcrLoginOptions): RegistryLogin & { close(): void } {
  let clients: RegionalClients<ECRClient> | undefined;
  const cached = new Map<string, Cached>();
  const fetching = new Map<string, Promise<EcrToken>>();

  const fetch = async (region: string): Promise<EcrToken> => {
    // A run of a Kustomization never logs in, so a function starts without the client.
    const { ECRClient } = await import("@aws-sdk/client-ecr");
    clients ??= regionalClients((of) => new ECRClient(clientConfig({ ...connection, region: of })));
    const token = await fetchToken(clients.of(region), region);
    const now = clock.now();
    cached.set(region, { token, until: now + Math.min((token.expiresAt - now) * shareOfLife, maxCachedMs) });
    return token;
  };
  const current = (region: string): Promise<EcrToken> => {
    const known = cached.get(region);
    if (known !== undefined && clock.now() < known.until) return Promise.resolve(known.token);
    const running = fetching.get(region) ?? fetch(region).finally(() => fetching.delete(region));
    fetching.set(region, running);
    return running;
  };
  return {
    async credentials(request, signal) {
      const region = ecrRegion(request.host);
      assertAllowed(request, isAllowed);
      return orAborted(current(region), signal);
    },
    close: () => clients?.close(),
  };
}

function assertAllowed(
  { host, cluster, namespace, repository }: RegistryLoginRequest,
  isAllowed: EcrLoginOptions["isAllowed"],
): void {
  const name = `${host}/${repository}`;
  if (isAllowed({ cluster, namespace }, name)) return;
  throw new RegistryLoginError(
    "not-allowed",
    `this installation does not lend its AWS identity to namespace ${namespace} for ${name}: add it to the repositories of this cluster in the installation, or give a secretRef`,
  );
}

async function fetchToken(client: ECRClient, region: string): Promise<EcrToken> {
  const action = { name: "ecr:GetAuthorizationToken", resource: "all registries", region };
  const { signal } = new AbortController();
  try {
    const { GetAuthorizationTokenCommand } = await import("@aws-sdk/client-ecr");
    const command = new GetAuthorizationTokenCommand({});
    return parseAuthorizationToken(await callAws(action, (options) => client.send(command, options), signal, limitMs));
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    const step =
      error.reason === "credentials"
        ? "get access token for artifact registry"
        : "create artifact registry credentials";
    throw new RegistryLoginError("failed", `failed to ${step}: ${error.message}`, { cause: error });
  }
}

/** A login to the registries of one region. */
export interface EcrToken {
  readonly username: string;
  readonly password: Secret;
  /** Wall time. */
  readonly expiresAt: number;
}

/** Reads ECR's answer. Throws a {@link RegistryLoginError} with Flux's texts (reference sources 5.3), which do not quote it. */
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
  return new RegistryLoginError("failed", `failed to create artifact registry credentials: ${why}`);
}
