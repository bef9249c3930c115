import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { z } from "zod";

/** The capacity that the calls of a client have consumed so far. */
export interface Consumed {
  readUnits: number;
  writeUnits: number;
  reads: number;
  writes: number;
}

const Units = z.object({ CapacityUnits: z.number() });
const Answer = z.object({ ConsumedCapacity: z.union([Units.transform((one) => [one]), z.array(Units)]) });
const Transaction = z.object({
  TransactItems: z.array(z.object({ Put: z.object({ Item: z.record(z.string(), z.unknown()) }).optional() })),
});

/** Counts what every call of this client consumes from now on. */
export function consumedCapacity(client: DynamoDBClient): Consumed {
  const spent: Consumed = { readUnits: 0, writeUnits: 0, reads: 0, writes: 0 };
  client.middlewareStack.add(
    (next, { commandName = "" }) =>
      async (call) => {
        const result = await next({ ...call, input: { ...call.input, ReturnConsumedCapacity: "INDEXES" } });
        const consumed = Answer.safeParse(result.output).data?.ConsumedCapacity ?? [];
        const said = consumed.reduce((sum, { CapacityUnits: one }) => sum + one, 0);
        const transaction = Transaction.safeParse(call.input).data;
        const isWrite = /Write|Put|Update|Delete/.test(commandName);
        spent[isWrite ? "writeUnits" : "readUnits"] += transaction === undefined ? said : transactionUnits(transaction);
        spent[isWrite ? "writes" : "reads"] += 1;
        return result;
      },
    { step: "initialize" },
  );
  return spent;
}

/** AWS counts items of a transaction double and rounds them up (two units per started kilobyte); DynamoDB Local does neither. */
function transactionUnits({ TransactItems: writes }: z.infer<typeof Transaction>): number {
  return writes.reduce((sum, { Put: put }) => sum + 2 * Math.max(1, Math.ceil(sizeOf(put?.Item ?? {}) / 1024)), 0);
}

/** An approximation: names and values, as text or bytes. */
function sizeOf(item: Readonly<Record<string, unknown>>): number {
  return Object.entries(item).reduce((sum, [name, value]) => {
    const { S: text, N: digits, B: bytes } = Value.parse(value);
    return sum + name.length + (bytes?.length ?? Buffer.byteLength(text ?? digits ?? ""));
  }, 0);
}

const Value = z.object({
  S: z.string().optional(),
  N: z.string().optional(),
  B: z.instanceof(Uint8Array).optional(),
});
