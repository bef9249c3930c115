import { numberOf, objectsOf, textOf, textsOf } from "../core/json-fields.ts";
import { plainText } from "../core/plain-text.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

export const endpointsPrinter: Printer = {
  columns: [nameColumn, column("Endpoints"), ageColumn],
  cells: (object, now) => {
    const all = objectsOf(object, "subsets").flatMap((subset) => {
      const ports = objectsOf(subset, "ports").map((port) => `:${numberOf(port, "port") ?? 0}`);
      const addresses = objectsOf(subset, "addresses").map((address) => textOf(address, "ip"));
      return addresses.flatMap((address) =>
        ports.length === 0 ? [address] : ports.map((port) => `${address}${port}`),
      );
    });
    return [metadataText(object, "name"), firstThree(all, "<none>"), ageOf(object, now)];
  },
};

export const endpointSlicePrinter: Printer = {
  columns: [nameColumn, column("AddressType"), column("Ports"), column("Endpoints"), ageColumn],
  cells: (object, now) => [
    metadataText(object, "name"),
    textOf(object, "addressType"),
    firstThree(
      objectsOf(object, "ports").map((port) => plainText(port["port"]) || "*"),
      "<unset>",
    ),
    firstThree(
      objectsOf(object, "endpoints").flatMap((endpoint) => textsOf(endpoint, "addresses")),
      "<unset>",
    ),
    ageOf(object, now),
  ],
};

function firstThree(all: readonly string[], none: string): string {
  if (all.length === 0) return none;
  const shown = all.slice(0, 3).join(",");
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown;
}
