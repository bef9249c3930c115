import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { getObjects } from "../../../cli/get-objects.ts";
import { reconcileObject } from "../../../cli/reconcile-object.ts";
import { run } from "../../../cli/run.ts";
import { resumeObjects, suspendObjects } from "../../../cli/suspend-and-resume.ts";
import { terminal } from "../../../cli/terminal.ts";
import { declaredAlertProvider } from "../../../lib/api/kinds/alert-provider.ts";
import { declaredCanary } from "../../../lib/api/kinds/canary.ts";
import type { KindDeclaration } from "../../../lib/api/kinds/declaration.ts";
import { declaredMetricTemplate } from "../../../lib/api/kinds/metric-template.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { condition } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const lastTransitionTime = "2026-11-29T12:00:00Z";

function object(kind: KindDeclaration, name: string, spec: object, status?: object): LiveObject {
  const { group, versions } = kind;
  return {
    apiVersion: `${group}/${versions[0]}`,
    kind: kind.kind,
    metadata: { name, namespace: "flux-system", uid: `u-${name}`, generation: 3 },
    spec,
    ...(status === undefined ? {} : { status }),
  };
}

function canary(name: string, phase: string, promoted: string, message: string, spec = {}): LiveObject {
  const status = {
    phase,
    canaryWeight: 20,
    lastTransitionTime,
    conditions: [condition("Promoted", promoted, message, phase)],
  };
  return object(declaredCanary, name, spec, status);
}

/** The lines that `get` prints, each as its cells. */
async function shown(kind: KindDeclaration, objects: readonly LiveObject[], options = {}) {
  const session = fakeSession(objects);
  await getObjects(kind, undefined, { header: true, output: "wide", ...options }, session);
  const lines = session.output.out.trimEnd().split("\n");
  return lines.map((line) =>
    line
      .replace(/\t$/, "")
      .split("\t")
      .map((cell) => cell.trim()),
  );
}

describe("get canaries", () => {
  const objects = [
    canary("api", "Progressing", "Unknown", "New revision detected, progressing canary analysis."),
    canary("web", "Succeeded", "True", "Canary analysis completed successfully, promotion finished."),
    object(declaredCanary, "new", { suspend: true }),
  ];

  test("shows phase, weight and time as kubectl does, and the condition's message", async () => {
    expect(await shown(declaredCanary, objects, { output: undefined })).toEqual([
      ["NAME", "STATUS", "WEIGHT", "SUSPENDED", "LASTTRANSITIONTIME", "PROMOTED", "MESSAGE"],
      [
        ...["api", "Progressing", "20", "False", lastTransitionTime, "Unknown"],
        "New revision detected, progressing canary analysis.",
      ],
      [
        ...["web", "Succeeded", "20", "False", lastTransitionTime, "True"],
        "Canary analysis completed successfully, promotion finished.",
      ],
      ["new", "", "", "True", "", "False", "waiting to be reconciled"],
    ]);
  });

  test("shows with -o wide the columns that kubectl shows with it, in the same order", async () => {
    const analysis = { interval: "1m", mirror: true, stepWeight: 5, stepWeights: [1, 10], maxWeight: 50 };
    const [header, row] = await shown(declaredCanary, [canary("api", "Progressing", "Unknown", "m", { analysis })]);
    const columns = declaredCanary.columns.map(({ name }) => name.toUpperCase());
    expect(header).toEqual(["NAME", ...columns, "PROMOTED", "MESSAGE"]);
    expect(row).toEqual([
      ...["api", "Progressing", "20", "False", "", "1m", "true", "5", "[1,10]", "50", lastTransitionTime],
      ...["Unknown", "m"],
    ]);
  });

  test("selects by the condition that Canaries have", async () => {
    const rows = await shown(declaredCanary, objects, { statusSelector: "promoted=true" });
    expect(rows.slice(1).map(([name]) => name)).toEqual(["web"]);
  });
});

test("a requested run of a Canary is not awaited: its status does not show when a request was handled", async () => {
  const session = fakeSession([canary("web", "Initialized", "True", "done")]);
  await reconcileObject(declaredCanary, "web", {}, session);
  expect(session.patched).toEqual(["Canary/web"]);
  expect(session.output.err).toBe(
    "► annotating Canary web in flux-system namespace\n✔ Canary annotated\n" +
      "✔ a run is requested; its outcome is in the events of the object\n",
  );
});

test("a Canary is suspended and resumed, and resume does not wait", async () => {
  const session = fakeSession([canary("web", "Initialized", "True", "done")]);
  await suspendObjects(declaredCanary, ["web"], false, session);
  await resumeObjects(declaredCanary, ["web"], { all: false, wait: true }, session);
  expect(session.output.err).toBe(
    "► suspending canary web in flux-system namespace\n✔ canary suspended\n" +
      "► resuming canary web in flux-system namespace\n✔ canary resumed\n",
  );
});

test.each([
  [declaredMetricTemplate, { provider: { type: "prometheus" }, query: "up" }, "PROVIDER", "prometheus"],
  [declaredAlertProvider, { type: "slack", address: "https://example.test" }, "TYPE", "slack"],
])("an object that only Canaries read is shown with its type, and as ready: $kind", async (kind, spec, title, type) => {
  expect(await shown(kind, [object(kind, "a", spec)])).toEqual([
    ["NAME", title, "READY", "MESSAGE"],
    ["a", type, "True", `${kind.kind} is Ready`],
  ]);
});

describe("the commands", () => {
  /** The help of a command, which fails for one that is unknown. */
  async function helpOf(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
    let said = "";
    const write = (text: string) => {
      said += text;
    };
    const code = await run([...args, "--help"], {
      terminal: terminal(write, write),
      ...{ env: {}, homeDir: "/", cwd: "/", stdin: Readable.from([]), onSignal: () => {} },
      signal: new AbortController().signal,
      exit: () => {
        throw new Error("exit");
      },
    });
    return { code, said };
  }

  test.each(["get", "export", "delete"])("%s knows Canaries and the objects that they read", async (verb) => {
    for (const kind of ["canary", "canaries", "metrictemplate", "alertproviders"]) {
      expect(await helpOf(verb, kind)).toMatchObject({ code: 0, said: expect.stringContaining(`sluice ${verb} `) });
    }
  });

  test.each(["reconcile", "suspend", "resume"])(
    "%s knows only Canaries: the objects that they read do not run",
    async (verb) => {
      const { said } = await helpOf(verb);
      expect(said).toMatch(/^ {2}canary\|canaries /m);
      expect(said).not.toMatch(/metrictemplate|alertprovider\b/);
    },
  );
});
