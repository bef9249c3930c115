/** A message of a dead-letter queue. */
export interface StoredLetter {
  readonly id: string;
  /** The handle of this receipt; after a minute a new one is needed. */
  readonly handle: string;
  readonly body: string;
  /** Wall time in milliseconds. */
  readonly sentAt: number;
  readonly group?: string;
  /** The queue that SQS moved it from, if it did. */
  readonly source?: string;
  /** Why EventBridge could not deliver it. */
  readonly error?: string;
}

/** A dead-letter queue whose messages a user moves back. Each call may be repeated; a send that is repeated may send twice. */
export interface DeadLetterQueue {
  /** Up to ten messages, which no other reader sees for a minute; empty if the queue is empty. */
  receive(signal: AbortSignal): Promise<readonly StoredLetter[]>;
  /** Sends a copy to the queue at `url`, and answers its id. A FIFO queue takes one copy of a letter within five minutes. */
  send(letter: Pick<StoredLetter, "body" | "group" | "id">, url: string, signal: AbortSignal): Promise<string>;
  remove(letter: StoredLetter, signal: AbortSignal): Promise<void>;
  /** Makes it visible to other readers at once. */
  release(letter: StoredLetter, signal: AbortSignal): Promise<void>;
}
