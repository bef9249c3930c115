/** The limits for the index of a Helm repository. */
export interface IndexLimits {
  /** The limit for the downloaded index: Flux's `--helm-index-max-size`. */
  readonly maxBytes: number;
  /** The limit for the versions of all charts together. */
  readonly maxVersions: number;
  /** The limit for the stored index: JSON with indentation, with YAML aliases written out. */
  readonly maxStoredBytes: number;
  /** Time for reading, in milliseconds. */
  readonly maxMs: number;
}

/** 50 MiB as in Flux. The other limits bound memory and time. */
export const defaultIndexLimits: IndexLimits = {
  maxBytes: 52_428_800,
  maxVersions: 100_000,
  maxStoredBytes: 104_857_600,
  maxMs: 30_000,
};

/** The limit for one piece that is parsed: one version of a chart, or everything but the charts. */
export const maxPieceBytes = 1024 * 1024;

/** Aliases of YAML in what is parsed at once. */
export const maxIndexAliases = 1_000;

/** Levels that values of an index nest in. */
export const maxIndexDepth = 100;
