import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf } from "../../../../lib/core/digest.ts";
import { systemClock } from "../../../../lib/process/system-clock.ts";
import { mediaTypes } from "../../../../lib/sources/oci/media-types.ts";
import { RegistryFault } from "../../../../lib/sources/oci/registry-fault.ts";
import { registryFiles } from "../../../../local/registry/registry-files.ts";
import { type Registry, startRegistry } from "../../../../local/registry/start-registry.ts";
import { DatabaseInFolder, DiskFull } from "../../../../local/state/disk-full.ts";
import { openStores } from "../../../../local/state/open-stores.ts";
import { openStateDatabase } from "../../../../local/state/state-database.ts";
import { openDatabase } from "../../../../packages/embedded-kubernetes/src/store/open-database.ts";
import { storeIn } from "../../../../packages/embedded-kubernetes/src/store/store.ts";
import { silentLog } from "../../../doubles/silent-log.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-full-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const says = () => `the disk of the folder ${folder} is full. Make room there`;

/** Leaves the file as large as it is, as a disk does that is full; `more` gives it room again. */
function fill(connection: DatabaseSync): { more: () => void } {
  const pages = connection.prepare("PRAGMA page_count").get()?.["page_count"];
  connection.exec(`PRAGMA max_page_count = ${Number(pages)}`);
  return { more: () => connection.exec("PRAGMA max_page_count = 1000000") };
}

describe("a full disk", () => {
  const large = "x".repeat(100_000);

  test("is reported by a write of the state, which succeeds again when there is room", () => {
    const database = openStateDatabase(join(folder, "state.db"));
    const { queue } = openStores(database, join(folder, "artifacts"), systemClock);
    const disk = fill(database.connection);
    expect(() => queue.send(large, 0)).toThrow(says());
    expect(() => database.transaction(() => queue.send(large, 0))).toThrow(says());
    disk.more();
    queue.send(large, 0);
    expect(queue.receive(2, 1_000)).toMatchObject([{ body: large }]);
    database.close();
  });

  test("is reported by the store of the embedded cluster, which keeps its content and accepts writes again when there is room", () => {
    const database = openDatabase(folder, (file) => new DatabaseInFolder(file, folder));
    const store = storeIn(database);
    const key = { resource: "/configmaps", namespace: "default", name: "a" };
    const object = { metadata: { name: "a" }, data: { k: large } };
    const before = store.revision();
    const disk = fill(database);
    expect(() => store.write(key, object)).toThrow(says());
    expect([store.revision(), store.get(key)]).toEqual([before, undefined]);
    disk.more();
    expect(store.write(key, object).revision).toBe(before + 1);
    store.close();
  });
});

describe.skipIf(process.platform !== "linux")("a push onto a full disk", () => {
  let registry: Registry;
  let fault: Error | undefined;
  const files = () => registryFiles(folder);
  const outOfRoom = () => ({ errors: [{ code: "INSUFFICIENT_STORAGE", message: says() }] });
  const content = Buffer.alloc(3_000_000, "x");
  beforeEach(async () => {
    fault = undefined;
    registry = await startRegistry({
      folder,
      port: 0,
      log: silentLog,
      onPush: () => {
        if (fault !== undefined) throw fault;
      },
    });
  });
  afterEach(() => registry.close());

  const send = (method: string, path: string, body: Uint8Array<ArrayBuffer> | undefined) =>
    fetch(`http://${registry.address}${path}`, {
      method,
      headers: { "content-type": mediaTypes.manifest },
      ...(body === undefined ? {} : { body }),
    });

  test("gets 507 with the folder and a mend, and succeeds when there is room", async () => {
    const begun = await send("POST", "/v2/app/blobs/uploads/", undefined);
    const path = begun.headers.get("location") ?? "";
    const file = files().upload("app", path.slice(path.lastIndexOf("/") + 1));
    await rm(file);
    // Every write to it ends as on a full disk.
    await symlink("/dev/full", file);
    const refused = await send("PATCH", path, content);
    expect([refused.status, await refused.json()]).toEqual([507, outOfRoom()]);
    await rm(file);
    await writeFile(file, "");
    expect((await send("PATCH", path, content)).status).toBe(202);
    expect((await send("PUT", `${path}?digest=${digestOf(content)}`, undefined)).status).toBe(201);
  });

  test("gets 507 if the full disk also blocks the state, so that the client pushes again", async () => {
    const config = Buffer.from("{}");
    await send("POST", `/v2/app/blobs/uploads/?digest=${digestOf(config)}`, config);
    const described = { mediaType: mediaTypes.fluxConfig, digest: digestOf(config), size: config.length };
    const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, config: described, layers: [] }));
    fault = new DiskFull(folder, {});
    const refused = await send("PUT", "/v2/app/manifests/v1", manifest);
    const body = new Uint8Array(await refused.arrayBuffer());
    expect([refused.status, JSON.parse(new TextDecoder().decode(body))]).toEqual([507, outOfRoom()]);
    // As sluice push says it.
    const told = new RegistryFault(
      { method: "PUT", url: refused.url },
      { status: refused.status, headers: {}, body, url: refused.url },
      0,
    );
    expect(told.message).toContain("507 Insufficient Storage");
    fault = undefined;
    expect((await send("PUT", "/v2/app/manifests/v1", manifest)).status).toBe(201);
  });
});
