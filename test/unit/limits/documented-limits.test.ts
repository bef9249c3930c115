import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isJsonObject } from "../../../lib/core/json.ts";

const root = join(import.meta.dirname, "../../..");

interface Row {
  readonly what: string;
  readonly limit: string;
  readonly module: string;
  /** The constant's name, and the field in it where it is several. */
  readonly path: readonly string[];
  readonly test: string;
}

const rows = await readRows();

async function readRows(): Promise<readonly Row[]> {
  const text = await readFile(join(root, "docs/limits.md"), "utf8");
  return text.split("\n").flatMap((line) => {
    const [, what = "", limit = "", , constant = "", test = ""] = line.split("|").map((cell) => cell.trim());
    const [, module, path] = /^`(\S+\.ts)` `([\w.]+)`$/.exec(constant) ?? [];
    return module === undefined || path === undefined ? [] : [{ what, limit, module, path: path.split("."), test }];
  });
}

const units: Readonly<Record<string, number>> = {
  "": 1,
  bytes: 1,
  characters: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  ms: 1,
  s: 1_000,
  min: 60_000,
};

/** Bytes, milliseconds or a number; NaN for a text that is none. */
function parseLimit(text: string): number {
  const duration = /^(\d+)h(\d+)m([\d.]+)s$/.exec(text);
  if (duration !== null) {
    const [, hours, minutes, seconds] = duration;
    return Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Math.round(Number(seconds) * 1_000);
  }
  const [, amount = "", unit = ""] = /^([\d,.]+) ?([A-Za-z]*)$/.exec(text) ?? [];
  return Number(amount.replaceAll(",", "") || "x") * (units[unit] ?? Number.NaN);
}

async function constantOf({ module, path }: Row): Promise<unknown> {
  const exports: unknown = await import(join(root, module));
  return path.reduce<unknown>((value, name) => (isJsonObject(value) ? value[name] : undefined), exports);
}

/** Whether the test that a row names is there and knows the constant, or the row says why there is none. */
async function isTried({ test: named, path }: Row): Promise<boolean> {
  const [, file] = /^`((?:packages\/[\w-]+\/)?test\/\S+\.ts)`$/.exec(named) ?? [];
  if (file === undefined) return named.startsWith("not tried: ");
  return (await readFile(join(root, file), "utf8")).includes(path.at(-1) ?? named);
}

describe("the table of limits", () => {
  test("exists", () => {
    expect(rows.length).toBeGreaterThan(70);
    expect(new Set(rows.map(({ module, path }) => `${module} ${path.join(".")}`)).size).toBe(rows.length);
  });

  test.each(rows)("$what: $limit", async (row) => {
    const value = await constantOf(row);
    expect(Math.floor(Number(value))).toBe(parseLimit(row.limit));
    expect(await isTried(row)).toBe(true);
  });

  test("has every exported limit of the code", async () => {
    const known = new Set(rows.map(({ module, path: [name] }) => `${module} ${name}`));
    const missing: string[] = [];
    for await (const file of glob("{lib,functions,cli,local,packages/*/src}/**/*.ts", { cwd: root })) {
      const text = await readFile(join(root, file), "utf8");
      for (const [, name] of text.matchAll(/^export const ((?:max|min)[A-Z]\w*)(?=[^\n]*= [\d_.* ]+;$)/gm)) {
        const id = `${file} ${name}`;
        if (!known.has(id) && !inside.has(id)) missing.push(id);
      }
    }
    expect(missing).toEqual([]);
  });
});

/** Limits on what Sluice itself makes. */
const inside = new Set([
  "lib/aws/dynamodb/write-rows.ts maxTransactItems",
  "lib/apply/set/preconditions.ts maxLooks",
  "lib/core/ports/wake-ups.ts maxDelayMs",
  "lib/queue/timing.ts maxAnnouncements",
]);
