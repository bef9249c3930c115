import { ECRClient, GetAuthorizationTokenCommand } from "@aws-sdk/client-ecr";
import { orAborted } from "../../core/or-aborted.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { type RegistryLogin, RegistryLoginError, type RegistryLoginRequest } from "../../core/ports/registry-login.ts";
import { type AwsConnection, clientConfig } from "../aws-connection.ts";
import { AwsFault } from "../aws-fault.ts";
import { callAws } from "../call-aws.ts";
import { regionalClients } from "../regional-clients.ts";
import { type EcrToken, parseAuthorizationToken } from "./authorization-token.ts";
import { ecrRegion } from "./ecr-host.ts";

export interface EcrLoginOptions {
  readonly connection: AwsConnection;
  readonly clock: Pick<Clock, "now">;
  /** Whether objects of this namespace may use our own identity for this repository, `host/path`. */
  readonly isAllowed: (namespace: string, repository: string) => boolean;
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
 * Logs in to registries of ECR with our own identity (reference sources 5.3). One token opens every registry of a region that
 * the identity may read, so it is fetched once a region and shared by all who ask at once. `close` ends the connections to ECR.
 */
export function ecrLogin({ connection, clock, isAllowed }: EcrLoginOptions): RegistryLogin & { close(): void } {
  const clients = regionalClients((region) => new ECRClient(clientConfig({ ...connection, region })));
  const cached = new Map<string, Cached>();
  const fetching = new Map<string, Promise<EcrToken>>();

  const fetch = async (region: string): Promise<EcrToken> => {
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
    close: () => clients.close(),
  };
}

function assertAllowed(
  { host, namespace, repository }: RegistryLoginRequest,
  isAllowed: EcrLoginOptions["isAllowed"],
): void {
  const name = `${host}/${repository}`;
  if (isAllowed(namespace, name)) return;
  throw new RegistryLoginError(
    `this installation does not lend its AWS identity to namespace ${namespace} for ${name}: add the repository to SLUICE_REPOSITORIES, or give a secretRef`,
  );
}

async function fetchToken(client: ECRClient, region: string): Promise<EcrToken> {
  const action = { name: "ecr:GetAuthorizationToken", resource: "all registries", region };
  const { signal } = new AbortController();
  try {
    const command = new GetAuthorizationTokenCommand({});
    return parseAuthorizationToken(await callAws(action, (options) => client.send(command, options), signal, limitMs));
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    const step =
      error.kind === "credentials" ? "get access token for artifact registry" : "create artifact registry credentials";
    throw new RegistryLoginError(`failed to ${step}: ${error.message}`, { cause: error });
  }
}
