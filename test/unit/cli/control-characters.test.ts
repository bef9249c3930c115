import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { getObjects } from "../../../cli/get-objects.ts";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { run } from "../../../cli/run.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { table } from "../../../cli/table.ts";
import { printable, terminal } from "../../../cli/terminal.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { writeLog } from "../../../lib/process/write-log.ts";
import { condition, handled, kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

/** Clears the screen, retitles the window, overwrites the line, erases a letter, and turns what follows around. */
const hostile = "a\u001b[2J\u001b]0;owned\u0007b\rc\bd\u009b31me\u007f\u0085f\u202eg\u2066h";
const shown = "abcdefgh";

describe("a text for a terminal", () => {
  test.each([
    ["an escape sequence goes whole", "a\u001b[1;31mred\u001b[0m", "ared"],
    ["so does one that an 8-bit character begins", "a\u009b2Kb", "ab"],
    ["a title with both ends", "a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c", "abc"],
    ["a title without an end is shown, so that nothing hides behind it", "a\u001b]0;title\nb", "a0;title\nb"],
    ["a sequence within a sequence", "a\u001b\u001b[2J[2Jb", "a[2Jb"],
    ["tabs and line ends stay", "a\tb\r\nc\n", "a\tb\nc\n"],
    ["letters of every script stay", "é ß 漢字 עברית 👍🏽", "é ß 漢字 עברית 👍🏽"],
    ["directions that a text sets for itself go", "\u202aa\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069b", "ab"],
  ])("%s", (_, text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  test("has no control character but tab and line feed, whatever the input", () => {
    const part = fc.oneof(
      fc.constantFrom("\u001b[", "\u001b]", "\u001b", "\u009b", "\u0007", "\u202e", "\n"),
      fc.string({ unit: "binary" }),
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        expect(printable(parts.join(""))).not.toMatch(/(?![\t\n])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  test("takes time in proportion to the text, also if no sequence ends", () => {
    const text = "\u001b]0;".repeat(250_000) + "\u001b[".repeat(250_000) + ";".repeat(1_000_000);
    expect(printable(text)).toHaveLength(250_000 * 2 + 1_000_000);
  });
});

describe("a command shows without control characters", () => {
  const named = kustomization(hostile, {}, { conditions: [condition("Ready", "False", hostile)] });
  const header = { header: true };

  test("a table, its columns still in line", async () => {
    const session = fakeSession([named]);
    await getObjects(declaredKustomization, undefined, header, session);
    expect(session.output.out).toBe(
      "NAME    \tREVISION\tSUSPENDED\tREADY\tMESSAGE  \n" + `${shown}\t        \tFalse    \tFalse\t${shown}\t\n`,
    );
  });

  test("a cell with a tab, which would otherwise become two cells", () => {
    expect(table(undefined, [["a\tb", "c"]])).toBe("a b\tc\t\n");
  });

  test("an event", async () => {
    const event: LiveObject = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "e", namespace: "flux-system", uid: "e" },
      involvedObject: { kind: "Kustomization", name: hostile },
      type: "Normal",
      reason: hostile,
      message: hostile,
    };
    const session = fakeSession([event]);
    await showEvents(declaredKinds, {}, session);
    expect(session.output.out.split("\n")[1]).toBe(`<unknown>\tNormal\t${shown}\tKustomization/${shown}\t${shown}\t`);
  });

  test("progress and the last line", async () => {
    const failed = (object: LiveObject) => handled(object, [condition("Stalled", "True", hostile)]);
    const session = fakeSession([kustomization(hostile)], failed);
    const error = await reconcileObject(declaredKustomization, hostile, {}, session).then(
      () => "no error",
      (reason: unknown) => String(reason),
    );
    session.terminal.failure(error);
    expect(session.output.err).toContain(`► annotating Kustomization ${shown} in`);
    expect(session.output.err.split("\n").at(-2)).toContain(shown);
    expect(printable(session.output.err)).toBe(session.output.err);
  });

  test("an error of its own arguments", async () => {
    let err = "";
    const session = fakeSession([]);
    const code = await run(["get", hostile], {
      terminal: terminal(
        () => {},
        (text) => (err += text),
      ),
      env: {},
      homeDir: "/",
      cwd: "/",
      stdin: (async function* () {})(),
      signal: session.signal,
      onSignal: () => {},
      exit: () => {
        throw new Error("exit");
      },
    });
    expect(code).toBe(1);
    expect(err).toContain(shown);
    expect(printable(err)).toBe(err);
  });

  test("a log line of sluice local", () => {
    const { output, terminal: shownOn } = fakeSession([]);
    writeLog((line) => shownOn.note(line), "info").info("failed", { message: "a\u009b2Jb\u007f\u202ec\u001b[2J" });
    // The rest JSON has escaped, as what it is.
    expect(output.err).toContain('"message":"abc\\u001b[2J"}\n');
  });

  test("but a document for a program stays unchanged", () => {
    const { output, terminal: shownOn } = fakeSession([]);
    shownOn.document(hostile);
    expect(output.out).toBe(hostile);
  });
});
