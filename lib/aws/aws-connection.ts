import type { SQSClientConfig } from "@aws-sdk/client-sqs";

/** The same type for every client. */
export type AwsCredentials = NonNullable<SQSClientConfig["credentials"]>;

/** Where Amazon's services are and who we are there. */
export interface AwsConnection {
  readonly region: string;
  /** The address of a stand-in; Amazon's own for the region where absent. */
  readonly endpoint?: string | undefined;
  /** The SDK's default chain where absent: in Lambda the function's role. */
  readonly credentials?: AwsCredentials | undefined;
}

/** Tries of one call, the first included. The SDK waits between them with full jitter, as long as its budget of tries lasts. */
const maxAttempts = 4;
const connectionTimeoutMs = 2_000;
/** For one try, so that a try whose answer is lost leaves time for another. */
const defaultAttemptTimeoutMs = 5_000;

/** What every client of the SDK is made with. A client opens nothing before its first call. */
export function clientConfig(
  { region, endpoint, credentials }: AwsConnection,
  attemptTimeoutMs = defaultAttemptTimeoutMs,
) {
  return {
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    retryMode: "standard",
    maxAttempts,
    requestHandler: {
      connectionTimeout: connectionTimeoutMs,
      requestTimeout: attemptTimeoutMs,
      throwOnRequestTimeout: true,
    },
  };
}
