import { z } from "zod";
import { messageOf } from "../core/failure.ts";

/**
 * `clock`: ours is too far from theirs, also after the SDK has corrected it. `credentials`: none, expired or not known to AWS. `denied`: known, but not allowed. `ciphertext`: it was not sealed by this key for this context, or was changed. `missing`: the queue, bucket, cluster or
 * key is not there. `elsewhere`: it lies in another region. `key`: what it is encrypted with cannot be used. `timeout`: no answer in time, it may have happened all the same.
 * `throttled`, `unreachable` and `unavailable`: later it may work; `unavailable` also where what came cannot be read. `refused`: anything else that AWS said no to.
 */
export type AwsFaultKind =
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

/** What was asked of AWS, for messages. */
export interface AwsAction {
  /** As in IAM: `sqs:SendMessage`. */
  readonly name: string;
  /** What it was asked of: `queue https://…`, `bucket artifacts`. Holds no secret. */
  readonly resource: string;
  readonly region: string;
  /** The account that the resource is of, where that is known. */
  readonly account?: string | undefined;
}

/** A call to AWS that failed for good, its tries used up. The message names the action, the resource and how to mend it. */
export class AwsFault extends Error {
  override readonly name = "AwsFault";
  readonly kind: AwsFaultKind;
  /** AWS's own name of the error, for example `QueueDoesNotExist`; empty where no answer came. */
  readonly code: string;

  constructor(kind: AwsFaultKind, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.code = code;
  }
}

const kindByCode: Readonly<Record<string, AwsFaultKind>> = {
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

/** What the SDK hangs on its errors. */
const Hints = z.object({
  code: z.string().optional(),
  $metadata: z.object({ httpStatusCode: z.number().optional() }).optional(),
  $response: z.object({ headers: z.record(z.string(), z.string()).optional() }).optional(),
});

/** A thrown error of the SDK, in our words. */
export function awsFault(error: unknown, action: AwsAction): AwsFault {
  const code = error instanceof Error ? error.name : "";
  const hints = Hints.safeParse(error).data ?? {};
  const what = `${action.name} on ${action.resource}`;
  // The parser quotes what it cannot read, and of a good answer that may be the secret that was asked for.
  if (kindByCode[code] === undefined && isGood(hints))
    return new AwsFault("unavailable", code, `${what}: AWS's answer cannot be read`);
  const kind = kindOf(code, hints);
  return new AwsFault(kind, code, `${what}: ${explain(kind, error, action, hints)}`, { cause: error });
}

function isGood({ $metadata: { httpStatusCode = 0 } = {} }: z.infer<typeof Hints>): boolean {
  return httpStatusCode >= 200 && httpStatusCode <= 299;
}

function kindOf(code: string, { code: socketCode, $metadata, $response }: z.infer<typeof Hints>): AwsFaultKind {
  const known = kindByCode[code];
  if (known !== undefined) return known;
  // Each service has its own spelling: KmsAccessDenied, KMS.DisabledException, KMSInvalidStateException.
  if (/^kms/i.test(code)) return "key";
  const status = $metadata?.httpStatusCode;
  // An error of the SDK's own says nothing of a status: then nothing came back.
  if (status === undefined || $response === undefined) return socketCode === undefined ? "refused" : "unreachable";
  if (status === 301 || status === 307) return "elsewhere";
  if (status === 403) return "denied";
  if (status === 429) return "throttled";
  return status >= 500 ? "unavailable" : "refused";
}

function explain(kind: AwsFaultKind, error: unknown, action: AwsAction, { $response }: z.infer<typeof Hints>): string {
  const said = isUnreadable(error) ? "the answer is not AWS's own" : messageOf(error).replaceAll(/\s+/g, " ");
  switch (kind) {
    case "ciphertext":
      return `it was sealed by another key, or for another encryption context, or has been changed since; encrypt it anew (${said})`;
    case "clock":
      return `this machine's clock is too far from AWS's; set it (${said})`;
    case "credentials":
      return `${credentialsAre(error)} (${said}); give the function's role, or log in again`;
    case "denied":
      return `${deniedTo(said, action)}allow ${deniedAction(said, action)} in the policy of the role and of the resource (${said})`;
    case "elsewhere": {
      const region = $response?.headers?.["x-amz-bucket-region"];
      const place = region === undefined ? "is not in this region" : `lies in region ${region}`;
      return `it ${place}, and ${action.region} was asked; set the region of the resource (${said})`;
    }
    case "key":
      return `the KMS key cannot be used; enable it, and allow kms:Decrypt and kms:GenerateDataKey on it to the function's role (${said})`;
    case "missing":
      return `there is none in region ${action.region}; create it or correct its name (${said})`;
    case "throttled":
      return `AWS throttles it, also after several tries (${said})`;
    case "timeout":
      return `no answer in time, so it may have happened or not (${said})`;
    case "unavailable":
      return `AWS has a fault of its own, also after several tries (${said})`;
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

/** A proxy between us and AWS answers in its own words, which the SDK's parser then quotes. */
function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError;
}

/** The right that AWS misses: a transaction needs those of its parts, and has none of its own name. */
function deniedAction(said: string, { name }: AwsAction): string {
  const missed = /not authorized to perform: (\w+:\w+)/.exec(said)?.[1];
  return missed === undefined || missed.toLowerCase() === name.toLowerCase() ? name : missed;
}

/** Says so where the caller, whom AWS names in the message, is of another account than the resource. */
function deniedTo(said: string, { account }: AwsAction): string {
  const caller = /arn:aws[\w-]*:(?:sts|iam)::([0-9]{12}):/.exec(said)?.[1];
  if (caller === undefined || account === undefined || caller === account) return "";
  return `the credentials are of account ${caller}, it is of account ${account}; `;
}
