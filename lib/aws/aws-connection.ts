import type { SQSClientConfig } from "@aws-sdk/client-sqs";

/** The same type for every client. */
export type AwsCredentials = NonNullable<SQSClientConfig["credentials"]>;

/** The address of Amazon's services and our identity there. */
export interface AwsConnection {
  readonly region: string;
  /** The address of a stand-in for AWS. Without it Amazon's own for the region. */
  readonly endpoint?: string | undefined;
  /** Without them the SDK's default chain: in Lambda the role of the function. */
  readonly credentials?: AwsCredentials | undefined;
  /** For one try of a call, and for its connection. Without it the times that suit the service. */
  readonly attemptTimeoutMs?: number | undefined;
}

/** Tries of one call, the first included. The SDK waits between them with full jitter, as long as its budget of tries lasts. */
const maxAttempts = 4;
const connectionTimeoutMs = 2_000;
/** For one try, so that time for another is left if its answer is lost. */
const defaultAttemptTimeoutMs = 5_000;

/** The configuration of every client of the SDK. A client opens no connection before its first call. */
export function clientConfig(
  { region, endpoint, credentials, attemptTimeoutMs }: AwsConnection,
  usualAttemptTimeoutMs = defaultAttemptTimeoutMs,
) {
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    retryMode: "standard",
    maxAttempts,
    requestHandler: {
      connectionTimeout: attemptTimeoutMs ?? connectionTimeoutMs,
      requestTimeout: attemptTimeoutMs ?? usualAttemptTimeoutMs,
      throwOnRequestTimeout: true,
    },
  };
}

export interface RegionalClients<Client> {
  of(region: string): Client;
  /** Ends their connections. */
  close(): void;
}

/** A client of AWS for each region, made when it is first needed and kept. */
export function regionalClients<Client extends { destroy(): void }>(
  make: (region: string) => Client,
): RegionalClients<Client> {
  const clients = new Map<string, Client>();
  return {
    of(region) {
      const client = clients.get(region) ?? make(region);
      clients.set(region, client);
      return client;
    },
    close() {
      for (const client of clients.values()) client.destroy();
    },
  };
}
