import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Digest, digestOf } from "../../../lib/core/digest.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import type { Built } from "../../../lib/manifests/build/build.ts";
import type { BuildInput } from "../../../lib/manifests/build/build-input.ts";
import { cachedBuild } from "../../../lib/manifests/build/cached-build.ts";
import { realEngine } from "../../unit/manifests/build-files.ts";

/** Artifacts that are files, for stories that the real build takes part in. */
export interface FileArtifacts {
  /** @returns the digest of the archive: a tar.gz */
  add(archive: Uint8Array): Digest;
  /** Undefined for an artifact that was not added here. */
  build(input: BuildInput, skipLinks: boolean, signal: AbortSignal): Promise<Built | undefined> | undefined;
}

export function fileArtifacts(log: Log): FileArtifacts {
  const archives = new Map<Digest, Uint8Array>();
  const follow = cachedBuild({ engine: realEngine, log });
  const skip = cachedBuild({ engine: realEngine, log, skipLinks: true });
  return {
    add: (archive) => {
      const digest = digestOf(archive);
      archives.set(digest, archive);
      return digest;
    },
    build: (input, skipLinks, signal) => {
      const archive = archives.get(input.artifact);
      return archive && (skipLinks ? skip : follow)({ ...input, archive: () => Promise.resolve(archive) }, signal);
    },
  };
}

const fixtures = join(import.meta.dirname, "../../fixtures/sops-stories");

/** A file that the real sops has encrypted; see the README beside them. */
export function encrypted(name: string): Buffer {
  return readFileSync(join(fixtures, "encrypted", name));
}

export function plain(name: string): Buffer {
  return readFileSync(join(fixtures, "plain", name));
}

/** A private key, as the decryption Secret has it. */
export function privateKey(name: "age.agekey" | "age-pq.agekey" | "another.agekey" | "pgp.asc"): string {
  return readFileSync(join(fixtures, "keys", name)).toString();
}

/** What Vault is asked for `vault.yaml`, and answers. */
export function vaultExchange(): z.infer<typeof Exchange> {
  return Exchange.parse(JSON.parse(readFileSync(join(fixtures, "vault-exchange.json")).toString()));
}

const Exchange = z.strictObject({
  request: z.strictObject({ method: z.string(), path: z.string(), body: z.json() }),
  response: z.strictObject({ status: z.number(), body: z.json() }),
});
