import { isIP } from "node:net";
import { ConversionError } from "../../core/conversion-error.ts";
import { findPattern, matchesPattern } from "../../core/go-pattern.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { CelFailure } from "./cel-failure.ts";
import {
  type CelValue,
  durationOf,
  isJsonList,
  isQuantity,
  isSame,
  listOrFail,
  numberOrFail,
  orderOf,
  quantityOf,
  textOrFail,
  timestampOf,
  typeNameOf,
} from "./cel-value.ts";

type Operation = (args: readonly CelValue[]) => CelValue;

/** Functions, by name; of a method the first argument is what it is called on. */
export const functions: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["size", ([value]) => sizeOf(value)],
  ["string", ([value]) => stringOf(value)],
  ["int", ([value]) => Math.trunc(toNumber(value))],
  ["uint", ([value]) => Math.trunc(toNumber(value))],
  ["double", ([value]) => toNumber(value)],
  ["bool", ([value]) => (typeof value === "string" ? value === "true" : value === true)],
  ["type", ([value]) => typeNameOf(value ?? null)],
  ["dyn", ([value]) => value ?? null],
  ["duration", ([text]) => durationOf(textOrFail(text))],
  ["timestamp", ([text]) => timestampOf(textOrFail(text))],
  ["quantity", ([text]) => quantityOf(textOrFail(text))],
  ["isQuantity", ([text]) => isParsable(() => quantityOf(textOrFail(text)))],
  ["isURL", ([text]) => URL.canParse(textOrFail(text))],
  ["isIP", ([text]) => isIP(textOrFail(text)) !== 0],
  ["matches", ([text, pattern]) => matches(textOrFail(text), textOrFail(pattern))],
  ["contains", ([text, part]) => textOrFail(text).includes(textOrFail(part))],
  ["startsWith", ([text, part]) => textOrFail(text).startsWith(textOrFail(part))],
  ["endsWith", ([text, part]) => textOrFail(text).endsWith(textOrFail(part))],
  ["lowerAscii", ([text]) => textOrFail(text).toLowerCase()],
  ["upperAscii", ([text]) => textOrFail(text).toUpperCase()],
  ["trim", ([text]) => textOrFail(text).trim()],
  ["replace", ([text, from, to]) => textOrFail(text).replaceAll(textOrFail(from), textOrFail(to))],
  ["split", ([text, separator]) => textOrFail(text).split(textOrFail(separator))],
  [
    "join",
    ([list, separator]) =>
      listOrFail(list)
        .map((item) => textOrFail(item))
        .join(separator === undefined ? "" : textOrFail(separator)),
  ],
  [
    "substring",
    ([text, from, to]) => textOrFail(text).slice(numberOrFail(from), to === undefined ? undefined : numberOrFail(to)),
  ],
  ["charAt", ([text, at]) => textOrFail(text).charAt(numberOrFail(at))],
  ["indexOf", ([value, part]) => indexOf(value, part)],
  ["lastIndexOf", ([text, part]) => textOrFail(text).lastIndexOf(textOrFail(part))],
  ["find", ([text, pattern]) => findPattern(textOrFail(pattern), textOrFail(text))],
  ["sum", ([list]) => listOrFail(list).reduce<number>((sum, item) => sum + numberOrFail(item), 0)],
  ["min", ([list]) => extreme(listOrFail(list), (one, other) => one < other)],
  ["max", ([list]) => extreme(listOrFail(list), (one, other) => one > other)],
  ["isSorted", ([list]) => isSorted(listOrFail(list))],
  ["isGreaterThan", ([one, other]) => compareQuantities(one, other) > 0n],
  ["isLessThan", ([one, other]) => compareQuantities(one, other) < 0n],
  ["compareTo", ([one, other]) => Number(BigInt.asIntN(64, sign(compareQuantities(one, other))))],
  ["getScheme", ([text]) => new URL(textOrFail(text)).protocol.replace(/:$/, "")],
  ["getHost", ([text]) => new URL(textOrFail(text)).host],
  ["getHostname", ([text]) => new URL(textOrFail(text)).hostname],
  ["getPort", ([text]) => new URL(textOrFail(text)).port],
  ["url", ([text]) => urlOf(textOrFail(text))],
]);

function sizeOf(value: CelValue | undefined): number {
  if (typeof value === "string") return Array.from(value).length;
  if (isJsonList(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  throw new CelFailure("no such overload");
}

function stringOf(value: CelValue | undefined): string {
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return String(value);
  throw new CelFailure("no such overload");
}

function toNumber(value: CelValue | undefined): number {
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw new CelFailure("type conversion error from 'string' to 'int'");
  return number;
}

function matches(text: string, pattern: string): boolean {
  return matchesPattern(pattern, text);
}

function isParsable(parse: () => CelValue): boolean {
  try {
    parse();
    return true;
  } catch (error) {
    if (error instanceof ConversionError) return false;
    throw error;
  }
}

function urlOf(text: string): string {
  if (!URL.canParse(text)) throw new CelFailure(`URL parse error during conversion from string: ${text}`);
  return text;
}

function indexOf(value: CelValue | undefined, part: CelValue | undefined): number {
  if (typeof value === "string") return value.indexOf(textOrFail(part));
  return listOrFail(value).findIndex((item) => isSame(item, part ?? null));
}

function extreme(
  list: readonly Json[],
  isBetter: (one: number | string | bigint | boolean, other: number | string | bigint | boolean) => boolean,
): CelValue {
  const [first, ...rest] = list;
  if (first === undefined) throw new CelFailure("min called on empty list");
  return rest.reduce<Json>((best, item) => (isBetter(orderOf(item) ?? 0, orderOf(best) ?? 0) ? item : best), first);
}

function isSorted(list: readonly Json[]): boolean {
  return list.every((item, index) => index === 0 || (orderOf(list[index - 1] ?? 0) ?? 0) <= (orderOf(item) ?? 0));
}

function compareQuantities(one: CelValue | undefined, other: CelValue | undefined): bigint {
  if (one === undefined || other === undefined || !isQuantity(one) || !isQuantity(other)) {
    throw new CelFailure("no such overload");
  }
  return one.quantity.nanos - other.quantity.nanos;
}

function sign(value: bigint): bigint {
  if (value === 0n) return 0n;
  return value > 0n ? 1n : -1n;
}
