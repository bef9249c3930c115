import type { Scenario } from "../scenario.ts";
import { specs } from "../scenario.ts";
import { at, files, keys, put } from "./the-bucket.ts";

export const buckets: readonly Scenario[] = [
  {
    name: "what a bucket takes",
    steps: [
      { what: "everything", change: put(files), apply: (hosts, place) => [keys, at(hosts, place)] },
      ...specs(
        {
          "a prefix": { prefix: "a/" },
          "a prefix of nothing": { prefix: "none/" },
          "a prefix that is half a name": { prefix: "lo" },
          "a prefix with a slash": { prefix: "/a" },
          "an ignore rule": { ignore: "a/\n" },
          "an ignore rule that is a comment": { ignore: "# x\n" },
          "an empty ignore": { ignore: "" },
          "everything ignored": { ignore: "*\n" },
          "ignore and prefix": { prefix: "a/", ignore: "!a/one.yaml\n" },
          "a region": { region: "eu-central-1" },
          suspended: { suspend: true },
          "all again": {},
        },
        at,
      ),
      { what: "a .sourceignore", change: put({ ...files, ".sourceignore": "b/\n" }) },
      { what: "a .sourceignore below", change: put({ ...files, "a/.sourceignore": "*\n" }) },
      {
        what: "a .sourceignore and a prefix",
        change: put({ ...files, ".sourceignore": "a/\n" }),
        apply: (hosts, place) => [at(hosts, place, { prefix: "a/" })],
      },
      {
        what: "folders",
        change: put({ "a/": "", "a/one.yaml": "1", "b/": "" }),
        apply: (hosts, place) => [at(hosts, place)],
      },
      { what: "only folders", change: put({ "a/": "" }) },
      { what: "dots", change: put({ "./a": "1", "b//c": "2" }) },
    ],
  },
  {
    name: "a bucket that comes and goes",
    isStory: true,
    steps: [
      { what: "that is missing", apply: (hosts, place) => [keys, at(hosts, place)] },
      { what: "that is empty", change: put({}) },
      { what: "with objects", change: put(files) },
      { what: "emptied", change: put({}) },
      { what: "that is gone", change: ({ buckets: all }, place) => void all.delete(place) },
      { what: "deleted", remove: ["Bucket/app"] },
    ],
  },
];
