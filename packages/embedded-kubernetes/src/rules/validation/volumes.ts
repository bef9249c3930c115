import { duplicate, forbidden, invalidValue, notFound, notSupported, required } from "../../core/field-errors.ts";
import type { JsonObject } from "../../core/json.ts";
import { numberOf, objectOf, objectsOf, textOf } from "../../core/json-fields.ts";
import { type Errors, each, none, requiredName, requiredText } from "./checks.ts";
import { configMapKey, dnsLabel } from "./name-rules.ts";

type Check = (source: JsonObject, path: string) => Errors;

const maxMode = 0o777;
const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** In the order in which the server looks at them: the first one counts, each further one is one too many. */
const sources: readonly (readonly [string, Check])[] = [
  ["emptyDir", () => none],
  ["hostPath", hostPathErrors],
  ["gitRepo", (source, path) => requiredText(`${path}.repository`, textOf(source, "repository"))],
  ["secret", (source, path) => filesErrors(source, path, "secretName")],
  ["nfs", nfsErrors],
  ["iscsi", () => none],
  ["persistentVolumeClaim", (source, path) => requiredText(`${path}.claimName`, textOf(source, "claimName"))],
  ["downwardAPI", (source, path) => modeErrors(source, "defaultMode", path)],
  ["fc", () => none],
  ["configMap", (source, path) => filesErrors(source, path, "name")],
  ["projected", projectedErrors],
  ["csi", (source, path) => requiredText(`${path}.driver`, textOf(source, "driver"))],
  [
    "ephemeral",
    (source, path) =>
      objectOf(source, "volumeClaimTemplate") === undefined ? [required(`${path}.volumeClaimTemplate`)] : none,
  ],
  ["image", (source, path) => requiredText(`${path}.reference`, textOf(source, "reference"))],
];

export interface Volumes {
  /** Names that mounts may refer to: of the volumes without an error. */
  readonly names: ReadonlySet<string>;
  readonly errors: Errors;
}

export function checkVolumes(volumes: readonly JsonObject[], path: string): Volumes {
  const names = new Set<string>();
  const errors = each(volumes, path, (volume, at) => {
    const name = textOf(volume, "name");
    const found = [
      ...sourceErrors(volume, at),
      ...requiredName(`${at}.name`, name, dnsLabel),
      ...(names.has(name) ? [duplicate(`${at}.name`, name)] : none),
    ];
    if (found.length === 0) names.add(name);
    return found;
  });
  return { names, errors };
}

function sourceErrors(volume: JsonObject, path: string): Errors {
  const present = sources.flatMap(([field, check]) => {
    const source = objectOf(volume, field);
    return source === undefined ? [] : [{ field, check, source }];
  });
  return present.flatMap(({ field, check, source }, index) =>
    index === 0
      ? check(source, `${path}.${field}`)
      : [forbidden(`${path}.${field}`, "may not specify more than 1 volume type")],
  );
}

function hostPathErrors(source: JsonObject, path: string): Errors {
  const type = textOf(source, "type");
  const directory = textOf(source, "path");
  if (directory === "") return [required(`${path}.path`)];
  return [
    ...backstepErrors(`${path}.path`, directory),
    ...(hostPathTypes.includes(type) ? none : [notSupported(`${path}.type`, type, hostPathTypes)]),
  ];
}

function nfsErrors(source: JsonObject, path: string): Errors {
  const directory = textOf(source, "path");
  return [
    ...requiredText(`${path}.server`, textOf(source, "server")),
    ...requiredText(`${path}.path`, directory),
    ...(directory.startsWith("/") ? none : [invalidValue(`${path}.path`, directory, "must be an absolute path")]),
  ];
}

function filesErrors(source: JsonObject, path: string, nameField: string): Errors {
  return [
    ...requiredText(`${path}.${nameField}`, textOf(source, nameField)),
    ...modeErrors(source, "defaultMode", path),
    ...each(objectsOf(source, "items"), `${path}.items`, keyToPathErrors),
  ];
}

function keyToPathErrors(item: JsonObject, path: string): Errors {
  const target = textOf(item, "path");
  return [
    ...requiredName(`${path}.key`, textOf(item, "key"), configMapKey),
    ...requiredText(`${path}.path`, target),
    ...localPathErrors(`${path}.path`, target),
    ...modeErrors(item, "mode", path),
  ];
}

function modeErrors(source: JsonObject, field: string, path: string): Errors {
  const mode = numberOf(source, field);
  const isValid = mode === undefined || (mode >= 0 && mode <= maxMode);
  return isValid
    ? none
    : [invalidValue(`${path}.${field}`, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}

function projectedErrors(source: JsonObject, path: string): Errors {
  return [
    ...modeErrors(source, "defaultMode", path),
    ...each(objectsOf(source, "sources"), `${path}.sources`, (projection, at) => [
      ...["secret", "configMap"].flatMap((field) => {
        const files = objectOf(projection, field);
        return files === undefined ? none : filesErrors(files, `${at}.${field}`, "name");
      }),
      ...tokenErrors(objectOf(projection, "serviceAccountToken"), `${at}.serviceAccountToken`),
    ]),
  ];
}

function tokenErrors(token: JsonObject | undefined, path: string): Errors {
  if (token === undefined) return none;
  const seconds = numberOf(token, "expirationSeconds") ?? 3600;
  return [
    ...(seconds < 600
      ? [invalidValue(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes")]
      : none),
    ...requiredText(`${path}.path`, textOf(token, "path")),
  ];
}

function localPathErrors(field: string, path: string): Errors {
  return [
    ...(path.startsWith("/") ? [invalidValue(field, path, "must be a relative path")] : none),
    ...backstepErrors(field, path),
  ];
}

function backstepErrors(field: string, path: string): Errors {
  return path.split("/").includes("..") ? [invalidValue(field, path, "must not contain '..'")] : none;
}

/** Mounts name a volume of the Pod, each path once. */
export function mountErrors(container: JsonObject, volumes: ReadonlySet<string>, path: string): Errors {
  const paths = new Set<string>();
  return each(objectsOf(container, "volumeMounts"), `${path}.volumeMounts`, (mount, at) => {
    const name = textOf(mount, "name");
    const mountPath = textOf(mount, "mountPath");
    const isTaken = paths.has(mountPath);
    paths.add(mountPath);
    return [
      ...requiredText(`${at}.name`, name),
      ...(volumes.has(name) ? none : [notFound(`${at}.name`, name)]),
      ...requiredText(`${at}.mountPath`, mountPath),
      ...(isTaken ? [invalidValue(`${at}.mountPath`, mountPath, "must be unique")] : none),
      ...localPathErrors(`${at}.subPath`, textOf(mount, "subPath")),
      ...localPathErrors(`${at}.subPathExpr`, textOf(mount, "subPathExpr")),
      ...(textOf(mount, "subPath") !== "" && textOf(mount, "subPathExpr") !== ""
        ? [
            invalidValue(
              `${at}.subPathExpr`,
              textOf(mount, "subPathExpr"),
              "subPathExpr and subPath are mutually exclusive",
            ),
          ]
        : none),
    ];
  });
}
