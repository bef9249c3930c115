/** A mutant that no test can notice, since it behaves like the code that it replaces. */
export interface Equivalent {
  /** From the root of the project. */
  readonly file: string;
  /** The first line of the mutant's place, without the space around it. */
  readonly line: string;
  /** The replaced text. */
  readonly from: string;
  /** Its replacement in the mutant. */
  readonly to: string;
  readonly why: string;
}

export const equivalents: readonly Equivalent[] = [
  {
    file: "lib/queue/rules.ts",
    line: "if (attemptBackOffMs(attempts) <= leaseMs) return takeLease({ ...item, attempts, died: true }, waking);",
    from: "attemptBackOffMs(attempts) <= leaseMs",
    to: "attemptBackOffMs(attempts) < leaseMs",
    why: "No back-off is as long as a lease: they are 48 s and 96 s, on either side of its 60 s.",
  },
  {
    file: "lib/queue/sweep.ts",
    line: "signal.throwIfAborted();",
    from: "signal.throwIfAborted();",
    to: ";",
    why: "The loop, mapLimit, begins nothing more and throws the signal's reason itself; only the log would differ.",
  },
  {
    file: "lib/apply/apply-all.ts",
    line: "throw new ApplyError(`${subject(desired.ref)} not found: its definition or namespace did not appear`);",
    from: "`${subject(desired.ref)} not found: its definition or namespace did not appear`",
    to: "``",
    why: "Never thrown: planDeferred leaves nothing deferred, and only the compiler does not know.",
  },
  {
    file: "lib/apply/apply-all.ts",
    line: 'let last = "";',
    from: '""',
    to: '"Stryker was here!"',
    why: "Overwritten by the first look, and there always is one.",
  },
  {
    file: "lib/apply/apply-object.ts",
    line: "const isGone = (live: LiveObject | undefined) => (live === undefined || live.metadata.uid !== uid ? true : undefined);",
    from: "true",
    to: "false",
    why: "Whatever is not undefined says that it is gone.",
  },
  {
    file: "lib/apply/refusals.ts",
    line: 'const faults = causes.length === 0 ? [message] : causes.map((cause) => cause.message ?? "");',
    from: '""',
    to: '"Stryker was here!"',
    why: "Neither text is one of those that a fault is known by.",
  },
  {
    file: "lib/apply/plan-objects.ts",
    line: 'return ref.group === "" && ref.kind === "Namespace";',
    from: 'ref.group === ""',
    to: "true",
    why: "A kind of that name of another group only has its dry run earlier: cascadeScopeOf makes no namespace of it.",
  },
  {
    file: "lib/queue/observe-resource.ts",
    line: "return JSON.stringify([uid, generation, annotations[requestedAtAnnotation] ?? null, deletionTimestamp !== undefined]);",
    from: "deletionTimestamp !== undefined",
    to: "deletionTimestamp === undefined",
    why: "A summary is only compared with another: either word tells the two cases apart.",
  },
];
