import { randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../core/json.ts";

export interface User {
  readonly name: string;
  readonly groups: readonly string[];
  /** Whether it may do everything. Of the others, their roles say what they may do (authorize.ts). */
  readonly isAdmin: boolean;
}

export const anonymous: User = { name: "system:anonymous", groups: ["system:unauthenticated"], isAdmin: false };

export type UserName = "admin" | "sluice";

/** The users of the embedded cluster and their bearer tokens, kept in the state folder. */
export interface Users {
  readonly tokens: Readonly<Record<UserName, string>>;
  find(token: string): User | undefined;
}

const users: Readonly<Record<UserName, User>> = {
  admin: { name: "admin", groups: ["system:masters", "system:authenticated"], isAdmin: true },
  sluice: { name: "sluice", groups: ["system:masters", "system:authenticated"], isAdmin: true },
};

export function usersIn(stateFolder: string): Users {
  const file = join(stateFolder, "kubernetes-tokens.json");
  const tokens = readTokens(file) ?? writeTokens(file);
  return {
    tokens,
    find(token) {
      if (sameText(token, tokens.admin)) return users.admin;
      return sameText(token, tokens.sluice) ? users.sluice : undefined;
    },
  };
}

/** An impersonated user has its own rights alone. A service account whose groups are not named is in those of service accounts. */
export function impersonated(name: string, groups: readonly string[]): User {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(name) ?? [];
  const ofAccount =
    namespace === undefined || groups.length > 0
      ? []
      : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  const all = [...groups, ...ofAccount, "system:authenticated"];
  return { name, groups: all, isAdmin: all.includes("system:masters") };
}

function readTokens(file: string): Users["tokens"] | undefined {
  try {
    const tokens: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isJsonObject(tokens)) return undefined;
    const { admin, sluice } = tokens;
    return typeof admin === "string" && typeof sluice === "string" ? { admin, sluice } : undefined;
  } catch {
    // Missing, or half-written by a process that was killed: new ones do as well.
    return undefined;
  }
}

function writeTokens(file: string): Users["tokens"] {
  const tokens = { admin: randomBytes(16).toString("hex"), sluice: randomBytes(16).toString("hex") };
  writeFileSync(`${file}.new`, JSON.stringify(tokens), { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return tokens;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
