import { expect, test } from "vitest";
import { toJson } from "../../../lib/core/json.ts";
import { checkMac, decryptTree } from "../../../lib/sops/decrypt-tree.ts";
import { branchOfJson } from "../../../lib/sops/json-tree.ts";
import { readMetadata } from "../../../lib/sops/metadata.ts";
import { atOnce } from "../../../lib/sops/steps.ts";
import { Branch } from "../../../lib/sops/tree.ts";
import { allKeys, fixture, never } from "./fixtures.ts";

function branch(path: string): Branch {
  const parsed: unknown = JSON.parse(fixture(path).toString());
  const value = branchOfJson(toJson(parsed));
  if (!(value instanceof Branch)) throw new TypeError(`${path} is not an object`);
  return value;
}

test("a tree is decrypted, and its MAC is the one that sops has computed", async () => {
  const file = branch("encrypted/docker.json");
  const sops = file.get("sops");
  if (!(sops instanceof Branch)) throw new TypeError("no sops");
  const metadata = readMetadata(sops);
  const dataKey = await allKeys().of(metadata, never);
  const rest = new Branch(file.items.filter(({ key }) => key !== "sops"));
  const { branches, mac } = atOnce(decryptTree([rest], metadata, dataKey));
  expect(branches).toEqual([branch("plain/docker.json")]);
  expect(() => checkMac(metadata, mac, dataKey)).not.toThrow();
  expect(() => checkMac(metadata, atOnce(decryptTree([], metadata, dataKey)).mac, dataKey)).toThrow("MAC mismatch");
});
