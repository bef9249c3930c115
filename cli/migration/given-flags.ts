import type { FoundController } from "./controllers.ts";

/** Of what the check calls a gate: `feature-gates.ExternalArtifact`. */
export const gatePrefix = "feature-gates.";

/** A flag, or a gate, with its values. */
export interface Given {
  readonly flag: string;
  /** In the order of the command line; by controller. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** Whether this names a gate. */
export function isGate(flag: string): boolean {
  return flag.startsWith(gatePrefix);
}

/** The flags of all controllers, gates each by itself. */
export function givenFlags(controllers: readonly FoundController[]): readonly Given[] {
  const byFlag = new Map<string, Map<string, string[]>>();
  for (const { name, args } of controllers) {
    for (const [flag, value] of flagsOf(args).flatMap(eachGate)) {
      const values = byFlag.get(flag) ?? new Map<string, string[]>();
      byFlag.set(flag, values);
      values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  return [...byFlag].map(([flag, values]) => ({ flag, values }));
}

/** `--flag=value`, `--flag value` and `--flag` for true, with one hyphen or two: those of Flagger are Go's own. */
function flagsOf(args: readonly string[]): readonly (readonly [string, string])[] {
  return args.flatMap((text, index) => {
    const [, flag, , value] = /^--?([A-Za-z][A-Za-z-]*)(=(.*))?$/s.exec(text) ?? [];
    if (flag === undefined) return [];
    const next = args[index + 1] ?? "-";
    return [[flag, value ?? (next.startsWith("-") ? "true" : next)] as const];
  });
}

function eachGate([flag, value]: readonly [string, string]): readonly (readonly [string, string])[] {
  if (flag !== "feature-gates") return [[flag, value]];
  return value.split(",").flatMap((pair) => {
    const [gate = "", of = ""] = pair.split("=").map((part) => part.trim());
    return gate === "" ? [] : [[`${gatePrefix}${gate}`, of] as const];
  });
}
