import { orAborted } from "../core/concurrency.ts";
import { messageOf } from "../core/failure.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { ClientCertificate, SuppliedToken, UserConfig } from "./cluster-config.ts";
import { execCredential } from "./exec-credential.ts";
import { readLimitedFile } from "./read-limited-file.ts";

const tokenFileMaxAgeMs = 60_000;
/** A credential is renewed this long before it expires, so that none expires while a request is on its way. */
const renewAheadMs = 30_000;
/** Servers refuse requests with longer headers. */
export const maxTokenBytes = 64 * 1024;
const supplyLimitMs = 10_000;

/** The headers and the certificate that authenticate one request. */
interface Credential {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate: ClientCertificate | undefined;
}

export interface Credentials {
  /** @param impersonated a user to act as, in place of the one that the configuration names */
  current(signal: AbortSignal, impersonated?: string): Promise<Credential>;
  /** Drops a credential that the server has refused. False if the next one would be the same. */
  renew(): boolean;
  /** Stops a credential plugin that still runs: nothing waits for it any more, and it would keep this process alive. */
  close(): void;
}

interface Held {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  readonly expiresAt: number | undefined;
}

/** The credentials of a user, cached until they expire or are refused. Concurrent calls share one fetch. */
export function credentials(
  user: UserConfig,
  env: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, "now">,
): Credentials {
  const renewable = user.token !== undefined && ["exec", "file", "supplied"].includes(user.token.kind);
  const closed = new AbortController();
  let held: Held | undefined;
  let fetching: Promise<Held> | undefined;
  const fetch = (): Promise<Held> => {
    fetching ??= fetchCredential(user, env, clock, closed.signal).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return {
    async current(signal, impersonated) {
      const isFresh = held !== undefined && (held.expiresAt === undefined || clock.now() < held.expiresAt);
      held = isFresh && held !== undefined ? held : await orAborted(fetch(), signal);
      const impersonate = impersonated === undefined ? user.impersonate : { user: impersonated, groups: [] };
      return { headers: headersOf(held, impersonate), certificate: held.certificate };
    },
    renew() {
      held = undefined;
      return renewable;
    },
    close() {
      closed.abort();
    },
  };
}

async function fetchCredential(
  { name, token, certificate }: UserConfig,
  env: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, "now">,
  closed: AbortSignal,
): Promise<Held> {
  switch (token?.kind) {
    case undefined:
      return { authorization: undefined, certificate, expiresAt: undefined };
    case "token":
      return { authorization: `Bearer ${token.token.reveal()}`, certificate, expiresAt: undefined };
    case "basic": {
      const pair = Buffer.from(`${token.username}:${token.password.reveal()}`).toString("base64");
      return { authorization: `Basic ${pair}`, certificate, expiresAt: undefined };
    }
    case "file":
      return {
        authorization: `Bearer ${await readToken(token.path)}`,
        certificate,
        expiresAt: clock.now() + tokenFileMaxAgeMs,
      };
    case "exec": {
      const given = await execCredential(token.plugin, env, closed);
      return {
        authorization: given.token === undefined ? undefined : `Bearer ${given.token.reveal()}`,
        certificate: given.certificate ?? certificate,
        expiresAt: given.expiresAt === undefined ? undefined : given.expiresAt - renewAheadMs,
      };
    }
    case "supplied": {
      const given = await supplied(name, token.supply);
      return { authorization: `Bearer ${given.token.reveal()}`, certificate, expiresAt: given.renewAt };
    }
  }
}

async function supplied(name: string, supply: (signal: AbortSignal) => Promise<SuppliedToken>): Promise<SuppliedToken> {
  const limit = AbortSignal.timeout(supplyLimitMs);
  try {
    return await orAborted(supply(limit), limit);
  } catch (error) {
    const why = limit.aborted ? `nothing within ${supplyLimitMs / 1000} s` : messageOf(error);
    throw new ApiError({ code: 0, reason: "Unauthorized", message: `no token for ${name}: ${why}` }, { cause: error });
  }
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readLimitedFile(path, maxTokenBytes)).trim();
  } catch (error) {
    const message = `token file ${path} cannot be read: ${messageOf(error)}`;
    throw new ApiError({ code: 0, reason: "Unauthorized", message }, { cause: error });
  }
}

function headersOf({ authorization }: Held, impersonate: UserConfig["impersonate"]): Credential["headers"] {
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(impersonate === undefined ? {} : { "impersonate-user": impersonate.user }),
    ...(impersonate === undefined || impersonate.groups.length === 0
      ? {}
      : { "impersonate-group": impersonate.groups }),
  };
}
