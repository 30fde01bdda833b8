import { expect, it } from 'vitest';
import { changedLines } from '../../../../activities/workspaces/changed-lines.ts';

it('counts changed lines, not headings that look like them', async () => {
  const patch = `diff --git a/docs/a.md b/docs/a.md
--- a/docs/a.md
+++ b/docs/a.md
@@ -1,3 +1,4 @@
-old
+++ more
+--- more
 same
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
`;
  expect(await changedLines(patch)).toEqual({ additions: 3, deletions: 1 });
  expect(await changedLines('')).toEqual({ additions: 0, deletions: 0 });
});
