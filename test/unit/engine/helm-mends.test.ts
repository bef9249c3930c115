import { describe, expect, test } from "vitest";
import { withMend } from "../../../lib/engine/helm-mends.ts";

/** As Helm says it of templates that include each other in a circle. */
function endless(names: readonly string[]): string {
  const levels = Array.from({ length: 1_000 }, (_, at) => {
    const name = names[at % names.length];
    return `template: app/templates/a.yaml:1:19: executing "${name}" at <include "${name}" .>: error calling include: `;
  });
  return `${levels.join("")}rendering template has a nested reference name: ${names[0]}: unable to execute template`;
}

describe("Helm's message about an include that never ends", () => {
  test.each([{ names: ["x"] }, { names: ["x", "y", "z"] }])(
    "names the circle $names at most twice, then the cause and the mend",
    ({ names }) => {
      const message = withMend(endless(names));
      for (const name of names) expect(message.split(`<include "${name}" .>`).length).toBeLessThanOrEqual(3);
      expect(message).toMatch(
        /: \.\.\.: (?:.*: )?rendering template has a nested reference name: x: unable to execute template; template x includes itself, directly or through others: end it by a condition$/,
      );
    },
  );
});

test("any other message of Helm is shown as it is, however often a part of it repeats", () => {
  const message = "a: b: a: b: a: b: a: b: c";
  expect(withMend(message)).toBe(message);
});
