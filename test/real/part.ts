import type { Addresses } from "./addresses.ts";
import type { Program } from "./versions.ts";

export const partNames = ["control-plane", "eks", "dynamodb", "sqs", "s3", "aws", "registry", "prometheus"] as const;
export type PartName = (typeof partNames)[number];

/** A stand-in for a service of AWS or of others, which runs as processes on loopback. */
export interface Part {
  readonly name: PartName;
  readonly installations: readonly Installation[];
  /** Starts every process and answers once the part does; throws a `PartFailure` if it does not. */
  readonly start: (run: PartRun) => Promise<Addresses>;
  /** Whether a part that was started earlier still answers. */
  readonly answers: (addresses: Addresses) => Promise<boolean>;
}

/** One program, or a few that are built together, kept in the cache folder by version. */
export interface Installation {
  readonly program: Program;
  /** Installations of several toolchains are made at the same time, those of one after its first, at most two at once. */
  readonly toolchain: "go" | "maven" | "npm" | "python";
  /** Files of this folder that say what is installed: a change of one makes a new installation. */
  readonly locks: readonly string[];
  /** The disk space that it needs at most, with the caches of its package manager. */
  readonly needsMegabytes: number;
  readonly install: (folder: string, build: Build) => Promise<void>;
}

export interface Build {
  /** Runs a tool to its end, with its output in the installation's log; throws a `PartFailure` with the end of that log. */
  readonly run: (tool: string, args: readonly string[], options: BuildOptions) => Promise<void>;
}

export interface BuildOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface PartRun {
  /** The folder of an installed program. */
  readonly installed: (program: Program) => string;
  /** Empty at first; deleted when the part is stopped. */
  readonly folder: string;
  readonly audit: boolean;
  /** Free ports of loopback. */
  readonly ports: (count: number) => Promise<readonly number[]>;
  readonly spawn: (process: ProcessSpec) => Promise<void>;
  /** Looks again until the answer is true; throws a `PartFailure` at once if a process has died, or after a minute and a half. */
  readonly until: (what: string, isTrue: () => Promise<boolean>) => Promise<void>;
}

export interface ProcessSpec {
  /** Names its pid file and its log. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}
