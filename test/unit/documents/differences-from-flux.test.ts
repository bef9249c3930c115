import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { gateTexts } from "../../../functions/settings/feature-gates.ts";
import { readSettings } from "../../../functions/settings/read-settings.ts";
import { SettingText } from "../../../functions/settings/documented.ts";
import { defaultSettings, Settings } from "../../../functions/settings/settings.ts";
import { defaultGates } from "../../../lib/core/feature-gates.ts";
import { lastStatements, readClaims } from "../../claims/claims.ts";

const folder = join(import.meta.dirname, "../../../docs");
const page = await readFile(join(folder, "differences-from-flux.md"), "utf8");
const conformance = await readFile(join(folder, "maintainers/conformance.md"), "utf8");

/** Headings as GitHub makes anchors of them. */
const anchors = new Set(
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  ),
);

/** A row of the table of statements. */
const rows = [...page.matchAll(/^\| \[([\d, ]+)\]\(#([^)]+)\) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, list = "", anchor = "", what = "", way = ""]) => ({
    list,
    numbers: list.split(", ").map(Number),
    anchor,
    what,
    way,
  }),
);

const ofKustomization = readClaims(conformance).filter(({ reference }) => reference === "kustomization");
/** The row of docs/maintainers/conformance.md that a statement of a Kustomization stands in, as text. */
const rowOf = (number: number): string => {
  const claim = ofKustomization.find(({ numbers }) => numbers.includes(number));
  const [section = ""] = conformance.split(/^## (?!kustomization)/m).filter((one) => one.includes("kustomization.md"));
  return (
    section.split("\n").find((line) => {
      const [row] = readClaims(`## kustomization.md\n${line}\n`);
      return row !== undefined && row.numbers.join() === claim?.numbers.join();
    }) ?? ""
  );
};

describe("the page of differences", () => {
  test("has a row for each statement of a Kustomization that docs/maintainers/conformance.md sends here, and no other", () => {
    const sent = [
      ...conformance
        .split("## sources.md", 1)
        .join("")
        .matchAll(/differences-from-flux\.md#([\w-]+)/g),
    ];
    expect([...new Set(sent.map(([, anchor = ""]) => anchor))].toSorted()).toEqual(
      [...new Set(rows.map(({ anchor }) => anchor))].toSorted(),
    );
    const missing = rows.flatMap(({ numbers, anchor }) =>
      numbers.filter((number) => !rowOf(number).includes(`differences-from-flux.md#${anchor})`)),
    );
    expect(missing).toEqual([]);
    expect(
      rows.flatMap(({ numbers }) => numbers).filter((one) => one < 1 || one > lastStatements.kustomization),
    ).toEqual([]);
  });

  test("covers only Kustomization statements that are all claimed, with no field that is refused", () => {
    expect(ofKustomization.filter(({ files }) => files.length === 0)).toEqual([]);
    const rows = ofKustomization.flatMap(({ numbers }) => numbers.map(rowOf));
    expect(rows.filter((row) => row === "" || /`spec\.[^`]*` is refused/.test(row))).toEqual([]);
  });

  test("has a section for every link from it and docs/maintainers/conformance.md, with more than a line in each", () => {
    const linked = [...rows.map(({ anchor }) => anchor)];
    for (const [, anchor = ""] of conformance.matchAll(/differences-from-flux\.md#([\w-]+)/g)) linked.push(anchor);
    expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([]);
    const short = page.split(/^### /m).filter((section) => section.trim().split(/\s+/).length < 10);
    expect(short).toEqual([]);
  });

  test.each(rows)("says for $list how to get Flux's behaviour, or why that is impossible", ({ way }) => {
    const settings = [...way.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => readSettings(text));
    const isNone = /^none: (\S+ ){3}/.test(way);
    expect(isNone || settings.length > 0).toBe(true);
    const wrong = isNone
      ? []
      : settings.filter((one) => "faults" in one || JSON.stringify(one.values) === JSON.stringify(defaultSettings));
    expect(wrong).toEqual([]);
  });

  test("names each setting whose default differs from Flux's flag", () => {
    const ours = new Map<string, unknown>(Object.entries(defaultSettings));
    const other = Object.entries(Settings.shape).flatMap(([key, schema]) => {
      const { flux } = SettingText.parse(schema.meta());
      const value = ours.get(key);
      const text = value === "" || JSON.stringify(value) === "[]" ? "none" : String(value);
      return flux === undefined || flux === text || key === "feature-gates" ? [] : [key];
    });
    expect(other).toContain("concurrent-ssa");
    expect(other.filter((key) => !page.includes(`\`${key}`))).toEqual([]);
  });

  test("names each gate whose default differs from Flux's", () => {
    const ours = new Map<string, boolean>(Object.entries(defaultGates));
    const other = Object.entries(gateTexts).flatMap(([name, { flux, only }]) =>
      (only?.value ?? ours.get(name)) === flux ? [] : [name],
    );
    expect(other).toContain("CancelHealthCheckOnNewRevision");
    expect(other.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
