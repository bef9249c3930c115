import { describe, expect, test } from "vitest";
import { showEvents } from "../../../cli/show-events.ts";
import type { LiveObject } from "../../../lib/core/manifest.ts";
import { kustomization, readyStatus } from "./cluster-objects.ts";
import { fakeSession } from "./fake-session.ts";

describe("events", () => {
  const event = (kind: string, name: string, reason: string, lastTimestamp: string): LiveObject => ({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: `${name}.${reason}`, namespace: "flux-system", uid: `${name}${reason}` },
    involvedObject: { kind, name },
    type: reason === "BuildFailed" ? "Warning" : "Normal",
    reason,
    message: "m",
    firstTimestamp: lastTimestamp,
    lastTimestamp,
  });
  const objects = [
    event("Kustomization", "web", "BuildFailed", "2026-11-21T12:00:02Z"),
    event("OCIRepository", "app", "NewArtifact", "2026-11-21T12:00:01Z"),
    event("Pod", "web-1", "Killing", "2026-11-21T12:00:03Z"),
    event("Kustomization", "db", "Progressing", "2026-11-21T12:00:04Z"),
    kustomization("web"),
  ];
  const shown = async (options: Parameters<typeof showEvents>[0]) => {
    const session = fakeSession(objects);
    await showEvents(options, session);
    return session.output.out
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("\t").map((cell) => cell.trim()));
  };

  test("are those of Flux's kinds, oldest first", async () => {
    expect((await shown({})).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
      "Kustomization/db",
    ]);
  });

  test("--for one object are its own and those of its source (14)", async () => {
    expect((await shown({ for: "kustomization/web" })).map((cells) => cells[3])).toEqual([
      "OCIRepository/app",
      "Kustomization/web",
    ]);
  });

  test("--types shows only these", async () => {
    expect((await shown({ types: ["warning"] })).map((cells) => cells[2])).toEqual(["BuildFailed"]);
  });

  test("of nothing say so and do not fail", async () => {
    const session = fakeSession([]);
    await showEvents({}, session);
    await showEvents({ allNamespaces: true }, session);
    expect(session.output).toEqual({
      out: "",
      err: "✗ No events found in flux-system namespace.\n✗ No events found.\n",
    });
  });

  test("of nothing in the default namespace say where there are Kustomizations", async () => {
    const session = fakeSession([kustomization("web", {}, readyStatus, "apps")]);
    await showEvents({}, session);
    expect(session.output.err).toBe(
      "⚠️ Kustomization objects can be found in apps: name the namespace with -n\n✗ No events found in flux-system namespace.\n",
    );
  });

  test.each([
    [{ for: "Pod/a" }, "'Pod' is not a recognized Flux kind"],
    [{ for: "/a" }, "--for selector must be of format <kind>[/<name>]"],
    [{ types: ["Error"] }, "type 'Error' not supported. Supported types are Normal, Warning"],
  ])("asked for by %o are refused", async (options, message) => {
    await expect(showEvents(options, fakeSession([]))).rejects.toThrow(message);
  });
});
