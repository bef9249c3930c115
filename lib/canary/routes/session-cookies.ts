import { randomInt } from "node:crypto";
import type { SessionAffinity } from "../../api/canary.ts";
import { parseDuration } from "../../core/duration.ts";
import type { Canary } from "../canary.ts";
import { StepFault } from "../step-fault.ts";
import type { CookieChanges } from "./router.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const defaultMaxAge = 86_400;

/** Cookies as `name=value`, that the route before has. */
export interface WrittenCookies {
  readonly canary?: string;
  readonly primary?: string;
}

/** The cookies of a route (reference canary 9). Each is `name=value`. */
export type SessionCookies =
  | { readonly kind: "in run"; readonly canary: string; readonly primary: string | undefined }
  | { readonly kind: "at rest"; readonly previous: string | undefined };

/** The cookies of a route, and what the status has to say of them. */
export interface Session {
  readonly cookies: SessionCookies;
  readonly changes: CookieChanges;
}

/**
 * The cookies of a route with this weight; undefined without session affinity. A cookie that is in the old route but not in the status
 * comes from a step that was killed between the two writes: clients may have it already.
 */
export function cookiesOf(
  { status, analysis }: Pick<Canary, "status" | "analysis">,
  canaryWeight: number,
  written: WrittenCookies,
): Session | undefined {
  const affinity = analysis.sessionAffinity;
  if (affinity === undefined) return undefined;
  const current = nonEmpty(status.sessionAffinityCookie) ?? written.canary;
  if (canaryWeight === 0) {
    const previous = current ?? nonEmpty(status.previousSessionAffinityCookie);
    const changes = current === undefined ? {} : { previousSessionAffinityCookie: current, sessionAffinityCookie: "" };
    return { cookies: { kind: "at rest", previous }, changes };
  }
  const canary = current ?? newCookie(affinity.cookieName);
  // Flagger keeps one in the status also where it has no name.
  const primary =
    nonEmpty(status.primarySessionAffinityCookie) ?? written.primary ?? newCookie(affinity.primaryCookieName);
  const isPrimaryNamed = nonEmpty(affinity.primaryCookieName) !== undefined;
  return {
    cookies: { kind: "in run", canary, primary: isPrimaryNamed ? primary : undefined },
    changes: {
      ...(canary === status.sessionAffinityCookie ? {} : { sessionAffinityCookie: canary }),
      ...(primary === status.primarySessionAffinityCookie ? {} : { primarySessionAffinityCookie: primary }),
    },
  };
}

/** The value of `Set-Cookie` that keeps a client where it is. */
export function setCookie(cookie: string, affinity: SessionAffinity, maxAgeSeconds: number): string {
  const { domain = "", httpOnly, partitioned, path = "", sameSite, secure } = affinity;
  return [
    cookie,
    `Max-Age=${maxAgeSeconds}`,
    ...(domain === "" ? [] : [`Domain=${domain}`]),
    ...(httpOnly === true ? ["HttpOnly"] : []),
    ...(partitioned === true ? ["Partitioned"] : []),
    ...(path === "" ? [] : [`Path=${path}`]),
    ...(sameSite === undefined ? [] : [`SameSite=${sameSite}`]),
    ...(secure === true ? ["Secure"] : []),
  ].join("; ");
}

export function canaryMaxAgeSeconds({ maxAge = 0 }: SessionAffinity): number {
  return maxAge === 0 ? defaultMaxAge : maxAge;
}

/** A client of the primary is asked again at each step. */
export function intervalSeconds(interval: string): number {
  try {
    return Math.trunc(parseDuration(interval) / 1000);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StepFault(`failed to parse canary interval: ${error.message}`, { cause: error });
  }
}

/** The value of `Set-Cookie` that takes a cookie away. */
export function expiredCookie(cookie: string): string {
  return `${cookie}; Max-Age=-1`;
}

/** Matches a `Cookie` header with the cookie in it. */
export function cookiePattern(cookie: string): string {
  const [name = "", value = ""] = cookie.split("=");
  return `.*${name}.*${value}.*`;
}

/** The cookies of Set-Cookie values that a route has, if they have the names of this session affinity. */
export function cookiesAmong(
  canary: string | undefined,
  primary: string | undefined,
  affinity: SessionAffinity | undefined,
): WrittenCookies {
  const ours = cookieNamed(affinity?.cookieName, canary);
  const primarys = cookieNamed(affinity?.primaryCookieName, primary);
  return { ...(ours === undefined ? {} : { canary: ours }), ...(primarys === undefined ? {} : { primary: primarys }) };
}

function cookieNamed(name: string | undefined, setCookieValue: string | undefined): string | undefined {
  const cookie = setCookieValue?.split(";")[0];
  return cookie !== undefined && name !== undefined && cookie.startsWith(`${name}=`) ? cookie : undefined;
}

function newCookie(name = ""): string {
  return `${name}=${Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join("")}`;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
