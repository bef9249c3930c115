import { describe, expect, test } from "vitest";
import { getObjects } from "../../../cli/get-objects.ts";
import { wantsColours } from "../../../cli/looks.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { terminal } from "../../../cli/terminal.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition, kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const green = "\u001b[32m";
const red = "\u001b[31m";
const yellow = "\u001b[33m";
const end = "\u001b[39m";

describe("colours", () => {
  test.each([
    { env: {}, isTerminal: true, wanted: true },
    { env: {}, isTerminal: false, wanted: false },
    { env: { NO_COLOR: "1" }, isTerminal: true, wanted: false },
    { env: { NO_COLOR: "" }, isTerminal: true, wanted: true },
    { env: { TERM: "dumb" }, isTerminal: true, wanted: false },
    { env: { TERM: "xterm" }, isTerminal: true, wanted: true },
    { env: { FORCE_COLOR: "1" }, isTerminal: false, wanted: true },
    { env: { FORCE_COLOR: "1", NO_COLOR: "1", TERM: "dumb" }, isTerminal: false, wanted: true },
    { env: { FORCE_COLOR: "0" }, isTerminal: true, wanted: false },
    { env: { FORCE_COLOR: "false" }, isTerminal: true, wanted: false },
    { env: { FORCE_COLOR: "" }, isTerminal: false, wanted: false },
  ])("are $wanted for $env on a terminal: $isTerminal", ({ env, isTerminal, wanted }) => {
    expect(wantsColours(env, isTerminal)).toBe(wanted);
  });

  /** The same command on a screen with colours and in a pipe. */
  async function onBoth(
    objects: readonly LiveObject[],
    command: (session: ReturnType<typeof fakeSession>) => Promise<void>,
  ) {
    const plain = fakeSession(objects);
    await command(plain);
    let out = "";
    const screen = { columns: () => undefined, isScreen: true, confirm: undefined, colours: { out: true, err: true } };
    const session = fakeSession(objects);
    await command({
      ...session,
      terminal: terminal(
        (text) => (out += text),
        () => {},
        screen,
      ),
    });
    return { plain: plain.output.out, out };
  }

  test("show in a table not-ready objects in red and ready ones in green, and change nothing else", async () => {
    const objects = [
      kustomization("web"),
      kustomization("False", {}, { conditions: [condition("Ready", "False", "False")] }),
      kustomization("half", {}, { conditions: [condition("Ready", "Unknown", "Reconciliation in progress")] }),
    ];
    const { plain, out } = await onBoth(objects, (session) =>
      getObjects(declaredKustomization, undefined, { header: true }, session),
    );
    expect(out.split("\n").map((line) => line.split("\t").filter((cell) => cell.includes("\u001b")))).toEqual([
      [],
      [`${green}True${end}   `],
      [`${red}False${end}  `],
      [`${yellow}Unknown${end}`],
      [],
    ]);
    for (const colour of [green, red, yellow, end]) expect(plain).not.toContain(colour);
    expect([green, red, yellow, end].reduce((text, colour) => text.replaceAll(colour, ""), out)).toBe(plain);
  });

  test("show warnings among events in yellow", async () => {
    const event = (type: string): LiveObject => ({
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: type, namespace: "flux-system", uid: type },
      involvedObject: { kind: "Kustomization", name: "web" },
      type,
    });
    const { out } = await onBoth([event("Normal"), event("Warning")], (session) =>
      showEvents(declaredKinds, {}, session),
    );
    expect(out).toContain(`${yellow}Warning${end}`);
    expect(out).not.toContain(`${yellow}Normal`);
  });

  test("colour the icons of progress, and an escape sequence in a name has no effect", () => {
    let err = "";
    const screen = { columns: () => undefined, isScreen: true, confirm: undefined, colours: { out: false, err: true } };
    const shown = terminal(
      () => {},
      (text) => (err += text),
      screen,
    );
    shown.success("done");
    shown.failure("a\u001b[2Jb");
    expect(err).toBe(`${green}✔${end} done\n${red}✗${end} a\\u001b[2Jb\n`);
  });
});
