import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../lib/process/system-clock.ts";
import { artifactFiles } from "../../local/state/artifact-files.ts";
import { sqliteArtifactRecords } from "../../local/state/artifact-records.ts";
import { memoryCauseGroups } from "../../local/state/cause-groups.ts";
import { sqliteClusterStates } from "../../local/state/cluster-states.ts";
import { memoryEventWindows } from "../../local/state/event-windows.ts";
import { sqliteHistory } from "../../local/state/history.ts";
import { sqliteImageTags } from "../../local/state/image-tags.ts";
import { sqliteInventoryStore } from "../../local/state/inventory-store.ts";
import { sqliteLedger } from "../../local/state/ledger.ts";
import { queuedWakeUps, sqliteDeadLetters, sqliteMessageQueue } from "../../local/state/message-queue.ts";
import { sqliteObservedResources } from "../../local/state/observed-resources.ts";
import { sqliteReceiverIndex } from "../../local/state/receiver-index.ts";
import { openStateDatabase, textColumn } from "../../local/state/state-database.ts";
import { sqliteSubscriptions } from "../../local/state/subscriptions.ts";
import { memorySweepLeases } from "../../local/state/sweep-leases.ts";
import { sqliteWorkItems } from "../../local/state/work-items.ts";
import { steppedClock } from "../doubles/stepped-clock.ts";
import { type ArtifactBackEnd, artifactStoreContract } from "./artifact-store.ts";
import { causeGroupsContract } from "./cause-groups.ts";
import { clockContract } from "./clock.ts";
import { clusterStatesContract } from "./cluster-states.ts";
import { type DeadLettersBackEnd, deadLettersContract } from "./dead-letters.ts";
import { eventWindowsContract } from "./event-windows.ts";
import { interruptedCallsContract } from "./interrupted-calls.ts";
import { observedResourcesContract } from "./observed-resources.ts";
import { interruption, type StateBackEnd } from "./state-back-end.ts";
import { stateContracts } from "./state-contracts.ts";
import { sweepLeasesContract } from "./sweep-leases.ts";
import { type QueueBackEnd, wakeUpQueueContract } from "./wake-up-queue.ts";

async function openSqlite(): Promise<StateBackEnd> {
  const database = openStateDatabase(":memory:");
  return {
    items: sqliteWorkItems(database),
    subscriptions: sqliteSubscriptions(database),
    inventories: sqliteInventoryStore(database, systemClock),
    ledger: sqliteLedger(database),
    records: sqliteArtifactRecords(database),
    receivers: sqliteReceiverIndex(database),
    imageTags: sqliteImageTags(database),
    history: sqliteHistory(database),
    interruptedAfter() {
      const control = new AbortController();
      queueMicrotask(() => control.abort(interruption));
      return control.signal;
    },
    close: async () => database.close(),
  };
}

async function openQueue(): Promise<QueueBackEnd> {
  const database = openStateDatabase(":memory:");
  let now = 1_790_000_000_000;
  const queue = sqliteMessageQueue(database, { ...systemClock, now: () => now, monotonic: () => now });
  return {
    wakeUps: queuedWakeUps(queue),
    receive: async (visibilityMs) =>
      queue.receive(10, visibilityMs).map((message) => ({
        body: message.body,
        receives: message.receives,
        hide: async (ms) => queue.hide(message, ms),
        remove: async () => queue.remove(message.id),
      })),
    pass: async (ms) => {
      now += ms;
    },
    close: async () => database.close(),
  };
}

async function openDeadLetters(): Promise<DeadLettersBackEnd> {
  const database = openStateDatabase(":memory:");
  const letters = database.connection.prepare("SELECT letter FROM dead_letters");
  return {
    deadLetters: sqliteDeadLetters(database, systemClock),
    letters: async () => letters.all().map((row) => textColumn(row, "letter")),
    close: async () => database.close(),
  };
}

/** @param ageMs how long ago every file was written, by the clock of the store */
async function openArtifacts(ageMs: number): Promise<ArtifactBackEnd> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-artifacts-"));
  const clock = steppedClock();
  clock.pass(Date.now() - clock.now() + ageMs);
  const files = artifactFiles(folder, clock);
  return {
    store: files,
    collection: files,
    pass: async () => clock.pass(1_000),
    damage: (digest) => writeFile(join(folder, digest.slice(7, 9), digest.slice(9)), "something else"),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

for (const contract of [...stateContracts, interruptedCallsContract]) contract("sqlite", openSqlite);
artifactStoreContract("files that were just written", () => openArtifacts(0));
artifactStoreContract("files of an hour ago", () => openArtifacts(3_600_000));
wakeUpQueueContract("sqlite", openQueue);
deadLettersContract("sqlite", openDeadLetters);
observedResourcesContract("sqlite", async () => {
  const database = openStateDatabase(":memory:");
  return { observed: sqliteObservedResources(database), close: async () => database.close() };
});
clusterStatesContract("sqlite", async () => {
  const database = openStateDatabase(":memory:");
  return { clusterStates: sqliteClusterStates(database), close: async () => database.close() };
});
sweepLeasesContract("memory", async () => ({
  sweepLeases: memorySweepLeases(systemClock),
  close: async () => undefined,
}));
eventWindowsContract("memory", async () => ({
  eventWindows: memoryEventWindows(),
  close: async () => undefined,
}));
causeGroupsContract("memory", async () => ({
  causeGroups: memoryCauseGroups(),
  close: async () => undefined,
}));
clockContract("system", systemClock);
