import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** Sends a command of the client with what bounds it. */
type Send<Result> = (client: DynamoDBClient, options: { readonly abortSignal: AbortSignal }) => Promise<Result>;

/** One call to the table, under the signal and within a time limit. `name` is the action's: `GetItem`. */
export type TableCall = <Result>(name: string, send: Send<Result>, signal: AbortSignal) => Promise<Result>;
