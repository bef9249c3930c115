import { layoutVersion } from "./table.ts";

/** The table is there and not as this version of Sluice needs it; nothing was written to it. */
export class LayoutError extends Error {
  override readonly name = "LayoutError";

  constructor(table: string, why: string, options?: ErrorOptions) {
    const mend = `deploy the table of this version of Sluice (layout ${layoutVersion}), or the version that made it`;
    super(`table ${table} is of another layout: ${why}; ${mend}`, options);
  }
}
