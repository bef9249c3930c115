import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventRow, eventTime, humanDuration } from "../../../cli/event-row.ts";
import { shortenHashes } from "../../../cli/object-rows.ts";
import { parseStatusSelector } from "../../../cli/status-selector.ts";
import { table } from "../../../cli/table.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";

describe("a table", () => {
  test("is padded and separated by tabs like flux's output, byte by byte", () => {
    const header = ["Name", "Revision", "Suspended", "Ready", "Message"];
    const row = [
      "thrfg",
      "6.3.5@sha256:6c959c51",
      "False",
      "True",
      "stored artifact for digest '6.3.5@sha256:6c959c51'",
    ];
    expect(table(header, [row])).toBe(
      "NAME \tREVISION             \tSUSPENDED\tREADY\tMESSAGE                                            \n" +
        "thrfg\t6.3.5@sha256:6c959c51\tFalse    \tTrue \tstored artifact for digest '6.3.5@sha256:6c959c51'\t\n",
    );
  });

  describe("on a screen", () => {
    const header = ["Name", "Message"];
    const long = "a message that is much too long for a line of this screen";

    test("has its last column cut to the width, including the tab before it", () => {
      const lines = table(header, [["web", long]], 41).split("\n");
      expect(lines).toEqual([`NAME\tMESSAGE${" ".repeat(25)} `, "web \ta message that is much too long…\t", ""]);
    });

    test("is not cut if it fits", () => {
      expect(table(header, [["web", long]], 100)).toBe(table(header, [["web", long]]));
    });

    test.each([
      {
        said: "failed to checkout and determine revision: unable to clone 'https://git.test/app.git': couldn't find remote ref \"refs/heads/x\"",
        shown: '…couldn\'t find remote ref "refs/heads/x"',
      },
      {
        said: 'Deployment/apps/web dry-run failed (Invalid): Deployment.apps "web" is invalid: spec.replicas: must be positive',
        shown: '…Deployment.apps "web" is invalid: spec.replicas: must…',
      },
      {
        said: "HelmChart 'apps/apps-web' is not ready: chart pull error: no chart version found for web-9.0.0",
        shown: "…chart pull error: no chart version found for web-9.0.0",
      },
      {
        said: "health check failed after 5m0s: timeout waiting for: [Deployment/apps/web status: 'InProgress']",
        shown: "…timeout waiting for: [Deployment/apps/web status: 'In…",
      },
      {
        said: "stored artifact for revision 'main@sha1:0123456789': a long subject of the last commit",
        shown: "stored artifact for revision 'main@sha1:0123456789': a…",
      },
    ])("keeps the cause of a failure that is too long, not the consequence before it: $shown", ({ said, shown }) => {
      const [, line] = table(header, [["web", said]], 64).split("\n");
      expect(line?.trimEnd()).toBe(`web \t${shown}`);
    });

    test("finds the cause behind hundreds of kilobytes of consequences before the test times out", () => {
      const said = `${"error: ".repeat(50_000)}no such host`;
      expect(table(undefined, [["web", said]], 64)).toBe(`web\t…${"error: ".repeat(6)}no such host\t\n`);
    });

    test("keeps 20 characters of a message on a narrow screen, and cuts no other column", () => {
      expect(table(undefined, [[long, long]], 30)).toBe(`${long}\ta message that is m…\t\n`);
    });
  });

  test("counts East Asian wide characters and emoji as two columns, and combining marks as none", () => {
    expect(
      table(undefined, [
        ["日本", "a"],
        ["한글🇫🇷", "b"],
        ["e\u0301é", "c"],
        ["🚀", "d"],
      ]),
    ).toBe("日本  \ta\t\n한글🇫🇷\tb\t\ne\u0301é    \tc\t\n🚀    \td\t\n");
    expect(table(undefined, [["web", "日本語".repeat(10)]], 30)).toBe("web\t日本語日本語日本語日…\t\n");
  });

  test("without a header has only its rows", () => {
    expect(
      table(undefined, [
        ["a", "b"],
        ["cc", ""],
      ]),
    ).toBe("a \tb\t\ncc\t \t\n");
  });

  test("keeps a message of several lines in one row", () => {
    expect(table(undefined, [["a", "b:\n  - c\r\nd\n"]])).toBe("a\tb: - c d\t\n");
  });

  test("has as many lines as rows, each with as many columns", () => {
    const cell = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\t", " "));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }), (rows) => {
        const lines = table(["a", "b", "c"], rows).split("\n");
        expect(lines).toHaveLength(rows.length + 2);
        expect(new Set(lines.slice(1, -1).map((line) => line.split("\t").length))).toEqual(new Set([4]));
      }),
    );
  });
});

