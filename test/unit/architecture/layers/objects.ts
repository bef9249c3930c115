import type { Layer } from "../check-layers.ts";

/** From files to objects in a cluster, and what Sluice sends and receives beside them. */
export const objectLayers: readonly Layer[] = [
  {
    folder: "lib/manifests",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/sources/archive", "lib/manifests/go-yaml"],
    why: "From files to objects: the steps of a build.",
  },
  {
    folder: "lib/sources/generator",
    imports: ["lib/core", "lib/api", "lib/sources/archive", "lib/manifests/go-yaml", "lib/manifests"],
    why: "Files of several sources become one archive. It reads and writes YAML as builds do, and knows no kind of source.",
  },
  {
    folder: "lib/sources/helm",
    imports: [
      "lib/core",
      "lib/core/ports",
      "lib/sources",
      "lib/sources/archive",
      "lib/manifests/go-yaml",
      "lib/manifests",
    ],
    why: "Helm charts and indexes of their repositories, as Go reads and writes them. Their YAML has the limits of manifests.",
  },
  {
    folder: "lib/manifests/substitute",
    imports: ["lib/core", "lib/manifests/go-yaml", "lib/manifests"],
    why: "Substitution in the text of one object.",
  },
  {
    folder: "lib/manifests/sealed",
    imports: ["lib/core", "lib/core/ports", "lib/sops", "lib/sops/stores", "lib/manifests"],
    why: "Finds the parts of a text that are encrypted, or that quote encrypted parts.",
  },
  {
    folder: "lib/manifests/thread",
    imports: ["lib/core", "lib/threads", "lib/manifests", "lib/manifests/substitute", "lib/manifests/sealed"],
    why: "Runs the steps above in a thread if their input is large.",
  },
  {
    folder: "lib/manifests/decrypt",
    imports: [
      "lib/core",
      "lib/core/ports",
      "lib/api",
      "lib/sops",
      "lib/sops/file",
      "lib/manifests/go-yaml",
      "lib/manifests",
      "lib/manifests/sealed",
      "lib/manifests/thread",
    ],
    why: "Decrypts files and objects; the format of sops is in `lib/sops`.",
  },
  {
    folder: "lib/manifests/build",
    imports: [
      "lib/core",
      "lib/core/ports",
      "lib/api",
      "lib/threads",
      "lib/manifests",
      "lib/manifests/substitute",
      "lib/manifests/sealed",
      "lib/manifests/thread",
      "lib/manifests/decrypt",
    ],
    why: "A whole build, of the steps, substitution and decryption.",
  },
  {
    folder: "lib/apply/ignore",
    imports: ["lib/core"],
    why: "The rules for ignored fields in the spec of an apply set.",
  },
  {
    folder: "lib/apply/set",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/apply/ignore"],
    why: "Code that plan, apply and prune share: the owner, the ids and order of its objects, their labels and managers.",
  },
  {
    folder: "lib/apply/prune",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/apply/set"],
    why: "Decides from facts what is deleted. It imports neither plan nor apply.",
  },
  {
    folder: "lib/apply",
    imports: [
      "lib/core",
      "lib/core/ports",
      "lib/api",
      "lib/health",
      "lib/apply/ignore",
      "lib/apply/set",
      "lib/apply/prune",
    ],
    why: "Plan, apply and inventory; an inventory that is out of date is pruned with care.",
  },
  {
    folder: "lib/receiver",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/cel"],
    why: "Deliveries of webhooks. It wakes objects by a port and knows no flow.",
  },
  {
    folder: "lib/git-hosts",
    imports: ["lib/core", "lib/core/ports", "lib/sources/git"],
    why: "The APIs of GitHub, GitLab and Gitea: addresses, logins and faults, for all requests. A GitHub App logs in as for git.",
  },
  {
    folder: "lib/image/pull-request",
    imports: ["lib/core", "lib/core/ports", "lib/git-hosts", "lib/manifests", "lib/image"],
    why: "Pull requests for the pushes of automations, on each known host. Errors are masked as those of builds.",
  },
  {
    folder: "lib/in-cluster",
    imports: ["lib/core/ports"],
    why: "Decides which Services of its cluster an object reaches, and how. It knows no kind.",
  },
  {
    folder: "lib/notify",
    imports: [
      "lib/core",
      "lib/core/ports",
      "lib/api",
      "lib/api/kinds",
      "lib/cel",
      "lib/secrets",
      "lib/in-cluster",
      "lib/git-hosts",
      "lib/manifests/go-yaml",
      "lib/manifests",
    ],
    why: "Sends events: which Alerts they match, and what a Provider sends. It reads objects by ports and knows no flow.",
  },
  {
    folder: "lib/notify/git",
    imports: ["lib/notify"],
    why: "Code that the types for git hosts share: commits and comments.",
  },
  {
    folder: "lib/notify/providers",
    imports: ["lib/core", "lib/core/ports", "lib/git-hosts", "lib/notify", "lib/notify/git"],
    why: "One file for each type of Provider.",
  },
  {
    folder: "lib/admission",
    imports: ["lib/core", "lib/core/ports"],
    why: "Answers admission reviews from their content alone.",
  },
  {
    folder: "lib/configuration",
    imports: ["lib/core", "lib/core/ports", "lib/api"],
    why: "Sluice's own objects in the cluster, as the deploy writes them.",
  },
  {
    folder: "lib/definitions",
    imports: ["lib/core", "lib/core/ports", "lib/api", "lib/api/kinds", "lib/gate", "lib/sources"],
    why: "Definitions of the kinds and Sluice's rights, installed and removed through the gate.",
  },
];
