import { expect, test } from "vitest";
import {
  decryptSources,
  maxEncryptedFileBytes,
  maxSourceBytes,
} from "../../../../lib/manifests/decrypt/decrypt-sources.ts";
import { decryptionWith } from "./encrypted-files.ts";
import { treeFrom } from "./tree-from.ts";

const { signal } = new AbortController();

test("encrypted files that are too large together are refused before any of them is decrypted", async () => {
  const marker = Buffer.from("\nsops_mac=ENC[\n");
  const large = Buffer.concat([Buffer.alloc(maxEncryptedFileBytes - marker.length, "x"), marker]);
  const keys = await decryptionWith().keys();
  const decrypt = (count: number) => {
    const envs = Array.from({ length: count }, (_, index) => `${index}.env`);
    const kustomization = JSON.stringify({ secretGenerator: [{ name: "g", envs: [...envs, "plain.env"] }] });
    const files = { "kustomization.yaml": kustomization, "plain.env": Buffer.alloc(maxEncryptedFileBytes, "x") };
    const tree = treeFrom({ ...files, ...Object.fromEntries(envs.map((name) => [name, large])) });
    return decryptSources(tree, "", [], { keys, ignoreMac: false, namesOnly: false }, signal);
  };
  const most = Math.floor(maxSourceBytes / maxEncryptedFileBytes);
  await expect(decrypt(most + 1)).rejects.toThrow(
    `error decrypting sources: the encrypted files of generators and patches have more than ${maxSourceBytes} bytes`,
  );
  await expect(decrypt(most)).rejects.toThrow(/^error decrypting sources: failed to load encrypted dotenv data: /);
});
