import { messageOf } from "../core/failure.ts";
import { orAborted } from "../core/or-aborted.ts";
import type { Clock } from "../core/ports/clock.ts";
import { ApiError } from "../core/ports/cluster.ts";
import type { ClientCertificate, SuppliedToken, UserConfig } from "./cluster-config.ts";
import { execCredential } from "./exec-credential.ts";
import { readLimitedFile } from "./read-limited-file.ts";

const tokenFileMaxAgeMs = 60_000;
/** A credential is renewed this long before its end, so that none ends on its way. */
const renewAheadMs = 30_000;
/** Requests carry it in a header, and no server takes headers of that length. */
export const maxTokenBytes = 64 * 1024;
const supplyLimitMs = 10_000;

/** What one request carries to prove who sends it. */
interface Credential {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly certificate: ClientCertificate | undefined;
}

export interface Credentials {
  current(signal: AbortSignal): Promise<Credential>;
  /** The server refused it: forget it. False where the next one would be the same. */
  renew(): boolean;
}

interface Held {
  readonly authorization: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  readonly expiresAt: number | undefined;
}

/** The credentials of a user, kept until they end or are refused. Asked for by many at once, they are fetched once. */
export function credentials(
  user: UserConfig,
  env: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, "now">,
): Credentials {
  const renewable = user.token !== undefined && ["exec", "file", "supplied"].includes(user.token.kind);
  let held: Held | undefined;
  let fetching: Promise<Held> | undefined;
  const fetch = (): Promise<Held> => {
    fetching ??= fetchCredential(user, env, clock).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return {
    async current(signal) {
      const isFresh = held !== undefined && (held.expiresAt === undefined || clock.now() < held.expiresAt);
      held = isFresh && held !== undefined ? held : await orAborted(fetch(), signal);
      return { headers: headersOf(held, user), certificate: held.certificate };
    },
    renew() {
      held = undefined;
      return renewable;
    },
  };
}

async function fetchCredential(
  { name, token, certificate }: UserConfig,
  env: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, "now">,
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
      const given = await execCredential(token.plugin, env);
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

function headersOf({ authorization }: Held, { impersonate }: UserConfig): Credential["headers"] {
  return {
    ...(authorization === undefined ? {} : { authorization }),
    ...(impersonate === undefined ? {} : { "impersonate-user": impersonate.user }),
    ...(impersonate === undefined || impersonate.groups.length === 0
      ? {}
      : { "impersonate-group": impersonate.groups }),
  };
}
