import { needsNode24 } from "./needs-node-24.ts";

const name: string = "node:sqlite";
const sqlite = process.getBuiltinModule(name);

/**
 * `node:sqlite` in the bundle of the installed command (infra/pack-cli.ts): a Node without SQLite fails when a database is opened, with the
 * reason, and not when a file is loaded that could open one.
 */
export const DatabaseSync: unknown =
  sqlite !== undefined && "DatabaseSync" in sqlite
    ? sqlite.DatabaseSync
    : class {
        constructor() {
          needsNode24("reading the state of sluice local");
        }
      };
