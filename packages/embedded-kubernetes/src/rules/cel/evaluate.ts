import type { Json } from "../../core/json.ts";
import { CelFailure } from "./cel-failure.ts";
import {
  type CelValue,
  isJsonList,
  isQuantity,
  isSame,
  jsonOrFail,
  listOrFail,
  mapOf,
  numberOrFail,
  orderOf,
  textOrFail,
  truth,
} from "./cel-value.ts";
import { functions } from "./functions.ts";
import type { Expression } from "./parse.ts";

export type Variables = ReadonlyMap<string, CelValue>;

/** @throws {CelFailure} for what CEL calls an error: an absent key, operands that do not fit */
export function evaluate(expression: Expression, variables: Variables): CelValue {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "name":
      return variable(expression.name, variables);
    case "list":
      return expression.items.map((item) => jsonOrFail(evaluate(item, variables)));
    case "map":
      return entriesOf(expression.entries, variables);
    case "select":
      return select(evaluate(expression.target, variables), expression.field);
    case "index":
      return indexed(evaluate(expression.target, variables), evaluate(expression.index, variables));
    case "call":
      return call(expression, variables);
    case "unary":
      return expression.operator === "!"
        ? !truth(evaluate(expression.operand, variables))
        : -numberOrFail(evaluate(expression.operand, variables));
    case "binary":
      return binary(expression, variables);
    case "choice":
      return evaluate(truth(evaluate(expression.test, variables)) ? expression.yes : expression.no, variables);
  }
}

const typeNames = new Set(["string", "int", "uint", "double", "bool", "list", "map", "null_type"]);

function variable(name: string, variables: Variables): CelValue {
  const value = variables.get(name);
  if (value !== undefined) return value;
  if (typeNames.has(name)) return name;
  throw new CelFailure(`undeclared reference to '${name}' (in container '')`);
}

function entriesOf(entries: readonly (readonly [Expression, Expression])[], variables: Variables): CelValue {
  return Object.fromEntries(
    entries.map(([key, value]) => [keyOf(evaluate(key, variables)), jsonOrFail(evaluate(value, variables))]),
  );
}

function keyOf(value: CelValue): string {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : textOrFail(value);
}

function select(target: CelValue, field: string): CelValue {
  const value = mapOf(target)?.[field];
  if (value === undefined) throw new CelFailure(`no such key: ${field}`);
  return value;
}

function indexed(target: CelValue, index: CelValue): CelValue {
  if (!isJsonList(target)) return select(target, textOrFail(index));
  const item = target[numberOrFail(index)];
  if (item === undefined) throw new CelFailure(`index out of bounds: ${numberOrFail(index)}`);
  return item;
}

type Call = Extract<Expression, { readonly kind: "call" }>;

function call({ target, name, args }: Call, variables: Variables): CelValue {
  const [first] = args;
  if (target === undefined && name === "has" && first !== undefined) return has(first, variables);
  if (target !== undefined && first?.kind === "name" && comprehensions.has(name) && args.length > 1) {
    return comprehend(name, evaluate(target, variables), first.name, args.slice(1), variables);
  }
  const operation = functions.get(name);
  if (operation === undefined) throw new CelFailure(`undeclared reference to '${name}' (in container '')`);
  const operands = target === undefined ? args : [target, ...args];
  return operation(operands.map((operand) => evaluate(operand, variables)));
}

/** Whether a field is there; what leads to it must be. */
function has(field: Expression, variables: Variables): boolean {
  if (field.kind !== "select") throw new CelFailure("invalid argument to has() macro");
  const target = evaluate(field.target, variables);
  return mapOf(target)?.[field.field] !== undefined;
}

const comprehensions = new Set(["all", "exists", "exists_one", "filter", "map"]);

function comprehend(
  name: string,
  target: CelValue,
  variableName: string,
  bodies: readonly Expression[],
  variables: Variables,
): CelValue {
  const map = mapOf(target);
  const items: readonly Json[] = map === undefined ? listOrFail(target) : Object.keys(map);
  const [first, second] = bodies;
  if (first === undefined) throw new CelFailure("no such overload");
  const run = (body: Expression, item: Json): CelValue => evaluate(body, new Map([...variables, [variableName, item]]));
  const test = (item: Json): boolean => truth(run(first, item));
  switch (name) {
    case "all":
      return settle(items, test, false);
    case "exists":
      return settle(items, test, true);
    case "exists_one":
      return items.filter(test).length === 1;
    case "filter":
      return items.filter(test);
    default:
      return second === undefined
        ? items.map((item) => jsonOrFail(run(first, item)))
        : items.filter(test).map((item) => jsonOrFail(run(second, item)));
  }
}

/** One item that decides outweighs the errors of others, as with `&&` and `||`. */
function settle(items: readonly Json[], test: (item: Json) => boolean, decisive: boolean): boolean {
  let failure: CelFailure | undefined;
  for (const item of items) {
    try {
      if (test(item) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error;
      failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

type Binary = Extract<Expression, { readonly kind: "binary" }>;

function binary({ operator, left, right }: Binary, variables: Variables): CelValue {
  if (operator === "&&" || operator === "||") return logical(operator === "||", left, right, variables);
  const [one, other] = [evaluate(left, variables), evaluate(right, variables)];
  switch (operator) {
    case "==":
      return isSame(one, other);
    case "!=":
      return !isSame(one, other);
    case "in":
      return isIn(one, other);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return ordered(operator, one, other);
    default:
      return arithmetic(operator, one, other);
  }
}

/** Either side may decide, even if the other is an error. */
function logical(decisive: boolean, left: Expression, right: Expression, variables: Variables): boolean {
  let failure: CelFailure | undefined;
  for (const side of [left, right]) {
    try {
      if (truth(evaluate(side, variables)) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function isIn(item: CelValue, container: CelValue): boolean {
  const map = mapOf(container);
  if (map !== undefined) return map[textOrFail(item)] !== undefined;
  return listOrFail(container).some((other) => isSame(other, item));
}

function ordered(operator: "<" | "<=" | ">" | ">=", one: CelValue, other: CelValue): boolean {
  const [first, second] = [orderOf(one), orderOf(other)];
  if (first === undefined || second === undefined || typeof first !== typeof second) {
    throw new CelFailure("no such overload");
  }
  switch (operator) {
    case "<":
      return first < second;
    case "<=":
      return first <= second;
    case ">":
      return first > second;
    case ">=":
      return first >= second;
  }
}

function arithmetic(operator: string, one: CelValue, other: CelValue): CelValue {
  if (operator === "+" && typeof one === "string") return one + textOrFail(other);
  if (operator === "+" && isJsonList(one)) return [...one, ...listOrFail(other)];
  if (isQuantity(one)) throw new CelFailure("no such overload");
  const [first, second] = [numberOrFail(one), numberOrFail(other)];
  switch (operator) {
    case "+":
      return first + second;
    case "-":
      return first - second;
    case "*":
      return first * second;
    case "/":
      return quotient(first, second);
    default:
      if (second === 0) throw new CelFailure("modulus by zero");
      return first % second;
  }
}

function quotient(first: number, second: number): number {
  const isWhole = Number.isInteger(first) && Number.isInteger(second);
  if (isWhole && second === 0) throw new CelFailure("division by zero");
  return isWhole ? Math.trunc(first / second) : first / second;
}
