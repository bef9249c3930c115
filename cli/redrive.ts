import { z } from "zod";
import { assumedRole } from "../lib/aws/assumed-role.ts";
import { sqsClient } from "../lib/aws/sqs.ts";
import { sqsDeadLetterQueue } from "../lib/aws/sqs-redrive.ts";
import { cutText } from "../lib/core/cut-text.ts";
import { messageOf } from "../lib/core/failure.ts";
import type { DeadLetterQueue, StoredLetter } from "../lib/core/ports/dead-letter-queue.ts";
import { LookRequest, SweepRequest, WakeUp } from "../lib/core/ports/wake-ups.ts";
import { NotificationMessage } from "../lib/notify/notification-message.ts";
import { systemClock } from "../lib/process/system-clock.ts";
import { type GlobalOptions, type Surroundings, timeoutOf } from "./session.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** What a dead-letter queue of an installation holds. */
export const redriven = ["hints", "undelivered", "wake-ups", "notifications"] as const;
export type Redriven = (typeof redriven)[number];

export interface RedriveOptions extends GlobalOptions {
  readonly role: string;
  /** URL of the dead-letter queue. */
  readonly from: string;
  /** URL of the queue that gets the messages. Default: the one that each comes from. */
  readonly to?: string;
  readonly dryRun?: boolean;
  /** Text as it was typed. */
  readonly limit: string;
}

/** The most messages of one command. */
export const maxRedriven = 10_000;
/** The limit for a message's content in a line of the table. */
const maxShownBytes = 120;

/** `redrive`: assumes the role of the stack that may do it, and moves what waits in a dead-letter queue back. */
export async function redrive(
  what: string,
  options: RedriveOptions,
  { terminal, signal }: Pick<Surroundings, "terminal" | "signal">,
): Promise<void> {
  const [, region] = queueUrl("--from", options.from);
  if (options.to !== undefined) {
    const [, other] = queueUrl("--to", options.to);
    if (other !== region)
      throw new Error(`--to is a queue in ${other}, and --from one in ${region}: give two of one region`);
  }
  if (!/^arn:[^:]+:iam::\d{12}:role\/.+$/.test(options.role)) {
    throw new Error(
      `--role "${options.role}" is not the ARN of a role: the outputs of the stack have the whole command (aws cloudformation describe-stacks)`,
    );
  }
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxRedriven) {
    throw new Error(`--limit must be a whole number from 1 to ${maxRedriven}, not "${options.limit}"`);
  }
  const kind = redriven.find((one) => one === what);
  if (kind === undefined) throw new Error(`"${what}" is not a dead-letter queue: write one of ${redriven.join(", ")}`);
  if (kind === "undelivered" && options.to === undefined) {
    throw new Error(
      "--to is required: EventBridge does not say where an event was to go. Give the URL of the hints queue",
    );
  }
  const credentials = await assumedRole(options.role, { region }, systemClock)();
  const client = sqsClient({ region, credentials });
  try {
    const queue = sqsDeadLetterQueue(client, { url: options.from, region });
    const time = AbortSignal.timeout(timeoutOf(options));
    const { to, dryRun = false } = options;
    await moveLetters(
      kind,
      { queue, terminal, limit, dryRun, ...(to === undefined ? {} : { to }) },
      AbortSignal.any([signal, time]),
    );
  } finally {
    client.destroy();
  }
}

/** `https://sqs.<region>.amazonaws.com/<account>/<name>`, and its region. */
function queueUrl(option: string, text: string): readonly [url: string, region: string] {
  const [, region] =
    /^https:\/\/sqs\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/\d{12}\/[\w-]+(?:\.fifo)?$/.exec(text) ?? [];
  if (region !== undefined) return [text, region];
  throw new Error(
    `${option} "${text}" is not the URL of a queue: write https://sqs.<region>.amazonaws.com/<account>/<name>`,
  );
}

export interface Moving {
  readonly queue: DeadLetterQueue;
  readonly terminal: Pick<Terminal, "out" | "columns" | "success" | "warning" | "action">;
  readonly limit: number;
  readonly dryRun: boolean;
  readonly to?: string;
}

/** What becomes of a letter. `drop`: there is nothing to do for it any more. */
type Fate =
  | { readonly kind: "move"; readonly shown: string; readonly to: string }
  | { readonly kind: "drop"; readonly shown: string }
  | { readonly kind: "leave"; readonly shown: string; readonly why: string };

/**
 * Moves letters until the queue is empty or `limit` are seen. Each is sent before it is deleted, so a command that is killed loses none and
 * may send one twice, which does no harm: a hint and a wake-up carry no state, and the queue of notifications takes a copy once. What is not understood stays. With `dryRun` nothing is
 * moved, and everything is visible again at the end.
 */
