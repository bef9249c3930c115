import type { Layer } from "../check-layers.ts";

/** The Kubernetes API of sluice local, by folders of its package. Its docs/layers.md shows this list. */
export const embeddedKubernetesLayers: readonly Layer[] = [
  {
    folder: "src/core",
    imports: [],
    why: "JSON, objects of the API, and values as Go reads and prints them.",
  },
  {
    folder: "src/store",
    imports: ["src/core"],
    why: "Objects and their history in SQLite.",
  },
  {
    folder: "src/schema",
    imports: ["src/core"],
    why: "Types of the built-in kinds and of definitions.",
  },
  {
    folder: "src/resource",
    imports: ["src/core", "src/schema"],
    why: "A resource in one of its versions, built in or defined by a user.",
  },
  {
    folder: "src/crd",
    imports: ["src/core", "src/schema", "src/resource"],
    why: "Definitions of kinds as resources.",
  },
  {
    folder: "src/fields",
    imports: ["src/core", "src/schema"],
    why: "Server-side apply: managed fields.",
  },
  {
    folder: "src/patch",
    imports: ["src/core", "src/schema", "src/fields"],
    why: "The three kinds of patches.",
  },
  {
    folder: "src/protobuf",
    imports: ["src/core"],
    why: "Bodies in protobuf.",
  },
  {
    folder: "src/rules/cel",
    imports: ["src/core", "src/schema"],
    why: "CEL in validation rules.",
  },
  {
    folder: "src/rules/custom",
    imports: ["src/core", "src/schema", "src/rules/cel"],
    why: "Rules of structural schemas.",
  },
  {
    folder: "src/rules/defaults",
    imports: ["src/core", "src/schema"],
    why: "Defaults of the built-in kinds.",
  },
  {
    folder: "src/rules/validation",
    imports: ["src/core"],
    why: "Validation of the built-in kinds.",
  },
  {
    folder: "src/rules",
    imports: [
      "src/core",
      "src/schema",
      "src/rules/cel",
      "src/rules/custom",
      "src/rules/defaults",
      "src/rules/validation",
    ],
    why: "All that happens to an object before it is stored.",
  },
  {
    folder: "src/tables",
    imports: ["src/core", "src/resource"],
    why: "Tables that kubectl prints.",
  },
  {
    folder: "src/controllers",
    imports: ["src/core", "src/rules/validation", "src/rules"],
    why: "The controllers reach the API by a client that they are given.",
  },
  {
    folder: "src/server",
    imports: [
      "src/core",
      "src/store",
      "src/schema",
      "src/resource",
      "src/crd",
      "src/fields",
      "src/patch",
      "src/protobuf",
      "src/rules/validation",
      "src/rules",
      "src/tables",
      "src/controllers",
    ],
    why: "A request to a resource, from its path to its answer.",
  },
  {
    folder: "src/discovery",
    imports: ["src/core", "src/schema", "src/resource", "src/server"],
    why: "Discovery and OpenAPI documents of what the server serves.",
  },
  {
    folder: "src",
    imports: ["src/core", "src/store", "src/resource", "src/controllers", "src/server", "src/discovery"],
    why: "Starts the server, and hands each request to discovery or to a resource.",
  },
];
