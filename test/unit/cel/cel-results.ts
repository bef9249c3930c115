import { type Cel, CelFault, type JsonText } from "../../../lib/cel/cel.ts";
import { celModule } from "../../../lib/cel/wasm-cel.ts";
import type { Json } from "../../../lib/core/json.ts";

export const forever = new AbortController().signal;
export const options = { file: celModule, threads: 1, idleMs: 60_000 };

/** What the tests ask of a CEL, which belongs to their file. */
export function resultsOf(cel: Pick<Cel, "compileBool" | "compileHealth">) {
  return {
    /** A health expression, which is true where the object is Current. */
    async isCurrent(expression: string, object: Json | JsonText): Promise<boolean | CelFault> {
      const rule = await cel.compileHealth({ current: expression }, forever);
      const [status] = await rule.statuses([object], forever);
      return status instanceof CelFault ? status : status === "Current";
    },

    /** Why this expression over `req` has no result. */
    async faultOf(expression: string, req: Json | JsonText = {}): Promise<CelFault> {
      try {
        await (await cel.compileBool(expression, ["req"], forever)).evaluate({ req }, forever);
      } catch (error) {
        if (error instanceof CelFault) return error;
        throw error;
      }
      throw new Error(`${expression.slice(0, 80)} has a result`);
    },
  };
}
