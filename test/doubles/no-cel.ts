import type { Cel } from "../../lib/cel/cel.ts";

/** For tests without an expression. */
export const noCel: Cel = {
  compileBool: unexpected,
  compileHealth: unexpected,
  compileRules: unexpected,
  compileString: unexpected,
  compileValue: unexpected,
  withBudget: () => noCel,
};

async function unexpected(): Promise<never> {
  throw new Error("the test did not expect a CEL expression");
}
