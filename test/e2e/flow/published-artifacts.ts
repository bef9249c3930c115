import { type Digest, digestOf } from "../../../lib/core/digest.ts";
import { Failure } from "../../../lib/core/failure.ts";
import { canonicalJson, formatJson, toJsonObject } from "../../../lib/core/json.ts";
import type { Manifest } from "../../../lib/core/manifest.ts";
import type { Cluster } from "../../../lib/core/ports/cluster.ts";
import type { Log } from "../../../lib/core/ports/log.ts";
import type { KustomizationDeps } from "../../../lib/flows/kustomization/context.ts";
import { substituteObjects } from "../../../lib/manifests/build/substitute-objects.ts";
import { finishBuild } from "../../../lib/manifests/finish-build.ts";
import { goYamlText } from "../../../lib/manifests/go-yaml/emit.ts";
import { carriesSecret } from "../../../lib/manifests/secrets.ts";
import { artifactOf, type Files } from "../../unit/manifests/build-files.ts";
import { withCanary } from "../canary.ts";
import { fileArtifacts } from "./file-artifacts.ts";
import type { MemoryState } from "./memory-state.ts";
import type { WorldSettings } from "./world-settings.ts";

/** How an artifact is published. */
export interface Published {
  /** The annotations of the artifact, beside those of the one before; null takes one away. */
  readonly metadata?: Readonly<Record<string, string | null>>;
  /** The namespace of the source, which is created if it is missing: that of the world by default. */
  readonly within?: string;
  /** The name of the source, which is created if it is not `repo`. */
  readonly source?: string;
  /** What each folder of the artifact holds, for Kustomizations that name one as their path: any other does not build. */
  readonly folders?: Readonly<Record<string, readonly Manifest[]>>;
}

/** The artifacts of a world's sources. */
export interface PublishedArtifacts {
  /** Creates the namespace of a world, with the source `repo` in it. */
  readonly beginNamespace: (name: string) => Promise<void>;
  /** Those that were begun. */
  readonly namespaces: ReadonlySet<string>;
  /** Names what the next artifact holds, with the canary in its Secrets; the source shows it at once. Answers its revision. */
  readonly publish: (tag: string, manifests: readonly Manifest[], more?: Published) => Promise<string>;
  /** The same for an artifact of files, which the real build builds. The canary is in them already, where it should be. */
  readonly publishFiles: (tag: string, files: Files) => Promise<string>;
  /** The same for an archive (tar.gz) that no source of ours would pack. */
  readonly publishArchive: (tag: string, archive: Uint8Array) => Promise<string>;
  readonly build: KustomizationDeps["build"];
  /** The Secrets that were built, as canonical JSON. */
  readonly secrets: ReadonlySet<string>;
}

interface ArtifactsDeps {
  readonly cluster: Cluster;
  readonly namespace: string;
  /** What the artifacts hold, by digest. */
  readonly stored: Map<string, readonly Manifest[]>;
  readonly log: Log;
  readonly settings: Pick<WorldSettings, "fault" | "skipLinks">;
  readonly state: Pick<MemoryState, "record">;
}

const { signal } = new AbortController();

export function publishedArtifacts(deps: ArtifactsDeps): PublishedArtifacts {
  const { cluster, namespace, stored, settings } = deps;
  const foldersOf = new Map<string, NonNullable<Published["folders"]>>();
  const namespaces = new Set<string>();
  const secretsBuilt = new Set<string>();
  const artifacts = fileArtifacts(deps.log);
  const createSource = async (name: string, within: string): Promise<void> => {
    const metadata = { name, namespace: within };
    const spec = { interval: "1h", url: "oci://127.0.0.1:1/repo" };
    const source = { apiVersion: "source.toolkit.fluxcd.io/v1", kind: "OCIRepository", metadata, spec };
    await cluster.apply(source, { manager: "test", force: true }, signal);
  };
  const beginNamespace = async (name: string): Promise<void> => {
    const manager = "test";
    await cluster.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }, { manager }, signal);
    namespaces.add(name);
    await createSource("repo", name);
  };
  const publishArchive = (tag: string, archive: Uint8Array): Promise<string> => {
    const digest = artifacts.add(archive);
    stored.set(digest, []);
    return show(tag, digest, { within: namespace, source: "repo" }, deps);
  };
  return {
    beginNamespace,
    namespaces,
    secrets: secretsBuilt,
    publish: async (tag, plain, { metadata, within = namespace, source = "repo", folders: plainFolders } = {}) => {
      const manifests = plain.map(withCanary);
      const folders =
        plainFolders &&
        Object.fromEntries(Object.entries(plainFolders).map(([path, held]) => [path, held.map(withCanary)]));
      if (within !== namespace) await beginNamespace(within);
      if (source !== "repo") await createSource(source, within);
      const digest: Digest = digestOf(formatJson([tag, manifests, folders]));
      stored.set(digest, manifests);
      if (folders !== undefined) foldersOf.set(digest, folders);
      return show(tag, digest, { metadata, within, source }, deps);
    },
    publishFiles: async (tag, files) => publishArchive(tag, await artifactOf(files)),
    publishArchive,
    build: async (input, stop) => {
      const { artifact: digest, archive, spec, owner, postBuild } = input;
      await settings.fault("build");
      if ((await archive()) === undefined) return undefined;
      const ofFiles = artifacts.build(input, settings.skipLinks, stop);
      if (ofFiles !== undefined) return ofFiles;
      const folder = spec.path === undefined ? stored.get(digest) : foldersOf.get(digest)?.[spec.path];
      if (folder === undefined) throw new Failure("BuildFailed", `kustomization path not found: ${spec.path}`);
      const objects = folder.map(({ metadata, ...rest }) => {
        const placed = spec.targetNamespace === undefined ? metadata : { namespace: spec.targetNamespace, ...metadata };
        return toJsonObject({ ...rest, metadata: placed });
      });
      const output = { objects, text: objects.map((object) => goYamlText(object)).join("---\n") };
      const substituted =
        postBuild === undefined
          ? output
          : await substituteObjects(output, postBuild, { files: new Map(), folder: "" }, stop);
      const manifests = finishBuild(substituted.objects, owner, spec.commonMetadata);
      const { secrets = [] } = postBuild ?? {};
      for (const manifest of manifests) if (manifest.kind === "Secret") secretsBuilt.add(canonicalJson(manifest));
      return {
        manifests,
        digest: digestOf(canonicalJson(folder)),
        carriesSecret: secrets.length > 0 || carriesSecret(manifests, { files: new Map() }, spec),
        secrets,
      };
    },
  };
}

/** Shows an artifact in the status of its source. Answers its revision. */
async function show(
  tag: string,
  digest: Digest,
  {
    metadata,
    within,
    source,
  }: Pick<Required<Published>, "source" | "within"> & { readonly metadata?: Published["metadata"] | undefined },
  { cluster, state }: Pick<ArtifactsDeps, "cluster" | "state">,
): Promise<string> {
  const revision = `${tag}@${digest}`;
  const artifact = {
    digest,
    revision,
    path: "p",
    url: "http://127.0.0.1/p",
    lastUpdateTime: "2026-01-01T00:00:00Z",
    metadata: { ...metadata },
  };
  const group = "source.toolkit.fluxcd.io";
  const ref = { group, version: "v1", kind: "OCIRepository", namespace: within, name: source };
  const body = { status: { artifact } };
  const { metadata: live } = await cluster.patch(
    ref,
    { type: "merge", body },
    { manager: "test", subresource: "status" },
    signal,
  );
  await state.record({ ...ref, cluster: "test" }, live.uid, digest);
  return revision;
}
