import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { formatWorkKey } from "../../../../lib/core/work-key.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { openStores } from "../../../../local/state/open-stores.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { keyOf, leased, never } from "../../../contract/state-back-end.ts";

const key = keyOf("web");
const owner = { uid: "uid", clusterUid: "cluster", generation: 2 };
const inventories = `
  CREATE TABLE inventories (
    key TEXT NOT NULL,
    owner_uid TEXT NOT NULL,
    cluster_uid TEXT NOT NULL,
    generation INTEGER NOT NULL,
    pages TEXT NOT NULL,
    PRIMARY KEY (key, owner_uid, cluster_uid)
  ) WITHOUT ROWID;
`;

test("a state file of an earlier release is read, and its inventories have no generation until they are saved", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-earlier-"));
  const file = join(folder, "state.db");
  const earlier = new DatabaseSync(file);
  earlier.exec(inventories);
  earlier.prepare("INSERT INTO inventories VALUES (?, 'uid', 'cluster', 1, '[0]')").run(formatWorkKey(key));
  earlier.close();
  for (const saved of [undefined, 2]) {
    const database = openStateDatabase(file);
    const stores = openStores(database, folder, systemClock);
    const fence = await leased(stores, key);
    expect(await stores.inventories.load(owner, fence, never)).toEqual([]);
    expect(await stores.inventories.savedUnder(owner, fence, never)).toBe(saved);
    await stores.inventories.save(owner, [], fence, never);
    database.close();
  }
  await rm(folder, { recursive: true });
});