export async function moveLetters(what: Redriven, moving: Moving, signal: AbortSignal): Promise<void> {
  const { queue, terminal, limit, dryRun } = moving;
  const rows: string[][] = [];
  const seen = new Map<string, StoredLetter>();
  const sent = new Set<string>();
  const counts = { move: 0, drop: 0, leave: 0 };
  try {
    while (seen.size < limit) {
      const letters = await queue.receive(signal);
      // A copy that has failed again is back: the cause is not mended, and moving it would never end.
      const fresh = letters.filter(({ id }) => !seen.has(id) && !sent.has(id)).slice(0, limit - seen.size);
      await releaseAll(
        letters.filter((letter) => !fresh.includes(letter)),
        queue,
      );
      if (fresh.length === 0) break;
      for (const letter of fresh) {
        seen.set(letter.id, letter);
        const fate = fateOf(what, letter, moving.to);
        if (!dryRun && fate.kind === "move") sent.add(await queue.send(letter, fate.to, signal));
        if (!dryRun && fate.kind !== "leave") await queue.remove(letter, signal);
        counts[fate.kind] += 1;
        const why = fate.kind === "leave" ? fate.why : (letter.error ?? "");
        rows.push([new Date(letter.sentAt).toISOString(), fate.kind, fate.shown, cutText(why, maxShownBytes)]);
      }
    }
  } catch (error) {
    const done = dryRun ? "" : `; ${counts.move} messages were moved before, and none is lost`;
    throw new Error(`${messageOf(error)}${done}`, { cause: error });
  } finally {
    if (rows.length > 0) terminal.out(table(["sent", "what", "message", "error"], rows, terminal.columns()));
    if (dryRun) await releaseAll([...seen.values()], queue);
  }
  const { move, drop, leave } = counts;
  if (dryRun) terminal.action(`${move} messages would be moved, ${drop} dropped, ${leave} left`);
  else terminal.success(`${move} messages moved, ${drop} dropped, ${leave} left`);
  if (leave > 0)
    terminal.warning(
      "the messages that are left are not from Sluice: look at them in the console of SQS, and purge the queue",
    );
  if (seen.size >= limit) terminal.warning(`there may be more: --limit is ${limit}`);
}

/** Best effort: without it they are hidden for another minute. */
async function releaseAll(letters: readonly StoredLetter[], queue: DeadLetterQueue): Promise<void> {
  const { signal } = new AbortController();
  await Promise.allSettled(letters.map((letter) => queue.release(letter, signal)));
}

const Event = z.looseObject({ source: z.string(), "detail-type": z.string(), detail: z.looseObject({}) });
const Tick = z.strictObject({});
const Message = z.union([WakeUp, SweepRequest, LookRequest]);
interface Content {
  readonly holds: string;
  readonly schema: z.ZodType;
  /** Shows a message of this schema. Default: the beginning of its body. */
  readonly text?: (data: unknown) => string;
}

const hint: Content = { holds: "event", schema: Event, text: eventText };
/** What each dead-letter queue holds. */
const contents: Readonly<Record<Redriven, Content>> = {
  hints: hint,
  undelivered: hint,
  "wake-ups": { holds: "wake-up", schema: Message },
  notifications: { holds: "notification", schema: NotificationMessage, text: notificationText },
};

function notificationText(message: unknown): string {
  const { alert, event } = NotificationMessage.parse(message);
  const { kind, namespace, name } = event.involvedObject;
  return cutText(`${kind}/${namespace}/${name} ${event.reason} for ${alert.namespace}/${alert.name}`, maxShownBytes);
}

function fateOf(what: Redriven, { body, source }: StoredLetter, given: string | undefined): Fate {
  const shown = cutText(body, maxShownBytes);
  const content = parsed(body);
  const to = given ?? source;
  if (what === "undelivered" && Tick.safeParse(content).success)
    return { kind: "drop", shown: "a tick of the schedule" };
  const { holds, schema, text } = contents[what];
  const read = schema.safeParse(content);
  if (!read.success) return { kind: "leave", shown, why: `no ${holds}` };
  if (to === undefined) return { kind: "leave", shown, why: "SQS does not say which queue it comes from: give --to" };
  return { kind: "move", shown: text?.(read.data) ?? shown, to };
}

function eventText(event: unknown): string {
  const { source, "detail-type": type, detail } = Event.parse(event);
  const name = detail["repository-name"] ?? detail["repositoryName"] ?? detail["object"] ?? "";
  const text = typeof name === "string" ? name : JSON.stringify(name);
  return cutText(`${source} ${type} ${text}`.trimEnd(), maxShownBytes);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
