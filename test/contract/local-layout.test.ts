import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { systemClock } from "../../lib/process/system-clock.ts";
import { sqliteWorkItems } from "../../local/state/work-items.ts";
import { openStateFolder } from "../../local/state-folder.ts";
import { layoutContract } from "./layout.ts";
import { keyOf, never } from "./state-back-end.ts";

layoutContract("a state folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-layout-"));
  return {
    async start(version, upgrade, item) {
      const upgrades = Object.fromEntries(
        Array.from({ length: version }, (_, from) => [from, () => upgrade(from)] as const),
      );
      const state = await openStateFolder(folder, systemClock, never, { version, upgrades });
      try {
        const items = sqliteWorkItems(state.database);
        if (item !== undefined) await items.put(item, never);
        return await items.get(keyOf("web"), never);
      } finally {
        state.close();
      }
    },
    async stored() {
      const database = new DatabaseSync(join(folder, "state.db"), { readOnly: true });
      const rows = database.prepare("SELECT * FROM work_items").all();
      database.close();
      return JSON.stringify([rows, await readFile(join(folder, "layout"), "utf8")]);
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
});
