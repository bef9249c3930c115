import { type Scalar, SopsComment, SopsTime } from "./tree.ts";

const rfc3339 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** The time as Go prints it again with `time.RFC3339Nano`; undefined if Go does not read it. */
export function goTime(text: string): { readonly nano: string; readonly seconds: string } | undefined {
  const [, date, fraction = "", zone = ""] = rfc3339.exec(text) ?? [];
  if (date === undefined || !isDate(date)) return undefined;
  const [hours, minutes] = zone.length === 6 ? [Number(zone.slice(1, 3)), Number(zone.slice(4))] : [0, 0];
  if (hours > 23 || minutes > 59) return undefined;
  const printedZone = hours === 0 && minutes === 0 ? "Z" : zone;
  const digits = fraction.replace(/\.?0+$/, "");
  return { nano: `${date}${digits}${printedZone}`, seconds: `${date}${printedZone}` };
}

const daysOfMonths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether the day is one of the calendar, and the time one of the day. */
function isDate(text: string): boolean {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = text.split(/[-T:]/).map(Number);
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeapYear ? 29 : (daysOfMonths[month - 1] ?? 0);
  return day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
}

/** A float as `strconv.FormatFloat(value, "f", -1, 64)` prints it: the fewest digits, no exponent. */
export function plainFloat(value: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const { sign, digits, point } = decimal(value);
  if (point <= 0) return digits === "0" ? `${sign}0` : `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** A float as `strconv.FormatFloat(value, "g", -1, 64)` prints it: with an exponent below 1e-4 and from 1e6 on. */
export function shortFloat(value: number): string {
  if (!Number.isFinite(value)) return notFinite(value);
  const { sign, digits, point } = decimal(value);
  const exponent = point - 1;
  if (digits === "0" || (exponent >= -4 && exponent < 6)) return plainFloat(value);
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const padded = String(Math.abs(exponent)).padStart(2, "0");
  return `${sign}${digits.charAt(0)}${rest}e${exponent < 0 ? "-" : "+"}${padded}`;
}

function notFinite(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "+Inf" : "-Inf";
}

/** Shortest digits, and where the point stands before or behind them. */
function decimal(value: number): { sign: string; digits: string; point: number } {
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  return { sign, digits, point: digits === "0" ? 1 : Number(exponent) + 1 };
}

/** A value as the formats without types write it: sops' `ValToString`. */
export function shownScalar(value: Scalar | SopsComment): string {
  if (value === null) return "<nil>";
  if (value instanceof SopsTime) return value.text.replace(/\.\d+/, "");
  if (value instanceof SopsComment) return `{${value.text} ${value.inline}}`;
  if (value instanceof Uint8Array) return `[${value.join(" ")}]`;
  return typeof value === "number" ? shownFloat(value) : String(value);
}

/** A number that looks like an integer gets a digit after its point. */
function shownFloat(value: number): string {
  const text = shortFloat(value).replace("e", "E");
  return /[.E]|Inf|NaN/.test(text) ? text : `${plainFloat(value)}.0`;
}
