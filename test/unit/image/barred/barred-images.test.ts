import { expect, test } from "vitest";
import {
  addLine,
  formatBarred,
  maxBarred,
  parseBarred,
  withBarred,
  withoutBarred,
} from "../../../../lib/image/barred/barred-images.ts";

const digest = `sha256:${"a".repeat(64)}`;
const other = `sha256:${"b".repeat(64)}`;

test("each line has a tag or digest, and who has barred it and why", () => {
  const text = `# release 1.3\n1.3.0 alice: returns 500\n\n  1.2.0@${digest}\tbob: leaks  memory \n1.1.0`;
  expect(parseBarred(text)).toEqual([
    { tag: "1.3.0", digest: undefined, why: "alice: returns 500" },
    { tag: "1.2.0", digest, why: "bob: leaks  memory" },
    { tag: "1.1.0", digest: undefined, why: "" },
  ]);
  expect(parseBarred("")).toEqual([]);
});

test("a written list of barred images is read back unchanged", () => {
  const barred = parseBarred(`1.3.0 alice: returns 500\n1.2.0@${digest}`);
  expect(parseBarred(formatBarred(barred))).toEqual(barred);
});

test.each([
  ["1.3.0\n?", "line 2 does not begin with a tag such as 1.3.0"],
  ["-1", "line 1 does not begin with a tag such as 1.3.0"],
  ["@sha256:abc", "line 1 does not begin with a tag such as 1.3.0"],
  ["1.3.0@sha256:abc", "line 1: the digest of 1.3.0 is not of the form sha256:<64 hexadecimal digits>"],
  [`1.3.0@${digest}@${digest}`, "line 1: the digest of 1.3.0 is not of the form sha256:<64 hexadecimal digits>"],
  [`${"a".repeat(129)}`, "line 1 does not begin with a tag such as 1.3.0"],
])("%j is refused and the line is named", (text, message) => {
  expect(() => parseBarred(text)).toThrow(new RangeError(message));
});

test("a policy bars at most maxBarred images", () => {
  const lines = Array.from({ length: maxBarred + 1 }, (_, at) => `1.${at}.0`);
  expect(parseBarred(lines.slice(1).join("\n"))).toHaveLength(maxBarred);
  expect(() => parseBarred(lines.join("\n"))).toThrow(
    "more than 100 images are barred: narrow spec.policy or spec.filterTags instead",
  );
});

test("an image that is barred again has only its last reason, on one line", () => {
  const once = withBarred([], { tag: "1.3.0", digest: undefined, why: "alice: slow" });
  expect(withBarred(once, { tag: "1.3.0", digest: undefined, why: "bob:\nreturns 500 " })).toEqual([
    { tag: "1.3.0", digest: undefined, why: "bob: returns 500" },
  ]);
});

test("unbarring a tag removes it with all its digests, unbarring a digest only this digest", () => {
  const barred = parseBarred(`1.3.0@${digest}\n1.3.0@${other}\n1.2.0`);
  expect(withoutBarred(barred, { tag: "1.3.0", digest: undefined })).toEqual(parseBarred("1.2.0"));
  expect(withoutBarred(barred, { tag: "1.3.0", digest: other })).toEqual(parseBarred(`1.3.0@${digest}\n1.2.0`));
});

test("a line is added below what is there, comments too; a list that is full is left as it is", () => {
  const image = { tag: "1.3.0", digest, why: "web: ended\nwith 1" };
  expect(addLine("# ours\n1.2.0 jane\n", image)).toBe(`# ours\n1.2.0 jane\n1.3.0@${digest} web: ended with 1`);
  expect(addLine(" \n", image)).toBe(`1.3.0@${digest} web: ended with 1`);
  const full = Array.from({ length: maxBarred }, (_, at) => `1.${at}.0`).join("\n");
  expect(() => addLine(full, image)).toThrow("more than 100 images are barred");
});
