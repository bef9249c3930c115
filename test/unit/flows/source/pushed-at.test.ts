import { expect, test } from "vitest";
import { pushedAt } from "../../../../lib/flows/source/pushed-at.ts";

const stored = "2026-11-22T12:00:00Z";

test.each([
  { what: "is when the image was made", created: "2026-11-22T11:59:30Z", at: "2026-11-22T11:59:30Z" },
  { what: "is when it was stored if its creation time is unknown", created: undefined, at: stored },
  { what: "is when it was stored if that is not readable", created: "yesterday", at: stored },
  { what: "is when it was stored if the pusher's clock is ahead", created: "2026-11-22T12:00:01Z", at: stored },
  { what: "is when it was stored for an image of an hour before", created: "2026-11-22T10:59:59Z", at: stored },
  { what: "is when it was stored for a reproducible build", created: "1970-01-01T00:00:00Z", at: stored },
])("the push time of an artifact $what", ({ created, at }) => {
  const metadata = created === undefined ? {} : { metadata: { "org.opencontainers.image.created": created } };
  expect(pushedAt({ lastUpdateTime: stored, ...metadata })).toBe(Date.parse(at));
});

test("the push time of an artifact is unknown if it cannot be parsed", () => {
  expect(pushedAt({ lastUpdateTime: "never" })).toBeUndefined();
});
