import { describe, expect, test } from "vitest";
import { getObjects } from "../../../cli/get-objects.ts";
import { type Session, TimeIsUp } from "../../../cli/session.ts";
import { showEvents } from "../../../cli/show-events.ts";
import { declaredKinds } from "../../../lib/api/kinds/declared-kinds.ts";
import { declaredKustomization } from "../../../lib/api/kinds/kustomization.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { ApiError, type WatchEvent } from "../../../lib/core/ports/cluster.ts";
import { kustomization } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

const unreachable = new ApiError({ code: 0, reason: "Unreachable", message: "socket hang up" });
const expired = new ApiError({ code: 410, reason: "Expired", message: "too old" });
const forbidden = new ApiError({ code: 403, reason: "Forbidden", message: "no watch for you" });

const at = (resourceVersion: string, object: LiveObject): WatchEvent => ({
  type: "ADDED",
  object: { ...object, metadata: { ...object.metadata, uid: object.metadata.name, resourceVersion } },
});
const event = (name: string): LiveObject => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace: "flux-system", uid: name },
  involvedObject: { kind: "Kustomization", name },
  type: "Normal",
  reason: "Progressing",
  message: "m",
});

describe.each([
  {
    command: "get --watch",
    object: kustomization,
    run: (session: Session) => getObjects(declaredKustomization, undefined, { header: false, watch: true }, session),
  },
  {
    command: "events --watch",
    object: event,
    run: (session: Session) => showEvents(declaredKinds, { watch: true }, session),
  },
])("$command", ({ object, run }) => {
  /** Runs the command on watches that each send some events and then break. */
  const watching = (breaks: readonly (readonly [readonly WatchEvent[], Error])[]) => {
    const session = fakeSession([]);
    const left = [...breaks];
    const cluster: Session["cluster"] = {
      ...session.cluster,
      async *watch() {
        const [events, error] = left.shift() ?? [[], new TimeIsUp()];
        yield* events;
        throw error;
      },
    };
    const rows = () => session.output.out.split("\n").filter((line) => /web|db/.test(line)).length;
    return { ended: run({ ...session, cluster }), rows, output: session.output };
  };

  test("watches again after a break, and shows only what has changed meanwhile", async () => {
    const { ended, rows, output } = watching([
      [[at("1", object("web"))], unreachable],
      [[], unreachable],
      [[at("1", object("web")), at("2", object("db"))], expired],
      [[at("3", object("web")), at("2", object("db"))], forbidden],
    ]);
    await expect(ended).rejects.toThrow("no watch for you");
    expect(rows()).toBe(3);
    expect(output.err).toBe("⚠️ the watch broke off, watching again: socket hang up\n");
  });

  test("fails at once if the first watch does", async () => {
    const { ended } = watching([[[], unreachable]]);
    await expect(ended).rejects.toThrow("socket hang up");
  });
});

test("get --watch prints once that there is nothing yet", async () => {
  const fake = fakeSession([]);
  const end: WatchEvent = { type: "BOOKMARK", resourceVersion: "1", initialEventsEnd: true };
  let watches = 0;
  const cluster: Session["cluster"] = {
    ...fake.cluster,
    async *watch() {
      watches += 1;
      yield end;
      throw watches === 1 ? expired : forbidden;
    },
  };
  const watching = getObjects(declaredKustomization, undefined, { header: true, watch: true }, { ...fake, cluster });
  await expect(watching).rejects.toThrow("no watch for you");
  expect(fake.output).toEqual({
    out: "",
    err: '◎ no Kustomization objects found in "flux-system" namespace: waiting for one\n',
  });
});
