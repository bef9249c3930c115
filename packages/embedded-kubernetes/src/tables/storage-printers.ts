import type { JsonObject } from "../core/json.ts";
import { objectOf, textOf, textsOf } from "../core/json-fields.ts";
import { ageOf } from "./age.ts";
import { ageColumn, column, metadataText, nameColumn, type Printer } from "./table.ts";

const accessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModesText(holder: JsonObject | undefined): string {
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

export const claimPrinter: Printer = {
  columns: [
    nameColumn,
    ...["Status", "Volume", "Capacity", "Access Modes", "StorageClass", "VolumeAttributesClass"].map((name) =>
      column(name),
    ),
    ageColumn,
    column("VolumeMode", "string", 1),
  ],
  cells: (object, now) => {
    const spec = objectOf(object, "spec");
    const status = objectOf(object, "status");
    const isDeleted = textOf(objectOf(object, "metadata"), "deletionTimestamp") !== "";
    const isBound = textOf(spec, "volumeName") !== "";
    return [
      metadataText(object, "name"),
      isDeleted ? "Terminating" : textOf(status, "phase"),
      textOf(spec, "volumeName"),
      isBound ? textOf(objectOf(status, "capacity"), "storage") : "",
      isBound ? accessModesText(status) : "",
      textOf(spec, "storageClassName"),
      textOf(spec, "volumeAttributesClassName") || "<unset>",
      ageOf(object, now),
      textOf(spec, "volumeMode"),
    ];
  },
};

export const storageClassPrinter: Printer = {
  columns: [
    nameColumn,
    column("Provisioner"),
    column("ReclaimPolicy"),
    column("VolumeBindingMode"),
    column("AllowVolumeExpansion"),
    ageColumn,
  ],
  cells: (object, now) => {
    const annotations = objectOf(objectOf(object, "metadata"), "annotations");
    const isDefault = textOf(annotations, "storageclass.kubernetes.io/is-default-class") === "true";
    return [
      `${metadataText(object, "name")}${isDefault ? " (default)" : ""}`,
      textOf(object, "provisioner"),
      textOf(object, "reclaimPolicy"),
      textOf(object, "volumeBindingMode"),
      object["allowVolumeExpansion"] === true,
      ageOf(object, now),
    ];
  },
};
