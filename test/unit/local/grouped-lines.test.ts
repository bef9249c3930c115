import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { groupedLines } from "../../../local/grouped-lines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("grouped lines", () => {
  test("that come within 20 ms are written at once, in their order, and later ones later", () => {
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

  test("are all written when the process ends, once", () => {
    const written: string[] = [];
    const lines = groupedLines((text) => void written.push(text));
    lines.write("a\n");
    lines.flush();
    lines.flush();
    vi.advanceTimersByTime(20);
    expect(written).toEqual(["a\n"]);
  });
});
