import { z } from "zod";
import { clusterArnPattern } from "../lib/aws/eks/cluster-arn.ts";
import { isRepositoryPattern } from "./lambda/allowed-repository.ts";
import { readSettings } from "./settings/read-settings.ts";

const queueUrl = z.string().regex(/^https?:\/\/[^/?#]+\/[0-9]{12}\/[A-Za-z0-9_-]{1,80}$/, "must be the URL of a queue");

/** The settings of the functions, by the names of their environment variables. Each function takes those that it needs. */
export const Config = z.object({
  AWS_REGION: z.string("is required").min(1, "is required"),
  /** The DynamoDB table of the state. */
  SLUICE_TABLE: z.string("is required").regex(/^[A-Za-z0-9_.-]{3,255}$/, "must be the name of a table"),
  /** Of the wake-ups. */
  SLUICE_QUEUE_URL: queueUrl,
  SLUICE_DEAD_LETTER_QUEUE_URL: queueUrl,
  /** Of the artifacts. */
  SLUICE_BUCKET: z.string("is required").regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "must be the name of a bucket"),
  /** The account that the bucket has to be of, where it is to be checked; a bucket of another one is not touched. */
  SLUICE_BUCKET_ACCOUNT: z
    .string()
    .regex(/^[0-9]{12}$/, "must be the 12 digits of an account")
    .optional(),
  /** The cluster that is looked after; its name is the cluster's in work keys. */
  SLUICE_CLUSTER: z
    .string("is required")
    .regex(clusterArnPattern, "must be arn:aws:eks:<region>:<account>:cluster/<name>"),
  /** Name or ARN of the secret that holds the installation key, 32 random bytes in hexadecimal. */
  SLUICE_INSTALLATION_KEY_SECRET: z.string("is required").min(1, "is required").max(2048, "is too long"),
  /** Repositories of ECR that objects of a namespace may pull with our identity: `{"apps": ["<host of ECR>/team/*"]}`. */
  SLUICE_REPOSITORIES: z
    .string()
    .default("{}")
    .transform((text, context) => {
      const parsed = Repositories.safeParse(parseJson(text));
      if (parsed.success) return parsed.data;
      context.addIssue(
        'must be JSON that lists repositories by namespace with the whole host of ECR, {"apps": ["<account>.dkr.ecr.<region>.amazonaws.com/team/*"]}',
      );
      return z.NEVER;
    }),
  /** `allowed` lets registries be on this machine: for stand-ins of Lambda, never for Lambda. */
  SLUICE_LOCAL_ADDRESSES: z.enum(["allowed", "refused"], "must be allowed or refused").default("refused"),
  /** A run is ended that long before Lambda would end it, so that its status can still be written. */
  SLUICE_DEADLINE_RESERVE_MS: wholeNumber(1_000, 120_000).default(15_000),
  /** The settings of the installation, YAML or JSON (docs/settings.md). */
  SLUICE_SETTINGS: z
    .string()
    .default("")
    .transform((text, context) => {
      const settings = readSettings(text);
      if (!("faults" in settings)) return settings;
      for (const fault of settings.faults) context.addIssue(fault);
      return z.NEVER;
    }),
  /** The setting `concurrent-ssa` where the document has none. */
  SLUICE_CONCURRENCY: wholeNumber(1, 100).default(8),
  SLUICE_LOG_LEVEL: z.enum(["debug", "info", "warn", "error"], "must be debug, info, warn or error").default("info"),
});
export type Config = z.infer<typeof Config>;

const Repositories = z.record(z.string(), z.array(z.string().refine(isRepositoryPattern)));

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
