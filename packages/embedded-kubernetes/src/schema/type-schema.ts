import type { Json } from "../core/json.ts";

/**
 * What the server knows of one type: the words of OpenAPI v3 and of its `x-kubernetes-` extensions, references already
 * followed. Properties of built-in types resolve when they are first read.
 */
export interface TypeSchema {
  /** Of a built-in struct, its name among the types: `core.v1.PodSpec`. */
  readonly goType?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly properties?: { readonly [field: string]: TypeSchema };
  readonly additionalProperties?: TypeSchema;
  readonly items?: TypeSchema;
  readonly required?: readonly string[];
  readonly default?: Json;
  readonly enum?: readonly Json[];
  readonly format?: string;
  readonly nullable?: boolean;

  /** `x-kubernetes-list-type`; a list without one is atomic. */
  readonly listType?: "map" | "set" | "atomic";
  readonly mapKeys?: readonly string[];
  /** `x-kubernetes-map-type`; a map or object without one is granular. */
  readonly mapType?: "granular" | "atomic";
  /** `x-kubernetes-patch-strategy`: `merge`, `retainKeys`, `replace`, or `merge,retainKeys`. */
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly intOrString?: boolean;
  readonly quantity?: boolean;
  readonly preserveUnknown?: boolean;
  readonly embeddedResource?: boolean;
  /** Lies below a field with `preserveUnknown`: an apply may then send unknown fields here, though pruning drops them. */
  readonly holdsUnknown?: boolean;

  /** Value rules of a custom resource definition. */
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly TypeSchema[];
  readonly anyOf?: readonly TypeSchema[];
  readonly oneOf?: readonly TypeSchema[];
  readonly not?: TypeSchema;
  /** `x-kubernetes-validations`, as written. */
  readonly validations?: readonly Json[];
}
