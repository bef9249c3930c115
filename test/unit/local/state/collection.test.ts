import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { sqliteDeadLetters } from "../../../../local/state/message-queue.ts";
import { openStores } from "../../../../local/state/open-stores.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { openStateFolder, type StateFolder } from "../../../../local/state-folder.ts";
import { keyOf, leased, never } from "../../../contract/state-back-end.ts";

let folder: string;
let state: StateFolder;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-collection-"));
  state = await openStateFolder(folder, systemClock, never);
});
afterEach(async () => {
  state.close();
  await rm(folder, { recursive: true });
});

const stores = () => openStores(state.database, state.artifacts, systemClock);
const bytesOf = (content: string) => new TextEncoder().encode(content);
const isThere = async (content: string) => (await stores().artifacts.get(digestOf(content), never)) !== undefined;

async function store(source: string, content: string): Promise<void> {
  const { artifacts, records, items } = stores();
  await artifacts.put(digestOf(content), bytesOf(content), never);
  const fence = await leased({ items }, keyOf(source));
  await records.record(keyOf(source), "uid", digestOf(content), fence, never);
}

async function retain(source: string, ...contents: readonly string[]): Promise<void> {
  const fence = await leased(stores(), keyOf(source));
  await stores().records.retain(keyOf(source), "uid", contents.map(digestOf), fence, never);
}

async function startAgain(): Promise<void> {
  state.close();
  state = await openStateFolder(folder, systemClock, never);
}

describe("artifacts", () => {
  test("11.1/15: that a source has, or another source still has, outlive every start", async () => {
    await store("one", "shared");
    await store("two", "shared");
    await store("one", "present");
    await retain("one", "present");
    await startAgain();
    expect([await isThere("shared"), await isThere("present")]).toEqual([true, true]);
  });

  test("that no source has any longer stay until the next start, for their readers", async () => {
    await store("one", "old");
    await store("one", "present");
    await retain("one", "present");
    expect(await isThere("old")).toBe(true);
    await startAgain();
    expect([await isThere("old"), await isThere("present")]).toEqual([false, true]);
  });

  test("that a run stored and was killed before it recorded them are stored again by the next", async () => {
    const { artifacts } = stores();
    await artifacts.put(digestOf("new"), bytesOf("new"), never);
    await startAgain();
    expect(await isThere("new")).toBe(false);
    await store("one", "new");
    await startAgain();
    expect(await isThere("new")).toBe(true);
  });
});

test("of dead letters the newest thousand are kept", async () => {
  const database = openStateDatabase(":memory:");
  const letters = sqliteDeadLetters(database, systemClock);
  for (let attempts = 1; attempts <= 1_010; attempts++) {
    await letters.send({ key: keyOf("web"), attempts, message: "no" }, never);
  }
  const rows = database.connection.prepare("SELECT letter FROM dead_letters ORDER BY id").all();
  expect(rows).toHaveLength(1_000);
  expect(String(rows[0]?.["letter"])).toContain('"attempts":11,');
  database.close();
});
