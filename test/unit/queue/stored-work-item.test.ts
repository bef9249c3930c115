import { describe, expect, test } from "vitest";
import { UnreadableWorkItem, type WorkItem } from "../../../lib/core/ports/work-items.ts";
import { formatStoredWorkItem, listItems, parseStoredWorkItem } from "../../../lib/queue/stored-work-item.ts";
import { keyOf, workItem } from "../../contract/state-back-end.ts";

const key = keyOf("web");
const full: WorkItem = workItem(key, {
  lease: { holder: "h", renewals: 2 },
  wakeUntil: 5.5,
  dueAt: 7,
  attempts: 3,
  died: true,
  phase: "Poisoned",
  input: "a",
  fault: "f",
  carried: { since: 1 },
  seen: { objectUid: "o", clusterUid: "c", revision: "r" },
});

describe("a work item as text", () => {
  test.each([
    { name: "with all its fields", item: full },
    { name: "with none of its optional fields", item: workItem(key) },
  ])("$name comes back unchanged", ({ item }) => {
    expect(parseStoredWorkItem(formatStoredWorkItem(item), "row")).toEqual(item);
  });

  test("mentions a dead process only if there was one, because most rows have none", () => {
    expect(JSON.parse(formatStoredWorkItem(workItem(key)))).not.toHaveProperty("died");
  });

  test("keeps fields that another release has written", () => {
    const stored: unknown = { ...JSON.parse(formatStoredWorkItem(workItem(key))), priority: 3 };
    const item = parseStoredWorkItem(JSON.stringify(stored), "row");
    expect(item.foreign).toEqual({ priority: 3 });
    expect(JSON.parse(formatStoredWorkItem(item))).toEqual(stored);
  });

  test.each([
    { name: "no JSON", text: "{" },
    { name: "no object", text: "7" },
    { name: "a negative count", text: formatStoredWorkItem(workItem(key, { attempts: -1 })) },
    { name: "a count that is not an integer", text: formatStoredWorkItem(workItem(key, { token: 1.5 })) },
    { name: "a phase of another release", text: formatStoredWorkItem(full).replace("Poisoned", "Hibernating") },
    { name: "a lease without a holder", text: formatStoredWorkItem(full).replace('"holder":"h",', "") },
    { name: "an observation without a cluster", text: formatStoredWorkItem(full).replace(',"clusterUid":"c"', "") },
    { name: "a carried state that is a list", text: formatStoredWorkItem(full).replace('{"since":1}', "[1]") },
    { name: "a key that is invalid", text: formatStoredWorkItem(full).replace(/"key":"[^"]*"/, '"key":"web"') },
  ])("with $name cannot be read, and its row is named", ({ text }) => {
    expect(() => parseStoredWorkItem(text, "the row")).toThrow(UnreadableWorkItem);
    expect(() => parseStoredWorkItem(text, "the row")).toThrow("the work item of the row cannot be read");
  });

  test("names the wrong field in its error", () => {
    const text = formatStoredWorkItem(full).replace("Poisoned", "Hibernating");
    expect(() => parseStoredWorkItem(text, "row")).toThrow(/: [^[{]*phase/);
    expect(() => parseStoredWorkItem("{", "row")).toThrow(
      expect.objectContaining({ message: expect.stringContaining("JSON"), cause: expect.any(SyntaxError) }),
    );
  });
});

describe("the items of a list", () => {
  const rows = ["a", "none", "odd", "b", "c"];
  const read = (row: string): WorkItem | undefined => {
    if (row === "odd") throw new UnreadableWorkItem(row, "odd");
    return row === "none" ? undefined : workItem(keyOf(row));
  };
  const namesOf = ({ items, unreadable }: ReturnType<typeof listItems>) => [
    items.map((item) => item.key.name),
    unreadable.map(({ row }) => row),
  ];

  test("are all readable ones, and the unreadable rows separately", () => {
    expect(namesOf(listItems(rows, read))).toEqual([["a", "b", "c"], ["odd"]]);
  });

  test("are empty if reading fails for another reason", () => {
    const failing = (): never => {
      throw new Error("the table is away");
    };
    expect(() => listItems(rows, failing)).toThrow("the table is away");
  });
});
