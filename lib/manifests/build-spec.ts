/** Which objects a patch or a rule is about: kustomize's selector. */
interface Selector {
  readonly group?: string;
  readonly version?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly annotationSelector?: string;
}

interface SpecPatch {
  readonly patch: string;
  readonly target?: Selector;
}

export interface SpecImage {
  readonly name: string;
  readonly newName?: string;
  readonly newTag?: string;
  readonly digest?: string;
}

/** The part of a Kustomization's spec that decides what its folder builds to. */
export interface BuildSpec {
  /** The folder inside the artifact; its root where absent or empty. */
  readonly path?: string;
  readonly targetNamespace?: string;
  readonly namePrefix?: string;
  readonly nameSuffix?: string;
  readonly patches?: readonly SpecPatch[];
  readonly images?: readonly SpecImage[];
  readonly components?: readonly string[];
  readonly ignoreMissingComponents?: boolean;
  readonly buildMetadata?: readonly string[];
  readonly commonMetadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}
