import { z } from "zod";
import { messageOf } from "../core/failure.ts";
import { PortError } from "../core/ports/port-error.ts";

/**
 * `clock`: our clock is too far from AWS's, even after the SDK has corrected it. `credentials`: missing, expired or unknown to AWS.
 * `denied`: known, but not allowed. `ciphertext`: not sealed by this key for this context, or changed since. `missing`: the queue, bucket,
 * cluster or key does not exist. `elsewhere`: the resource is in another region. `key`: the KMS key of the resource cannot be used.
 * `timeout`: no answer in time, so it may have happened nevertheless. `throttled`, `unreachable` and `unavailable`: it may work later;
 * `unavailable` also if the answer cannot be read. `refused`: any other refusal of AWS.
 */
export type AwsFaultReason =
  | "ciphertext"
  | "clock"
  | "credentials"
  | "denied"
  | "elsewhere"
  | "key"
  | "missing"
  | "refused"
  | "throttled"
  | "timeout"
  | "unavailable"
  | "unreachable";

/** The call to AWS, for messages. */
export interface AwsAction {
  /** As in IAM: `sqs:SendMessage`. */
  readonly name: string;
  /** The resource of the call: `queue https://…`, `bucket artifacts`. Contains no secret. */
  readonly resource: string;
  readonly region: string;
  /** The account of the resource, if known. */
  readonly account?: string | undefined;
}

/** A call to AWS that failed on its last try. The message names the action, the resource and how to fix it. */
export class AwsFault extends PortError<AwsFaultReason> {
  override readonly name = "AwsFault";
  /** AWS's own name of the error, for example `QueueDoesNotExist`; empty if no answer came. */
  readonly code: string;

  constructor(reason: AwsFaultReason, code: string, message: string, options?: ErrorOptions) {
    super(reason, message, options);
    this.code = code;
  }
}

const reasonByCode: Readonly<Record<string, AwsFaultReason>> = {
  AccessDenied: "denied",
  AccessDeniedException: "denied",
  AllAccessDisabled: "denied",
  AuthorizationError: "denied",
  AuthorizationHeaderMalformed: "elsewhere",
  AuthFailure: "credentials",
  "AWS.SimpleQueueService.NonExistentQueue": "missing",
  CredentialsProviderError: "credentials",
  ExpiredToken: "credentials",
  ExpiredTokenException: "credentials",
  DisabledException: "key",
  IllegalLocationConstraintException: "elsewhere",
  IncorrectKeyException: "ciphertext",
  IncompleteSignature: "credentials",
  InvalidAccessKeyId: "credentials",
  InvalidCiphertextException: "ciphertext",
  InvalidClientTokenId: "credentials",
  InvalidKeyUsageException: "key",
  InvalidSignatureException: "credentials",
  InvalidToken: "credentials",
  KmsThrottled: "throttled",
  KMSInternalException: "unavailable",
  KMSThrottlingException: "throttled",
  MissingAuthenticationToken: "credentials",
  MissingAuthenticationTokenException: "credentials",
  NoSuchBucket: "missing",
  NotFoundException: "missing",
  OverLimit: "throttled",
  PermanentRedirect: "elsewhere",
  ProvisionedThroughputExceededException: "throttled",
  QueueDoesNotExist: "missing",
  RequestExpired: "clock",
  RequestInTheFuture: "clock",
  RequestLimitExceeded: "throttled",
  RequestThrottled: "throttled",
  RequestThrottledException: "throttled",
  RequestTimeTooSkewed: "clock",
  ResourceNotFoundException: "missing",
  SignatureDoesNotMatch: "credentials",
  SlowDown: "throttled",
  Throttling: "throttled",
  ThrottlingException: "throttled",
  TimeoutError: "timeout",
  TooManyRequestsException: "throttled",
  UnrecognizedClientException: "credentials",
};

/** Properties that the SDK adds to its errors. */
const Hints = z.object({
  code: z.string().optional(),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional(),
  $response: z.object({ headers: z.record(z.string(), z.string()).optional() }).optional(),
});

