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

/**
 * The cookies of a route with this weight, and what the status has to say of them. A cookie that the route before has, but the status
 * has not, is that of a step that was killed between the two writes: clients may have it already.
 */
export function sessionCookies(
  { status, analysis }: Pick<Canary, "status" | "analysis">,
  affinity: SessionAffinity,
  canaryWeight: number,
  written: WrittenCookies,
): { readonly cookies: SessionCookies; readonly changes: CookieChanges } {
  const current = nonEmpty(status.sessionAffinityCookie) ?? written.canary;
  if (canaryWeight === 0) {
    const previous = current ?? nonEmpty(status.previousSessionAffinityCookie);
    const ended = current === undefined ? {} : { previousSessionAffinityCookie: current, sessionAffinityCookie: "" };
    return { cookies: { kind: "at rest", previous }, changes: ended };
  }
  const canary = current ?? newCookie(affinity.cookieName);
  const primary =
    nonEmpty(status.primarySessionAffinityCookie) ?? written.primary ?? newCookie(affinity.primaryCookieName);
  const isPrimaryNamed = nonEmpty(affinity.primaryCookieName) !== undefined;
  // Fails before the write for an interval that is not one.
  if (isPrimaryNamed) intervalSeconds(analysis.interval);
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

/** The cookie of a `Set-Cookie` value, if it has this name. */
export function cookieNamed(name: string | undefined, setCookieValue: string | undefined): string | undefined {
  const cookie = setCookieValue?.split(";")[0];
  return cookie !== undefined && name !== undefined && cookie.startsWith(`${name}=`) ? cookie : undefined;
}

function newCookie(name = ""): string {
  return `${name}=${Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join("")}`;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
