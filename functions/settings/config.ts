import { z } from "zod";
import { Digest } from "../../lib/core/digest.ts";
import { defaultNetwork, maxNetworks, networkPattern } from "./installation.ts";

const queueUrl = z.string().regex(/^https?:\/\/[^/?#]+\/[0-9]{12}\/[A-Za-z0-9_-]{1,80}$/, "must be the URL of a queue");
const fifoQueueUrl = z
  .string("is required")
  .regex(/^https?:\/\/[^/?#]+\/[0-9]{12}\/[A-Za-z0-9_-]{1,75}\.fifo$/, "must be the URL of a FIFO queue");

const bucket = z.string("is required").regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket");
const QueueUrls = z
  .record(z.string().regex(networkPattern), queueUrl)
  .refine((urls) => Object.keys(urls).length > 0 && Object.keys(urls).length <= maxNetworks);

/** The settings of the functions, by the names of their environment variables. Each function takes those that it needs. */
export const Config = z.object({
  AWS_REGION: z.string("is required").min(1, "is required"),
  /** The DynamoDB table of the state. */
  SLUICE_TABLE: z.string("is required").regex(/^[A-Za-z0-9_.-]{3,255}$/, "must be the name of a table"),
  /** The queue of wake-ups of each network: `{"<network>": "<URL>"}`. */
  SLUICE_QUEUE_URLS: z.string("is required").transform((text, context) => {
    const parsed = QueueUrls.safeParse(parseJson(text));
    if (parsed.success) return parsed.data;
    context.addIssue(
      `must be JSON with the URL of the queue of each network, at most ${maxNetworks}, {"default": "https://sqs.<region>.amazonaws.com/<account>/<name>"}`,
    );
    return z.NEVER;
  }),
  /** The network whose clusters this function reconciles. */
  SLUICE_NETWORK: z.string().default(defaultNetwork),
  /** The queue of the parked objects. */
  SLUICE_DEAD_LETTER_QUEUE_URL: queueUrl,
  /** Of the artifacts. */
  SLUICE_BUCKET: bucket,
  /** The account that the bucket has to be of, where it is to be checked; a bucket of another one is not touched. */
  SLUICE_BUCKET_ACCOUNT: z
    .string()
    .regex(/^[0-9]{12}$/, "must be the 12 digits of an account")
    .optional(),
  /** Where the document of the installation is (functions/settings/installation.ts). */
  SLUICE_INSTALLATION_BUCKET: bucket,
  SLUICE_INSTALLATION_KEY: z.string("is required").min(1, "is required").max(1024, "is too long"),
  /** The digest of the document: any other document is refused. */
  SLUICE_INSTALLATION_DIGEST: z
    .string("is required")
    .pipe(z.custom<Digest>((value) => Digest.safeParse(value).success, "must be sha256:<64 hexadecimal digits>")),
  /** Name or ARN of the secret that holds the installation key, 32 random bytes in hexadecimal. */
  SLUICE_INSTALLATION_KEY_SECRET: z.string("is required").min(1, "is required").max(2048, "is too long"),
  /** `allowed` lets registries be on this machine: for stand-ins of Lambda, never for Lambda. */
  SLUICE_LOCAL_ADDRESSES: z.enum(["allowed", "refused"], "must be allowed or refused").default("refused"),
  /** The accounts and regions whose events are taken, `<account>/<region>` with commas between; every one where it is not set. */
  SLUICE_EVENTS_FROM: z
    .string()
    .regex(
      /^[0-9]{12}\/[a-z0-9-]{1,32}(,[0-9]{12}\/[a-z0-9-]{1,32})*$/,
      "must be <account>/<region>, with commas between several",
    )
    .transform((text) => new Set(text.split(",")))
    .optional(),
  /** Where deliveries to Receivers of this function's network come in; absent where there is no receiver function. */
  SLUICE_WEBHOOK_URL: z.url({ protocol: /^https$/, error: "must be an https URL" }).optional(),
  /** The FIFO queue of notifications of this function's network; absent where there is no function that delivers them. */
  SLUICE_NOTIFICATION_QUEUE_URL: fifoQueueUrl.optional(),
  /** A run is ended that long before Lambda would end it, so that its status can still be written. */
  SLUICE_DEADLINE_RESERVE_MS: wholeNumber(1_000, 120_000).default(15_000),
  /** The setting `concurrent-ssa` where the document has none. */
  SLUICE_CONCURRENCY: wholeNumber(1, 100).default(8),
  SLUICE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error").default("info"),
});
export type Config = z.infer<typeof Config>;

/** The variables that say where the document of the installation is and what it has to fit. */
export const documentVariables = {
  SLUICE_INSTALLATION_BUCKET: true,
  SLUICE_INSTALLATION_KEY: true,
  SLUICE_INSTALLATION_DIGEST: true,
  SLUICE_QUEUE_URLS: true,
} as const;

/** The settings of the reconcile function: it has a queue of its own. */
export const ReconcileConfig = Config.check(({ value: { SLUICE_NETWORK, SLUICE_QUEUE_URLS }, issues }) => {
  if (Object.hasOwn(SLUICE_QUEUE_URLS, SLUICE_NETWORK)) return;
  const message = "must be one of the networks of SLUICE_QUEUE_URLS";
  issues.push({ code: "custom", input: undefined, path: ["SLUICE_NETWORK"], message });
});

/** The settings of the function that delivers notifications: it has a queue of its own, and sends no wake-up. */
export const NotifyConfig = Config.pick({
  AWS_REGION: true,
  SLUICE_TABLE: true,
  ...documentVariables,
  SLUICE_NETWORK: true,
  SLUICE_LOCAL_ADDRESSES: true,
  SLUICE_DEADLINE_RESERVE_MS: true,
  SLUICE_LOG_LEVEL: true,
}).extend({ SLUICE_NOTIFICATION_QUEUE_URL: fifoQueueUrl });

/** The settings of the artifact collector: it reaches neither a queue nor a cluster. */
export const CollectConfig = Config.pick({
  AWS_REGION: true,
  SLUICE_TABLE: true,
  SLUICE_BUCKET: true,
  SLUICE_BUCKET_ACCOUNT: true,
  SLUICE_DEADLINE_RESERVE_MS: true,
  SLUICE_LOG_LEVEL: true,
});

/** The settings of the admission webhook: it reaches neither the table nor a cluster, and names the table only in its metrics. */
export const AdmissionConfig = Config.pick({
  AWS_REGION: true,
  SLUICE_TABLE: true,
  SLUICE_LOG_LEVEL: true,
  ...documentVariables,
}).extend({
  /** Name or ARN of the secret from which its paths are derived, 32 random bytes in hexadecimal. */
  SLUICE_ADMISSION_SECRET: z.string("is required").min(1, "is required").max(2048, "is too long"),
});

function wholeNumber(least: number, most: number) {
  const message = `must be a whole number from ${least} to ${most}`;
  return z.coerce.number(message).int(message).min(least, message).max(most, message);
}

/**
 * The settings of one function. Throws one error that names every variable that is missing or wrong, and quotes no value: a
 * deploy with a typing error fails at its start and not at a message.
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const parsed = schema.safeParse(env);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join(".")} ${message}`);
  throw new Error(`the function's environment is not usable: ${[...new Set(faults)].join("; ")}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller says what was expected; the parser's words would quote the text.
    return undefined;
  }
}
