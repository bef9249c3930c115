import { readdirSync, readFileSync } from "node:fs";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";

/** What `keep`, `ignore` and the like say of how a step's answer is compared. */
export interface Comparing {
  readonly keep?: readonly string[];
  readonly ignore?: readonly string[];
}

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
}

export interface RecordedResponse {
  readonly status: number;
  readonly body?: Json;
  readonly text?: string;
  readonly contentType?: string;
  readonly warnings?: readonly string[];
}

export interface RecordedStep extends Comparing {
  readonly request?: RecordedRequest;
  readonly response?: RecordedResponse;
  readonly watch?: string;
  readonly collect?: string;
  readonly events?: readonly Json[];
  readonly bookmarks?: "initial";
  readonly wait?: { readonly path: string; readonly status: number; readonly field?: string; readonly value?: Json };
  readonly sleep?: number;
  readonly compact?: boolean;
  readonly kubectl?: readonly string[];
  readonly stdin?: readonly Json[];
  readonly env?: Readonly<Record<string, string>>;
  readonly editor?: string;
  readonly requests?: readonly JsonObject[];
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exit?: number;
  readonly silent?: boolean;
}

/** One file of `test/fixtures/cluster`, recorded from a real API server. */
export interface RecordedCase {
  readonly name: string;
  readonly title: string;
  readonly needs?: "controllers" | "compaction";
  readonly clock?: boolean;
  /** `false`: the case wants no namespace of its own. */
  readonly namespace?: boolean;
  readonly steps: readonly RecordedStep[];
}

const folder = new URL("../fixtures/cluster/", import.meta.url);

export const families = ["apply", "patch", "list", "watch", "lifecycle", "discovery", "kubectl"] as const;

export type Family = (typeof families)[number];

export function readCases(family: Family): readonly RecordedCase[] {
  return readdirSync(new URL(`${family}/`, folder))
    .toSorted()
    .map((file) => {
      const recorded: unknown = JSON.parse(readFileSync(new URL(`${family}/${file}`, folder), "utf8"));
      if (!isRecordedCase(recorded)) throw new TypeError(`${family}/${file} is no recorded case`);
      return recorded;
    });
}

function isRecordedCase(value: unknown): value is RecordedCase {
  return isJsonObject(value) && typeof value["name"] === "string" && Array.isArray(value["steps"]);
}
