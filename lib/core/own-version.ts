import manifest from "../../package.json" with { type: "json" };

/** The version of this package, for example `0.1.0`. */
export const ownVersion: string = manifest.version;
