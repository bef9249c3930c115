import { expect, test } from "vitest";
import { recordedFiles } from "./recorded-automations.ts";
import { setText } from "./set-file.ts";

const recorded = recordedFiles();

test("the recordings of Flux have 33 changed files", () => {
  expect(recorded).toHaveLength(33);
});

test.each(recorded.map((file) => [`${file.scenario}/${file.step}`, file.path, file] as const))(
  "%s: %s has the same bytes as Flux has committed",
  (_, __, { before, after, images }) => {
    expect(before).toContain("$imagepolicy");
    expect(setText(before, images)).toBe(after);
    expect(setText(after, images)).toBe(after);
  },
);
