import { type ByteBoundedCache, byteBoundedCache, entryBytes } from "../../core/byte-bounded-cache.ts";
import { GitFault } from "./git-fault.ts";
import type { GitBytes, GitTransport } from "./git-transport.ts";
import { type Greeting, type RefLimits, readGreeting } from "./greeting.ts";
import { type PktReader, pktReader } from "./pkt-line.ts";

/** The greetings of servers, by {@link GitTransport.knownAs}. A process keeps one, so that an unchanged repository costs one request. */
export type KnownServers = ByteBoundedCache<string, Greeting>;

/** The limit for all greetings together: those of some thousand servers. */
export const maxKnownBytes = 4 * 1024 * 1024;

/** Of a process. */
export function knownServers(): KnownServers {
  return byteBoundedCache(maxKnownBytes, ({ capabilities }) => {
    let bytes = 0;
    for (const [name, value] of capabilities) bytes += entryBytes + 2 * (name.length + value.length);
    return bytes;
  });
}

/** A conversation that has begun: the server has greeted. */
export interface Conversation {
  readonly greeting: Greeting;
  /** Sends a request, and answers what `read` makes of the whole answer to it. */
  ask<Answer>(request: Uint8Array, read: (reader: PktReader) => Promise<Answer>, signal: AbortSignal): Promise<Answer>;
}

/**
 * Runs work in the present conversation, or in a new one. After a failure, and after work that calls `end`, the next work begins
 * a new one: nothing is sent over what is left of an old one.
 */
export interface Conversations {
  converse<Result>(
    work: (conversation: Conversation, signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
  end(): void;
}

/**
 * @param known over HTTP a remembered greeting of version 2 saves a request. Where the server does not speak as it did, it is asked
 *   again; after any failure it is forgotten.
 */
export function conversations(transport: GitTransport, limits: RefLimits, known: KnownServers): Conversations {
  let current: Conversation | undefined;
  const { knownAs } = transport;
  const forget = (): void => {
    if (knownAs !== undefined) known.delete(knownAs);
  };

  const greet = async (signal: AbortSignal): Promise<Conversation> => {
    const bytes = await transport.greet(signal);
    if (!transport.isStateless) {
      const reader = pktReader(bytes);
      return overChannel(transport, await readGreeting(reader, limits), reader);
    }
    const greeting = await readAnswer(bytes, (reader) => readGreeting(reader, limits));
    if (greeting.version === 2 && knownAs !== undefined) known.set(knownAs, greeting);
    return overHttp(transport, greeting);
  };

  return {
    async converse(work, signal) {
      try {
        const remembered = knownAs === undefined ? undefined : known.get(knownAs);
        if (current === undefined && remembered !== undefined) {
          try {
            current = overHttp(transport, remembered);
            return await work(current, signal);
          } catch (error) {
            if (!(error instanceof GitFault) || !asIfChanged.has(error.reason)) throw error;
            forget();
            current = undefined;
          }
        }
        current ??= await greet(signal);
        return await work(current, signal);
      } catch (error) {
        current = undefined;
        // It may come of what the server was believed to speak: too long an answer, say, or none in time.
        forget();
        throw error;
      }
    },
    end() {
      current = undefined;
    },
  };
}

/** What a server answers that has moved, or that speaks another version than it did. */
const asIfChanged: ReadonlySet<string> = new Set(["not-found", "protocol", "unsupported"]);

function overChannel(transport: GitTransport, greeting: Greeting, reader: PktReader): Conversation {
  return {
    greeting,
    async ask(request, read, signal) {
      await transport.send(request, greeting.version, signal);
      return await read(reader);
    },
  };
}

function overHttp(transport: GitTransport, greeting: Greeting): Conversation {
  return {
    greeting,
    ask: async (request, read, signal) => readAnswer(await transport.send(request, greeting.version, signal), read),
  };
}

async function readAnswer<Answer>(bytes: GitBytes, read: (reader: PktReader) => Promise<Answer>): Promise<Answer> {
  try {
    const reader = pktReader(bytes);
    const answer = await read(reader);
    await reader.drain();
    return answer;
  } finally {
    await bytes.return?.();
  }
}
