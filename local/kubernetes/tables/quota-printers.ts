import { objectOf } from "../rules/json-fields.ts";
import { plainText } from "../server/plain-text.ts";
import { ageOf } from "./age.ts";
import { metadataText } from "./metadata-text.ts";
import { ageColumn, column, nameColumn, type Printer } from "./table.ts";

export const limitRangePrinter: Printer = {
  columns: [nameColumn, column("Created At", "date")],
  cells: (object) => [metadataText(object, "name"), metadataText(object, "creationTimestamp")],
};

/** Used and hard amounts, those of limits apart. */
export const quotaPrinter: Printer = {
  columns: [nameColumn, column("Request"), column("Limit"), ageColumn],
  cells: (object, now) => {
    const status = objectOf(object, "status");
    const hard = Object.entries(objectOf(status, "hard") ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const used = objectOf(status, "used");
    const shown = (isLimit: boolean): string =>
      hard
        .filter(([name]) => name.startsWith("limits.") === isLimit)
        .map(([name, amount]) => `${name}: ${plainText(used?.[name] ?? "0")}/${plainText(amount)}`)
        .join(", ");
    return [metadataText(object, "name"), shown(false), shown(true), ageOf(object, now)];
  },
};
