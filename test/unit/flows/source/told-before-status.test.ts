import { expect, test } from "vitest";
import { HttpError } from "../../../../lib/core/ports/http.ts";
import { file, seenSources } from "../seen-sources.ts";
import { ociRepository } from "../source-world.ts";

const { condition, world, url } = seenSources();

test("a source sends its failure to Alerts before it writes its status, so a run killed in between has sent it", async () => {
  await world().push("latest", file);
  world().apply(ociRepository("app", { url: url() }));
  await world().run();
  world().toldReasons.splice(0);
  const before = world().get("app")["status"];
  world().deps.http.send = () => Promise.reject(new HttpError("unreachable", "the registry is away"));
  world().refuseStatus(true);
  await expect(world().run()).rejects.toThrow(/./);
  expect(world().get("app")["status"]).toEqual(before);
  expect(world().toldReasons).toEqual(["OCIArtifactPullFailed"]);
});

test("a source sends its new artifact to Alerts before it writes its status", async () => {
  await world().push("latest", file);
  world().apply(ociRepository("app", { url: url() }));
  const shown: unknown[] = [];
  const { events } = world();
  const push = events.push.bind(events);
  events.push = (...written) => {
    shown.push(condition("app", "Ready")?.["status"]);
    return push(...written);
  };
  await world().run();
  expect(world().toldReasons).toEqual(["NewArtifact"]);
  expect(shown).toEqual(["Unknown"]);
});
