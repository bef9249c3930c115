import { z } from "zod";
import { ageColumn, type KindDeclaration, readyColumn } from "../../lib/api/kinds/declaration.ts";
import { SourceStatus } from "../../lib/api/source.ts";
import { digestOf } from "../../lib/core/digest.ts";
import { Failure } from "../../lib/core/failure.ts";
import { Outage } from "../../lib/core/ports/outage.ts";
import { setConditions } from "../../lib/flows/conditions.ts";
import type { Kind } from "../../lib/flows/kinds/kind.ts";
import { failed } from "../../lib/flows/source/source-conditions.ts";
import { sourceFlow } from "../../lib/flows/source/source-flow.ts";
import type { SourceKind } from "../../lib/flows/source/source-kind.ts";
import { archiveTree } from "../../lib/sources/archive/archive-tree.ts";

/** The content of one bucket in memory. */
export interface Shelf {
  readonly version: string;
  /** Whether it is signed; undefined if signatures are not checked. */
  readonly signed?: boolean;
  /** When it was pushed, of a bucket whose pushes are announced by events. */
  readonly pushed?: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The buckets in memory, and the faults of requests for them. */
export interface Shelves {
  readonly held: Map<string, Shelf>;
  /** How often the version of a bucket was read. */
  asked: number;
  /** How often the content of a bucket was fetched. */
  pulled: number;
  /** Buckets that never answer. */
  readonly away: Set<string>;
}

export function shelves(): Shelves {
  return { held: new Map(), asked: 0, pulled: 0, away: new Set() };
}

const MemorySpec = z.object({
  shelf: z.string().describe("The bucket in memory."),
  with: z.string().describe("Another bucket that has to be there.").exactOptional(),
  ignore: z.string().exactOptional(),
  interval: z.string().exactOptional(),
  suspend: z.boolean().exactOptional(),
});
const Status = SourceStatus.extend({
  observedIgnore: z.string().exactOptional(),
  observedName: z.string().exactOptional(),
});
const conditionByReason = { AuthenticationFailed: "SourceVerified", DependencyNotReady: "IncludeUnavailable" } as const;

const declared: KindDeclaration = {
  group: "source.toolkit.fluxcd.io",
  kind: "Bucket",
  plural: "buckets",
  shortNames: [],
  categories: ["all"],
  description: "Bucket keeps what a test holds in memory.",
  versions: ["v1"],
  columns: [readyColumn, ageColumn],
  schemas: async () => ({ spec: MemorySpec, status: Status }),
  statusManager: "source-controller",
  eventSource: "source-controller",
  isSource: true,
  words: {
    one: "bucket",
    many: "buckets",
    aliases: [],
    plural: "Buckets",
    revision: ["status", "artifact", "revision"],
    done: "fetched",
  },
};

/** A kind of source that lib, functions, infra, local and cli know only through the descriptor in this file. */
export function memoryKind(all: Shelves): Kind {
  return {
    ...declared,
    flow: (parts) => sourceFlow(memorySource(all), parts),
    failing: (before, failure, now) =>
      failed({ conditions: [...before] }, failure, now, conditionByReason).conditions ?? [],
  };
}

export function memorySource(all: Shelves): SourceKind<z.infer<typeof MemorySpec>> {
  return {
    declared,
    spec: MemorySpec,
    status: Status,
    conditionByReason,
    check: ({ shelf }) => {
      if (shelf.includes("/")) throw new Failure("UnsupportedField", "spec.shelf with a slash is not supported");
    },
    topics: ({ shelf }) => [`shelf#${shelf}`],
    resolve: async ({ shelf, ignore, with: other }, ctx) => {
      all.asked += 1;
      if (all.away.has(shelf)) throw new Outage("ReadOperationFailed", `shelf '${shelf}' does not answer`);
      if (other !== undefined && !all.held.has(other)) {
        throw new Failure("DependencyNotReady", `no artifact available for include '${other}'`);
      }
      const found = all.held.get(shelf);
      if (found === undefined) throw new Failure("ReadOperationFailed", `shelf '${shelf}' not found`);
      const { version, files, pushed, signed } = found;
      return {
        revision: version,
        file: `${version}.tar.gz`,
        observed: { observedIgnore: ignore },
        messages: {
          outdated: `new upstream revision '${version}'`,
          stored: `stored artifact: revision '${version}'`,
          event: (artifact) => `stored artifact: revision '${artifact.revision}'`,
        },
        isAnnounced: pushed !== undefined,
        pull: async (announce) => {
          await announce();
          all.pulled += 1;
          if (signed === false) throw new Failure("AuthenticationFailed", `'${version}' is not signed`);
          if (signed === true) {
            const message = `verified signature of revision ${version}`;
            const verified = { type: "SourceVerified", status: "True", reason: "Succeeded", message } as const;
            ctx.setStatus(setConditions(ctx.status(), [verified], ctx.now()));
          }
          const entries = Object.entries(files).map(([path, text]) => ({
            path,
            type: "file" as const,
            mode: 0o600,
            bytes: Buffer.from(text),
          }));
          const metadata = pushed === undefined ? {} : { "org.opencontainers.image.created": pushed };
          const bytes = await archiveTree(entries, ignore, ctx.run.signal);
          return { bytes, digest: digestOf(bytes), metadata, links: [], message: `stored ${entries.length} files` };
        },
      };
    },
  };
}
