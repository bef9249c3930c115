import { describe, expect, test } from "vitest";
import { getObjects } from "../../../cli/get-objects.ts";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { run } from "../../../cli/run.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { table } from "../../../cli/table.ts";
import { terminal } from "../../../cli/terminal.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { safeText } from "../../../lib/core/safe-text.ts";
import { writeLog } from "../../../lib/process/write-log.ts";
import { condition, handled, kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

/** Clears the screen, retitles the window, overwrites the line, erases a letter, and turns what follows around. */
const hostile = "a\u001b[2J\u001b]0;owned\u0007b\rc\bd\u009b31me\u007f\u0085f\u202eg\u2066h";
const shown = String.raw`a\u001b[2J\u001b]0;owned\u0007b\u000dc\u0008d\u009b31me\u007f\u0085f\u202eg\u2066h`;

describe("a command prints without control characters", () => {
  const named = kustomization(hostile, {}, { conditions: [condition("Ready", "False", hostile)] });
  const header = { header: true };

  test("a table, its columns still in line", async () => {
    const session = fakeSession([named]);
    await getObjects(declaredKustomization, undefined, header, session);
    expect(session.output.out).toBe(
      `${"NAME".padEnd(shown.length)}\tREVISION\tSUSPENDED\tREADY\t${"MESSAGE".padEnd(shown.length)} \n` +
        `${shown}\t        \tFalse    \tFalse\t${shown}\t\n`,
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
    expect(safeText(session.output.err)).toBe(session.output.err);
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
    expect(safeText(err)).toBe(err);
  });

  test("a log line of sluice local", () => {
    const { output, terminal: shownOn } = fakeSession([]);
    writeLog((line) => shownOn.note(line), "info").info("failed", { message: "a\u009b2Jb\u007f\u202ec\u001b[2J" });
    expect(output.err).toContain(String.raw`"message":"a\u009b2Jb\u007f\u202ec\u001b[2J"}`);
  });

  test("but a document for a program stays unchanged", () => {
    const { output, terminal: shownOn } = fakeSession([]);
    shownOn.document(hostile);
    expect(output.out).toBe(hostile);
  });
});
