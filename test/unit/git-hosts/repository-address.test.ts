import { describe, expect, test } from "vitest";
import { repositoryAddress } from "../../../lib/git-hosts/repository-address.ts";

describe("the address of a repository", () => {
  test.each([
    ["https://github.com/stefanprodan/podinfo", "https://github.com", "stefanprodan/podinfo"],
    ["https://github.com/stefanprodan/podinfo.git", "https://github.com", "stefanprodan/podinfo"],
    ["http://git.example:8080/a/b?c=d#e", "http://git.example:8080", "a/b"],
    ["https://jane:secret@git.example/a/b", "https://git.example", "a/b"],
    ["ssh://git@git.example:2222/a/b.git", "https://git.example:2222", "a/b"],
    ["git@gitlab.com:group/sub/project.git", "https://gitlab.com", "group/sub/project"],
    ["git.example:a/b", "https://git.example", "a/b"],
    ["HTTPS://git.example//a/b", "https://git.example", "a/b"],
    ["https://[::1]:3000/a/b", "https://[::1]:3000", "a/b"],
    ["https://git.example/my%20group/%C3%BC.git", "https://git.example", "my group/ü"],
    ["https://git.example", "https://git.example", ""],
    ["git+ssh://git.example/a/b", "git+ssh://git.example", "a/b"],
    ["oci://git.example/a/b", "https://oci", "git.example/a/b"],
    ["/srv/a/b.git", "file://", "srv/a/b"],
    ["", "file://", ""],
  ])("%s is at %s, with the ID %s", (address, origin, id) => {
    expect(repositoryAddress(address)).toEqual({ origin, id });
  });
});
