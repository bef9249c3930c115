import { expect, test } from "vitest";
import { statusOfEvent } from "../../../lib/notify/git/commit-of-event.ts";
import { kustomizationEvent } from "./sample-events.ts";

const states = { info: "success", error: "failure", unknown: "no state" };
const hash = (digit: string) => digit.repeat(40);

test("64: the commit of a status is `commit`, else the origin's, else the revision's", () => {
  const metadata = {
    commit: hash("a"),
    originRevision: `main@sha1:${hash("b")}`,
    revision: `main@sha1:${hash("c")}`,
  };
  const { commit: _commit, ...ofOrigin } = metadata;
  const { originRevision: _origin, ...ofRevision } = ofOrigin;
  const commits = [metadata, ofOrigin, ofRevision].map(
    (each) => statusOfEvent(kustomizationEvent({ metadata: each }), states)?.commit,
  );
  expect(commits).toEqual([hash("a"), hash("b"), hash("c")]);
  expect(() => statusOfEvent(kustomizationEvent(), states)).toThrow("missing revision metadata");
});
