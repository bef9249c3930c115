import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

const Order = z.object({
  write: z.string().optional(),
  throws: z.string().optional(),
  throwsUntil: z.number().optional(),
  waitMs: z.number().optional(),
  allocateMegabytes: z.number().optional(),
  inChild: z.boolean().optional(),
});
const Batch = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) });
const Request = z.object({
  version: z.literal("2.0"),
  rawPath: z.string(),
  body: z.string(),
  isBase64Encoded: z.boolean(),
});
const kept: Buffer[] = [];
let calls = 0;

/** Does what its event says, so that a test can observe the environment around it. */
export async function handler(event: unknown, context: { getRemainingTimeInMillis(): number }): Promise<unknown> {
  calls += 1;
  const batch = Batch.safeParse(event);
  if (batch.success) {
    const failed = batch.data.Records.filter(({ body }) => body.startsWith("bad"));
    process.stdout.write(`batch ${batch.data.Records.map(({ body }) => body).join(" ")}\n`);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  }
  const request = Request.safeParse(event);
  if (request.success) {
    const { rawPath, body, isBase64Encoded } = request.data;
    return { statusCode: 202, headers: { "x-path": rawPath }, body, isBase64Encoded };
  }
  const { write, throws, throwsUntil = 0, waitMs, allocateMegabytes = 0, inChild = false } = Order.parse(event);
  if (calls < throwsUntil) throw new Error("not yet");
  if (throws !== undefined) throw new RangeError(throws);
  if (write !== undefined) {
    writeFileSync(write, "x");
    return readFileSync(write, "utf8");
  }
  if (inChild) {
    const program = `const kept = Buffer.alloc(${allocateMegabytes} << 20, 1); setTimeout(() => kept, 600_000)`;
    spawn(process.execPath, ["-e", program], { stdio: "ignore" });
  } else if (allocateMegabytes > 0) kept.push(Buffer.alloc(allocateMegabytes * 1_048_576, 1));
  if (waitMs !== undefined) await new Promise((resolve) => setTimeout(resolve, waitMs));
  return { calls, remainingMs: context.getRemainingTimeInMillis(), names: Object.keys(process.env).toSorted() };
}
