interface Path {
  readonly node: Syntax;
}

/** The part of Babel's tree that this needs; Stryker, which has its types, is installed beside the project. */
export interface Syntax {
  readonly type: string;
  readonly name?: string;
  readonly expression?: Syntax;
  readonly body?: readonly Syntax[] | Syntax;
  readonly consequent?: Syntax;
  readonly alternate?: Syntax | null;
  readonly callee?: Syntax;
  readonly object?: Syntax;
  readonly property?: Syntax;
}

const levels = new Set(["debug", "info", "warn", "error"]);

/** A line in the log is for people: its presence, its condition and its words are not counted. */
function shouldIgnore({ node }: Path): string | undefined {
  return isLogLine(node) ? "a line in the log" : undefined;
}

/** Calls of a log, and nodes that contain nothing else: a statement, a block, a condition without an else. */
function isLogLine({ type, expression, body, consequent, alternate, callee }: Syntax): boolean {
  if (type === "ExpressionStatement") return expression !== undefined && isLogLine(expression);
  if (type === "BlockStatement") return Array.isArray(body) && body.length > 0 && body.every(isLogLine);
  if (type === "IfStatement") return !alternate && consequent !== undefined && isLogLine(consequent);
  if (callee?.type !== "MemberExpression") return false;
  const { object, property } = callee;
  const receiver = object?.type === "MemberExpression" ? object.property?.name : object?.name;
  return receiver === "log" && levels.has(property?.name ?? "");
}

/** As Stryker loads a plugin. */
export const strykerPlugins = [{ kind: "Ignore", name: "log-lines", value: { shouldIgnore } }];
