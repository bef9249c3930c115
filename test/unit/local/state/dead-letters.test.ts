import { expect, test } from "vitest";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { sqliteDeadLetters } from "../../../../local/state/message-queue.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { keyOf, never } from "../../../contract/state-back-end.ts";

test("the newest thousand dead letters are kept", async () => {
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