/** An error that the SDK threw, as an {@link AwsFault}. */
export function awsFault(error: unknown, action: AwsAction): AwsFault {
  const code = error instanceof Error ? error.name : "";
  const hints = Hints.safeParse(error).data ?? {};
  const what = `${action.name} on ${action.resource}`;
  // The parser quotes unreadable text, and in a successful answer that may be the secret itself.
  if (reasonByCode[code] === undefined && isGood(hints))
    return new AwsFault("unavailable", code, `${what}: AWS's answer cannot be read`);
  const reason = reasonOf(code, hints);
  return new AwsFault(reason, code, `${what}: ${explain(reason, error, action, hints)}`, { cause: error });
}

function isGood({ $metadata: { httpStatusCode = 0 } = {} }: z.infer<typeof Hints>): boolean {
  return httpStatusCode >= 200 && httpStatusCode <= 299;
}

function reasonOf(code: string, { code: socketCode, $metadata, $response }: z.infer<typeof Hints>): AwsFaultReason {
  const known = reasonByCode[code];
  if (known !== undefined) return known;
  // Each service has its own spelling: KmsAccessDenied, KMS.DisabledException, KMSInvalidStateException.
  if (/^kms/i.test(code)) return "key";
  const status = $metadata?.httpStatusCode;
  // An error of the SDK itself has no status: no answer came.
  if (status === undefined || $response === undefined) return socketCode === undefined ? "refused" : "unreachable";
  if (status === 301 || status === 307) return "elsewhere";
  if (status === 403) return "denied";
  if (status === 429) return "throttled";
  return status >= 500 ? "unavailable" : "refused";
}

function explain(
  reason: AwsFaultReason,
  error: unknown,
  action: AwsAction,
  { $response }: z.infer<typeof Hints>,
): string {
  const said = isUnreadable(error) ? "the answer is not AWS's own" : messageOf(error).replaceAll(/\s+/g, " ");
  switch (reason) {
    case "ciphertext":
      return `it was sealed by another key or for another encryption context, or has changed since; encrypt it again (${said})`;
    case "clock":
      return `this machine's clock is too far from AWS's; set it (${said})`;
    case "credentials":
      return `${credentialsAre(error)} (${said}); give the function a role, or log in again`;
    case "denied":
      return `${deniedTo(said, action)}allow ${deniedAction(said, action)} in the policy of the role and of the resource (${said})`;
    case "elsewhere": {
      const region = $response?.headers?.["x-amz-bucket-region"];
      const place = region === undefined ? "is not in this region" : `is in region ${region}`;
      return `it ${place}, but the call went to ${action.region}; set the region of the resource (${said})`;
    }
    case "key":
      return `the KMS key cannot be used; enable it, and allow kms:Decrypt and kms:GenerateDataKey on it to the function's role (${said})`;
    case "missing":
      return `it does not exist in region ${action.region}; create it or correct its name (${said})`;
    case "throttled":
      return `AWS throttles the call, even after several tries (${said})`;
    case "timeout":
      return `no answer in time, so it may or may not have happened (${said})`;
    case "unavailable":
      return `AWS has an internal error, even after several tries (${said})`;
    case "unreachable":
      return `AWS cannot be reached (${said}); check the network of the function and the endpoint`;
    case "refused":
      return said;
  }
}

function credentialsAre(error: unknown): string {
  const code = error instanceof Error ? error.name : "";
  if (code === "CredentialsProviderError") return "there are no AWS credentials";
  return code.startsWith("Expired") ? "the AWS credentials have expired" : "AWS does not accept the credentials";
}

/** The answer is not AWS's: a proxy has answered, and the SDK's parser quotes it. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError;
}

/** The missing permission. A transaction needs the actions of its parts and has no action of its own. */
function deniedAction(said: string, { name }: AwsAction): string {
  const missed = /not authorized to perform: (\w+:\w+)/.exec(said)?.[1];
  return missed === undefined || missed.toLowerCase() === name.toLowerCase() ? name : missed;
}

/** A hint if the caller, whom AWS names in its message, is of another account than the resource. */
function deniedTo(said: string, { account }: AwsAction): string {
  const caller = /arn:aws[\w-]*:(?:sts|iam)::([0-9]{12}):/.exec(said)?.[1];
  if (caller === undefined || account === undefined || caller === account) return "";
  return `the credentials are of account ${caller}, it is of account ${account}; `;
}
