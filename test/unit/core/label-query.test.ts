import { describe, expect, test } from "vitest";
import { parseLabelQuery } from "../../../lib/core/label-query.ts";
import { parseLabelSelector } from "../../../packages/embedded-kubernetes/src/server/label-selector.ts";

const labels = { tier: "web", level: "7", "example.com/team": "a", empty: "" };

describe("a label selector", () => {
  test.each([
    { text: "", is: true },
    { text: "tier", is: true },
    { text: "!tier", is: false },
    { text: "tier=web,level", is: true },
    { text: "tier==web,!other", is: true },
    { text: "tier!=web", is: false },
    { text: "other!=web", is: true },
    { text: "tier in (db, web)", is: true },
    { text: "tier notin (db,web)", is: false },
    { text: "other notin (db)", is: true },
    { text: "empty in (,x)", is: true },
    { text: "empty=", is: true },
    { text: "level>6", is: true },
    { text: "level<7", is: false },
    { text: "tier>6", is: false },
    { text: "example.com/team=a", is: true },
    { text: "toString", is: false },
  ])("$text selects: $is", ({ text, is }) => {
    expect(parseLabelQuery(text)(labels)).toBe(is);
  });

  test.each([
    "=x",
    "a in b",
    "a in (b",
    "a in (b c",
    "a,",
    "a,,b",
    "a b",
    "a=b c",
    "a=b=c",
    "!",
    "!=a",
    "-a",
    "a.b/c/d",
    "UPPER.example/x",
    "a=-b",
    `a=${"b".repeat(64)}`,
    "a".repeat(64),
    "a>b",
    "a>",
    "(a)",
    "a in (=)",
  ])("%s is malformed, with Kubernetes' text", (text) => {
    const messageOf = (parse: () => unknown) => {
      try {
        parse();
        return "no error";
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    };
    const ours = messageOf(() => parseLabelQuery(text));
    expect(ours).not.toBe("no error");
    // The embedded API server is compared with a real one.
    expect(ours).toBe(messageOf(() => parseLabelSelector(text)));
  });
});
