import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { groupedLines, humanLog } from "../../../local/log-lines.ts";

function logged(least: "debug" | "info", write: (log: ReturnType<typeof humanLog>) => void): string {
  let text = "";
  write(
    humanLog(
      (line) => {
        text += line;
      },
      { least, clock: { now: () => new Date(2026, 10, 22, 9, 5, 7).getTime() } },
    ),
  );
  return text;
}

const key = { cluster: "c", group: "g", kind: "Kustomization", namespace: "apps", name: "web" };

test.each([
  ["a message", "sweep finished", {}, "09:05:07 sweep finished\n"],
  [
    "no character that a screen obeys",
    "failed",
    { at: "a\u009b2J", error: "b\u001b]0;owned\u0007 https://u:hunter2@h" },
    `09:05:07 failed ${String.raw`at=a\u009b2J: b\u001b]0;owned\u0007`} https://u:*****@h\n`,
  ],
  [
    "an object by kind, namespace and name",
    "reconcile finished",
    { key, outcome: "applied", durationMs: 34.8704 },
    "09:05:07 reconcile finished Kustomization/apps/web outcome=applied durationMs=35\n",
  ],
  [
    "the reason last, in full",
    "watch ended",
    { error: "the server is gone", waitMs: 200 },
    "09:05:07 watch ended waitMs=200: the server is gone\n",
  ],
  [
    "lists, texts with spaces, and unset values",
    "settings read",
    { file: "my file", given: ["a", "b"], none: undefined },
    '09:05:07 settings read file="my file" given=["a","b"]\n',
  ],
  ["a text of several lines on one line", "failed", { error: "a\n  b" }, "09:05:07 failed: a b\n"],
])("a line on a terminal has %s", (_, message, fields, line) => {
  expect(logged("info", (log) => log.info(message, fields))).toBe(line);
});

test("warnings and errors are marked, and debug lines are printed only on request", () => {
  const all = (log: ReturnType<typeof humanLog>) => {
    log.debug("d");
    log.warn("w");
    log.error("e");
  };
  expect(logged("info", all)).toBe("09:05:07 ⚠️ w\n09:05:07 ✗ e\n");
  expect(logged("debug", all)).toBe("09:05:07 d\n09:05:07 ⚠️ w\n09:05:07 ✗ e\n");
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("grouped lines", () => {
  test("within 20 ms are written together, in order, and later lines later", () => {
    const written: string[] = [];
    const lines = groupedLines((text) => void written.push(text));
    lines.write("a\n");
    vi.advanceTimersByTime(19);
    lines.write("b\n");
    expect(written).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(written).toEqual(["a\nb\n"]);
    lines.write("c\n");
    vi.advanceTimersByTime(20);
    expect(written).toEqual(["a\nb\n", "c\n"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("are all written once when the process ends", () => {
    const written: string[] = [];
    const lines = groupedLines((text) => void written.push(text));
    lines.write("a\n");
    lines.flush();
    lines.flush();
    vi.advanceTimersByTime(20);
    expect(written).toEqual(["a\n"]);
  });
});
