import { describe, expect, test } from "vitest";
import { gitTopic } from "../../../lib/core/topics.ts";

describe("the topic of a git repository", () => {
  test.each([
    "https://github.com/Org/repo",
    "https://github.com/Org/repo.git",
    "https://github.com/Org/repo/",
    "https://github.com/Org/repo.git/",
    "https://GitHub.com:443/Org/repo.git",
    "https://user:password@github.com/Org/repo",
    "http://github.com:8080/Org/repo?x=1#y",
    "ssh://git@github.com/Org/repo.git",
    "ssh://git@github.com:22/Org//repo",
    "SSH://github.com/Org/re%70o",
    "git@github.com:Org/repo.git",
    "github.com:Org/repo",
    "git@github.com:/Org/repo",
  ])("%s names the same repository", (url) => {
    expect(gitTopic(url)).toBe("git#github.com/Org/repo");
  });

  test.each([
    { url: "https://[::1]:8443/a.git", topic: "git#[::1]/a" },
    { url: "git@[::1]:a.git", topic: "git#[::1]/a" },
    { url: "ssh://host/~me/100%", topic: "git#host/~me/100%" },
    { url: "https://host/a.github", topic: "git#host/a.github" },
    { url: "https://host/a%2Fb%0A/%C3%A4", topic: "git#host/a%2Fb%0A/ä" },
    { url: "", topic: "git#" },
  ])("$url is $topic", ({ url, topic }) => {
    expect(gitTopic(url)).toBe(topic);
  });

  test("the case of a path is the repository's own: servers may keep both apart", () => {
    expect(gitTopic("https://host/A")).not.toBe(gitTopic("https://host/a"));
  });

  test("a user and a password are in no topic", () => {
    expect(gitTopic("https://me:secret@host/a")).not.toContain("secret");
    expect(gitTopic("https://me:s@cret@host/a")).toBe("git#host/a");
  });
});
