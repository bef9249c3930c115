/** `--status-selector`: objects whose condition has, or has not, a status. */
export interface StatusSelector {
  /** The condition's type as conditions spell it: `Ready` for `ready`. */
  readonly type: string;
  /** In lower case. */
  readonly status: string;
  readonly negated: boolean;
}

/** Reads `type=status` or `type!=status`, in any case of letters. */
export function parseStatusSelector(text: string): StatusSelector {
  const [, type, not, status] = /^([^=!]+)(!?)=([^=!]+)$/.exec(text) ?? [];
  if (type === undefined || status === undefined) {
    throw new Error(`expected status selector in type=status or type!=status format, but found: ${text}`);
  }
  const lower = type.toLowerCase();
  return { type: lower.slice(0, 1).toUpperCase() + lower.slice(1), status: status.toLowerCase(), negated: not === "!" };
}
