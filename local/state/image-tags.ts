import type { ImageTags } from "../../lib/core/ports/image-tags.ts";
import { digestOfPages, packTags, unpackTags } from "../../lib/core/tag-pages.ts";
import { formatWorkKey } from "../../lib/core/work-key.ts";
import { bytesColumn, numberColumn, type StateDatabase, textColumn } from "./state-database.ts";

export function sqliteImageTags({ connection, fenced, transaction }: StateDatabase): ImageTags {
  const select = connection.prepare("SELECT revision, count, digest FROM image_tags WHERE key = ?");
  const put = connection.prepare(
    "INSERT OR REPLACE INTO image_tags (key, revision, count, digest) VALUES (?, ?, ?, ?)",
  );
  const remove = connection.prepare("DELETE FROM image_tags WHERE key = ?");
  const selectPages = connection.prepare("SELECT tags FROM image_tag_pages WHERE key = ? ORDER BY page");
  const putPage = connection.prepare("INSERT INTO image_tag_pages (key, page, tags) VALUES (?, ?, ?)");
  const removePages = connection.prepare("DELETE FROM image_tag_pages WHERE key = ?");
  return {
    async put({ tags, revision }, fence, signal) {
      signal.throwIfAborted();
      const key = formatWorkKey(fence.key);
      const pages = packTags(tags);
      const digest = digestOfPages(pages);
      const row = select.get(key);
      if (row !== undefined && textColumn(row, "digest") === digest && textColumn(row, "revision") === revision) return;
      fenced(fence, () => {
        removePages.run(key);
        for (const [page, bytes] of pages.entries()) putPage.run(key, page, bytes);
        put.run(key, revision, tags.length, digest);
      });
    },
    async get(repository, signal) {
      signal.throwIfAborted();
      const key = formatWorkKey(repository);
      return transaction(() => {
        const row = select.get(key);
        if (row === undefined) return undefined;
        const pages = selectPages.all(key).map((page) => bytesColumn(page, "tags"));
        return { tags: unpackTags(pages), revision: textColumn(row, "revision") };
      });
    },
    async describe(repository, signal) {
      signal.throwIfAborted();
      const row = select.get(formatWorkKey(repository));
      return row === undefined
        ? undefined
        : { revision: textColumn(row, "revision"), count: numberColumn(row, "count") };
    },
    async remove(fence, signal) {
      signal.throwIfAborted();
      const key = formatWorkKey(fence.key);
      if (select.get(key) === undefined) return;
      fenced(fence, () => {
        remove.run(key);
        removePages.run(key);
      });
    },
  };
}
