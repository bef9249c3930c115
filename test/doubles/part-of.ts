import { z } from "zod";

/** A part of a value that stands for the whole in a test that needs no more of it. */
export function partOf<Whole>(part: unknown): Whole {
  return z.custom<Whole>().parse(part);
}
