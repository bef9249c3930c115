import type { Client, ClientChannel } from "ssh2";
import { GitFault } from "./git-fault.ts";
import type { GitService } from "./git-transport.ts";

/** A command that runs on the server: what it says, and what it is told. */
export interface SshChannel extends AsyncIterator<Uint8Array, undefined, undefined> {
  /** Ends once the bytes are on their way. From now on this signal aborts what is read. */
  write(bytes: Uint8Array, signal: AbortSignal): Promise<void>;
  /** Tells the command that nothing follows. */
  end(): void;
}

/** The limit for reading ahead. */
const maxQueuedBytes = 1024 * 1024;
/** The limit for the server's messages, which are only searched for known ones. */
const maxMessageBytes = 4096;

/** The messages by which Flux's client (go-git, `internal/common`) knows that there is no such repository, or none for this key. */
const notFound =
  /Repository not found\.|repository does not exist\.|does not appear to be a git repository|no such repository|access denied|Repository does not exist or you do not have access|The project you were looking for could not be found/;

/** How git hosts say that a key may only read. */
const notForWriting = /read[- ]only|not allowed to (?:push|upload)|permission to .{1,200} denied|write access/i;

/**
 * Runs a command on the server and asks it for version 2 of git's protocol. Throws a {@link GitFault}, or the reason that `signal`
 * was aborted with.
 */
export async function openChannel(
  client: Client,
  { service, command }: { readonly service: GitService; readonly command: string },
  signal: AbortSignal,
): Promise<SshChannel> {
  const opened = Promise.withResolvers<SshChannel>();
  const abort = (): void => opened.reject(signal.reason);
  const lost = (): void => opened.reject(new GitFault("protocol", "the connection broke off"));
  client.once("close", lost);
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    client.exec(command, { env: { GIT_PROTOCOL: "version=2" } }, (error, channel) => {
      // At once: a command that fails early has its exit code in the same bytes.
      if (error === undefined) opened.resolve(conversation(channel, service, signal));
      else opened.reject(new GitFault("authorization", `ssh: command ${command} failed`, { cause: error }));
    });
    return await opened.promise;
  } catch (error) {
    if (error instanceof GitFault || signal.aborted) throw error;
    throw new GitFault("protocol", "the connection broke off", { cause: error });
  } finally {
    client.off("close", lost);
    signal.removeEventListener("abort", abort);
  }
}

function conversation(channel: ClientChannel, service: GitService, opening: AbortSignal): SshChannel {
  const queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let messages = "";
  let signal = opening;
  let exitCode: number | undefined;
  let isClosed = false;
  let changed = Promise.withResolvers<void>();
  const change = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  channel.on("data", (bytes: Buffer) => {
    queue.push(bytes);
    queuedBytes += bytes.length;
    if (queuedBytes > maxQueuedBytes) channel.pause();
    change();
  });
  channel.stderr.on("data", (bytes: Buffer) => {
    messages = (messages + bytes.toString("utf8")).slice(0, maxMessageBytes);
  });
  channel.on("exit", (code: number | null) => {
    exitCode = code ?? undefined;
  });
  channel.once("close", () => {
    isClosed = true;
    change();
  });
  // The connection tells its own error; here a listener only keeps it from ending the process.
  channel.on("error", change);

  /** Waits for a change, or throws the reason of the abort. */
  const waitFor = async (what: Promise<void>): Promise<void> => {
    signal.throwIfAborted();
    const aborted = Promise.withResolvers<never>();
    const abort = (): void => aborted.reject(signal.reason);
    const waited = signal;
    waited.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([what, aborted.promise]);
    } finally {
      waited.removeEventListener("abort", abort);
    }
  };

  return {
    async next() {
      for (;;) {
        signal.throwIfAborted();
        const bytes = queue.shift();
        if (bytes !== undefined) {
          queuedBytes -= bytes.length;
          if (queuedBytes <= maxQueuedBytes) channel.resume();
          return { done: false, value: bytes };
        }
        if (isClosed) {
          const fault = endFault(service, exitCode, messages);
          if (fault !== undefined) throw fault;
          return { done: true, value: undefined };
        }
        await waitFor(changed.promise);
      }
    },
    async write(bytes, of) {
      signal = of;
      const written = Promise.withResolvers<void>();
      channel.write(bytes, () => written.resolve());
      // A channel that closes never says that it has written: what it has said by then tells why.
      while (!isClosed) {
        const done = await Promise.race([written.promise.then(() => true), waitFor(changed.promise).then(() => false)]);
        if (done) return;
      }
    },
    end: () => void channel.end(),
  };
}

/** Why a command that has ended did not do its work, without the server's own words; undefined if it did. */
function endFault(service: GitService, exitCode: number | undefined, messages: string): GitFault | undefined {
  if (exitCode === 0) return undefined;
  if (service === "git-receive-pack" && notForWriting.test(messages)) {
    return new GitFault("authorization", "authorization failed: the key may not write to the repository");
  }
  if (notFound.test(messages)) return new GitFault("not-found", "repository not found");
  if (exitCode === undefined) return new GitFault("protocol", "the connection broke off");
  return new GitFault("protocol", `${service} has ended with exit code ${exitCode}`);
}
