import type { JsonObject } from "../../../lib/core/json.ts";
import { numberOf, objectOf, objectsOf, textOf, textsOf } from "../rules/json-fields.ts";
import { plainText } from "../server/plain-text.ts";
import { ageOf } from "./age.ts";
import { metadataText } from "./metadata-text.ts";
import { ageColumn, column, nameColumn, type Printer } from "./table.ts";

const accessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

export function accessModesText(holder: JsonObject | undefined): string {
  return textsOf(holder, "accessModes")
    .map((mode) => accessModes[mode] ?? mode)
    .join(",");
}

export const volumePrinter: Printer = {
  columns: [
    nameColumn,
    ...[
      "Capacity",
      "Access Modes",
      "Reclaim Policy",
      "Status",
      "Claim",
      "StorageClass",
      "VolumeAttributesClass",
      "Reason",
    ].map((name) => column(name)),
    ageColumn,
    column("VolumeMode", "string", 1),
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const status = objectOf(object, "status");
    const claim = objectOf(spec, "claimRef");
    const isDeleted = textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
    return [
      metadataText(object, "name"),
      textOf(objectOf(spec, "capacity"), "storage"),
      accessModesText(spec),
      textOf(spec, "persistentVolumeReclaimPolicy"),
      isDeleted ? "Terminating" : textOf(status, "phase"),
      claim === undefined ? "" : `${textOf(claim, "namespace")}/${textOf(claim, "name")}`,
      textOf(spec, "storageClassName"),
      textOf(spec, "volumeAttributesClassName") || "<unset>",
      textOf(status, "reason"),
      ageOf(object, now),
      textOf(spec, "volumeMode") || "<unset>",
    ];
  },
};

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

export const revisionPrinter: Printer = {
  columns: [nameColumn, column("Controller"), column("Revision"), ageColumn],
  cells: (object, now) => {
    const owner = objectsOf(objectOf(object, "metadata"), "ownerReferences").find((one) => one["controller"] === true);
    const group = textOf(owner, "apiVersion").includes("/")
      ? `.${textOf(owner, "apiVersion").split("/")[0] ?? ""}`
      : "";
    const controller =
      owner === undefined ? "<none>" : `${textOf(owner, "kind").toLowerCase()}${group}/${textOf(owner, "name")}`;
    return [metadataText(object, "name"), controller, numberOf(object, "revision") ?? 0, ageOf(object, now)];
  },
};

export const runtimeClassPrinter: Printer = {
  columns: [nameColumn, column("Handler"), ageColumn],
  cells: (object, now) => [metadataText(object, "name"), textOf(object, "handler"), ageOf(object, now)],
};