describe("hashes in tables (13)", () => {
  const commit = "0123456789abcdef0123456789abcdef01234567";
  test.each([
    ["a commit", `main@sha1:${commit}`, "main@sha1:01234567"],
    ["a digest", `v1@sha256:${commit}${commit.slice(0, 24)}`, "v1@sha256:01234567"],
    ["capitals", commit.toUpperCase(), "01234567"],
    ["39 digits", commit.slice(1), commit.slice(1)],
    ["128 digits", commit.slice(0, 32).repeat(4), "01234567"],
    ["129 digits", `${commit.slice(0, 32).repeat(4)}0`, `${commit.slice(0, 32).repeat(4)}0`],
    ["several", `from ${commit} to ${commit}`, "from 01234567 to 01234567"],
    ["a webhook, which is called by its whole path", `path: /hook/${commit}`, `path: /hook/${commit}`],
    ["none", "chart 6.3.5", "chart 6.3.5"],
  ])("of %s", (_, text, expected) => {
    expect(shortenHashes(text)).toBe(expected);
  });
});

describe("an age", () => {
  const s = 1000;
  const m = 60 * s;
  const h = 60 * m;
  const d = 24 * h;
  test.each([
    [-5 * s, "<invalid>"],
    [-s, "0s"],
    [0, "0s"],
    [119 * s, "119s"],
    [2 * m, "2m"],
    [9 * m + 59 * s, "9m59s"],
    [10 * m + 59 * s, "10m"],
    [179 * m, "179m"],
    [3 * h, "3h"],
    [7 * h + 59 * m, "7h59m"],
    [47 * h, "47h"],
    [2 * d + 3 * h, "2d3h"],
    [8 * d + 3 * h, "8d"],
    [800 * d, "2y70d"],
    [9 * 365 * d, "9y"],
  ])("of %d ms is %s, as in kubectl", (ms, expected) => {
    expect(humanDuration(ms)).toBe(expected);
  });
});

describe("a status selector (4)", () => {
  test.each([
    ["ready=false", { type: "Ready", status: "false", negated: false }],
    ["READY!=True", { type: "Ready", status: "true", negated: true }],
  ])("%s is accepted in any letter case", (text, expected) => {
    expect(parseStatusSelector(text)).toEqual(expected);
  });

  test.each(["ready", "=true", "ready=", "a=b=c", "!=x"])("%s is refused", (text) => {
    expect(() => parseStatusSelector(text)).toThrow(
      `expected status selector in type=status or type!=status format, but found: ${text}`,
    );
  });
});

describe("a row of events", () => {
  const now = Date.parse("2026-11-21T12:10:00Z");
  const event = (fields: object): LiveObject => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "e", namespace: "apps", uid: "u" },
    involvedObject: { kind: "Kustomization", name: "web" },
    type: "Normal",
    reason: "Progressing",
    message: "m",
    ...fields,
  });

  test.each([
    ["once", { firstTimestamp: "2026-11-21T12:00:00Z", lastTimestamp: "2026-11-21T12:00:00Z", count: 1 }, "10m"],
    [
      "often",
      { firstTimestamp: "2026-11-21T12:00:00Z", lastTimestamp: "2026-11-21T12:09:00Z", count: 3 },
      "60s (x3 over 10m)",
    ],
    [
      "in a series",
      { eventTime: "2026-11-21T12:00:00Z", series: { count: 2, lastObservedTime: "2026-11-21T12:09:30Z" } },
      "30s (x2 over 10m)",
    ],
    ["at no known time", {}, "<unknown>"],
  ])("that happened %s has its time", (_, fields, expected) => {
    expect(eventRow(event(fields), true, now)).toEqual([
      "apps",
      expected,
      "Normal",
      "Progressing",
      "Kustomization/web",
      "m",
    ]);
  });

  test("is ordered by when it was last seen", () => {
    expect(eventTime(event({ eventTime: "1970-01-01T00:00:01Z", lastTimestamp: "1970-01-01T00:00:02Z" }))).toBe(2000);
    expect(eventTime(event({}))).toBe(0);
  });
});
