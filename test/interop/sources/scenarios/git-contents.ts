import { type Scenario, specs } from "../scenario.ts";
import { at, begin, commit, files, main } from "./the-repository.ts";

const moduleFile = '[submodule "x"]\n\tpath = x\n\turl = ../none.git\n';

export const gitContents: readonly Scenario[] = [
  {
    name: "what a git repository takes",
    steps: [
      { what: "everything", change: begin, apply: (hosts, place) => [at(hosts, place, main)] },
      ...specs(
        {
          "an ignore rule": { ...main, ignore: "b/\n" },
          "an ignore rule that re-includes": { ...main, ignore: "/*\n!/a\n" },
          "an ignore rule that is a comment": { ...main, ignore: "# nothing\n" },
          "an empty ignore": { ...main, ignore: "" },
          sparse: { ...main, sparseCheckout: ["a"] },
          "sparse with a dot": { ...main, sparseCheckout: ["./a", "b/"] },
          "sparse of a file": { ...main, sparseCheckout: ["a/one.yaml"] },
          "sparse of a missing folder": { ...main, sparseCheckout: ["none"] },
          "sparse outside": { ...main, sparseCheckout: ["../a"] },
          "sparse absolute": { ...main, sparseCheckout: ["/a"] },
          "sparse of everything": { ...main, sparseCheckout: ["."] },
          "sparse empty": { ...main, sparseCheckout: [""] },
          "submodules without any": { ...main, recurseSubmodules: true },
          "everything again": main,
        },
        at,
      ),
      {
        what: "submodules that are missing",
        change: (hosts, place) => commit(hosts, place, { ...files, ".gitmodules": moduleFile }),
        apply: (hosts, place) => [at(hosts, place, { ...main, recurseSubmodules: true })],
      },
    ],
  },
  {
    name: "commits of a git repository",
    isStory: true,
    steps: [
      {
        what: "the first",
        change: (hosts, place) => commit(hosts, place, files),
        apply: (hosts, place) => [at(hosts, place, main)],
      },
      {
        what: "only ignored files change",
        change: (hosts, place) => commit(hosts, place, { ...files, "image.png": "other" }),
      },
      {
        what: "an empty message",
        change: (hosts, place) => commit(hosts, place, { ...files, "d.yaml": "d: 1\n" }, ""),
      },
      {
        what: "a .sourceignore",
        change: (hosts, place) => commit(hosts, place, { ...files, ".sourceignore": "a/\n" }),
      },
      {
        what: "everything is ignored",
        change: (hosts, place) => commit(hosts, place, { ...files, ".sourceignore": "*\n" }),
      },
      { what: "no files", change: (hosts, place) => commit(hosts, place, {}) },
    ],
  },
];
