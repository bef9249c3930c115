import { describe, expect, test } from "vitest";
import { gitTopic, repositoryTopic } from "../../../lib/core/topics.ts";

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

  test("letter case in the path is kept, because servers may distinguish it", () => {
    expect(gitTopic("https://host/A")).not.toBe(gitTopic("https://host/a"));
  });

  test("a username and a password are never part of the topic", () => {
    expect(gitTopic("https://me:secret@host/a")).not.toContain("secret");
    expect(gitTopic("https://me:s@cret@host/a")).toBe("git#host/a");
  });
});

describe("the topic of a repository in a registry", () => {
  test.each([
    ["123456789012.dkr.ecr.eu-west-1.amazonaws.com:443", "123456789012.dkr.ecr.eu-west-1.amazonaws.com"],
    ["123456789012.dkr-ecr.eu-west-1.on.aws", "123456789012.dkr.ecr.eu-west-1.amazonaws.com"],
    ["123456789012.dkr.ecr-fips.us-east-1.amazonaws.com", "123456789012.dkr.ecr.us-east-1.amazonaws.com"],
    ["123456789012.dkr-ecr-fips.us-east-1.on.aws", "123456789012.dkr.ecr.us-east-1.amazonaws.com"],
    ["123456789012.dkr-ecr.cn-north-1.on.aws", "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn"],
    ["123456789012.dkr.ecr-fips.us-iso-east-1.c2s.ic.gov", "123456789012.dkr.ecr.us-iso-east-1.c2s.ic.gov"],
    ["123456789012.dkr-ecr.eusc-de-east-1.on.aws", "123456789012.dkr.ecr.eusc-de-east-1.amazonaws.eu"],
  ])("is the same for %s and for the registry's usual host", (host, usual) => {
    expect(repositoryTopic(host, "team/app")).toBe(`repo#${usual}/team/app`);
    expect(repositoryTopic(usual, "team/app")).toBe(`repo#${usual}/team/app`);
  });

  test.each([
    "ghcr.io",
    "registry.example.com:443",
    "123.dkr-ecr.eu-west-1.on.aws",
    "123456789012.dkr-ecr.eu-west-1.on.aws.evil.example",
  ])("is the same as the host for any other registry: %s", (host) => {
    expect(repositoryTopic(host, "team/app")).toBe(`repo#${host}/team/app`);
  });
});
