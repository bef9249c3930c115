import { expect, test } from "vitest";
import { z } from "zod";
import { fieldFault, fieldFaults } from "../../../lib/core/validation.ts";

const Value = z.object({
  number: z.number().min(2).max(5),
  text: z.string().min(2).max(5),
  list: z.array(z.number()).min(1).max(2),
  choice: z.enum(["a", "b"]),
});
const good = { number: 3, text: "abc", list: [1], choice: "a" };

test.each([
  [{ number: 6 }, "number must be at most 5"],
  [{ number: 1 }, "number must be at least 2"],
  [{ text: "abcdef" }, "text must have at most 5 characters"],
  [{ text: "a" }, "text must have at least 2 characters"],
  [{ list: [1, 2, 3] }, "list must have at most 2 entries"],
  [{ list: [] }, "list must have at least 1 entry"],
  [{ choice: "c" }, "choice must be a or b"],
  [{ text: 1 }, "text must be a text"],
  [{ list: undefined }, "list is missing"],
])("a value with %j is refused: %s", (fault, message) => {
  const parsed = Value.safeParse({ ...good, ...fault }, { error: fieldFault });
  expect(parsed.success ? "no fault" : fieldFaults(parsed.error)).toBe(message);
});
