import type { Layer } from "../check-layers.ts";

/** From a source to files: origins, archives, sops, images. */
export const sourceLayers: readonly Layer[] = [
  {
    folder: "lib/sources",
    imports: ["lib/core", "lib/core/ports"],
    why: "Code that sources share: versions, listings, who follows a change.",
  },
  {
    folder: "lib/sources/archive",
    imports: ["lib/core"],
    why: "Tar archives, whatever source they come from.",
  },
  {
    folder: "lib/sources/collect",
    imports: ["lib/core", "lib/core/ports"],
    why: "Finds artifacts that no source names. It knows stores and records, but no kind of source.",
  },
  {
    folder: "lib/sources/git",
    imports: ["lib/core", "lib/core/ports", "lib/threads", "lib/sources"],
    why: "git's protocol. It returns objects, and does not know what they are used for.",
  },
  {
    folder: "lib/sources/git/checkout",
    imports: ["lib/core", "lib/sources/archive", "lib/sources/git"],
    why: "Files of a commit, as an archive holds them.",
  },
  {
    folder: "lib/sources/git/write",
    imports: ["lib/core", "lib/sources/git"],
    why: "Makes commits in memory and pushes them. It does not know what is in the files.",
  },
  {
    folder: "lib/sources/git/verify",
    imports: ["lib/core", "lib/sources/git"],
    why: "Signatures of commits and tags, on git's objects.",
  },
  {
    folder: "lib/sources/bucket",
    imports: ["lib/core", "lib/core/ports", "lib/sources/archive"],
    why: "Buckets of any provider, and their objects as an archive. It does not know where credentials come from.",
  },
  {
    folder: "lib/sources/oci",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/sources", "lib/sources/archive"],
    why: "Registries, and archives as layers.",
  },
  {
    folder: "lib/sources/oci/verify",
    imports: ["lib/core", "lib/core/ports", "lib/sources/oci"],
    why: "Signatures of cosign for an artifact in a registry.",
  },
  {
    folder: "lib/sources/oci/verify/notation",
    imports: ["lib/core", "lib/sources/oci", "lib/sources/oci/verify"],
    why: "Signatures of Notation.",
  },
  {
    folder: "lib/sops",
    imports: ["lib/core"],
    why: "The trees, keys and ciphers of sops. Its caller passes the keys.",
  },
  {
    folder: "lib/sops/stores",
    imports: ["lib/sops"],
    why: "The file formats of sops, which make trees.",
  },
  {
    folder: "lib/sops/file",
    imports: ["lib/core", "lib/threads", "lib/sops", "lib/sops/stores"],
    why: "A whole file: a store, then the tree.",
  },
  {
    folder: "lib/sops/keys",
    imports: ["lib/core", "lib/core/ports", "lib/identity", "lib/sops"],
    why: "The key services. They know neither files nor formats.",
  },
  {
    folder: "lib/manifests/go-yaml",
    imports: ["lib/core"],
    why: "YAML as Go prints and reads it.",
  },
  {
    folder: "lib/image",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/sources/oci"],
    why: "The decisions and texts of image automation, on plain values: it reaches no registry, no repository and no cluster.",
  },
  {
    folder: "lib/image/setters",
    imports: ["lib/core", "lib/image", "lib/manifests/go-yaml"],
    why: "Changes the values that markers name, in place. It gets its files from the caller, and does not know git.",
  },
];
