import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { Diff, Hunk } from 'react-diff-view';
import { expect, it } from 'vitest';
import { highlighted } from '../../../../dashboard/diff/highlight.ts';
import { readPatch } from '../../../../dashboard/diff/read-patch.ts';

it('colors syntax with classes that mean nothing else in the page', () => {
  const lines = '+Use `code` and **bold `code`**.\n+```js\n+const a = 1;\n+```\n';
  const patch = `diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1 +1,5 @@\n one\n${lines}`;
  const [file] = readPatch(patch).files;
  const hunks = file!.hunks;
  const shown = createElement(Diff, {
    viewType: 'unified',
    diffType: 'modify',
    hunks,
    tokens: highlighted(file!),
    children: (hunks) => hunks.map((hunk) => createElement(Hunk, { key: hunk.content, hunk })),
  });
  const names = [...renderToStaticMarkup(shown).matchAll(/class="([^"]*)"/g)].flatMap(([, value]) => value!.split(' '));
  expect(names).toContain('token-code');
  expect(names.filter((name) => !/^(?:token-|diff)/.test(name))).toEqual([]);
});
