import { randomUUID } from "node:crypto";
import type { Fence } from "../../core/ports/fence.ts";

/** The name of one save of an inventory, and of the pages that it writes: of the lease it is made under, and random. */
export function newGeneration({ token }: Fence): string {
  return `${token}-${randomUUID()}`;
}

/** Whether a save was made under this lease or an earlier one. */
export function isNoLater(generation: string, { token }: Fence): boolean {
  return Number(generation.slice(0, generation.indexOf("-"))) <= token;
}
