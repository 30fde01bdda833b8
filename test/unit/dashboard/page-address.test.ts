import { expect, it } from 'vitest';
import { pageAddress } from '../../../dashboard/assistant/page-address.ts';

it.each([
  ['/guides/scenes', '', 'guides%2Fscenes'],
  ['/guides/scenes#run-a-scene', '', 'guides%2Fscenes#run-a-scene'],
  ['./install.md', 'guides/scenes', 'guides%2Finstall'],
  ['../reference/api.mdx?x=1', 'guides/scenes', 'reference%2Fapi'],
  ['/', '', 'index'],
  ['../../../etc/passwd', 'guides/scenes', 'etc%2Fpasswd'],
])('links %s on the page "%s" to the page as it was indexed', (address, from, path) => {
  expect(pageAddress('lamp', address, from)).toBe(`/playground/page?site=lamp&path=${path}`);
});

it.each(['', '#top', '//evil.example/x', 'javascript:alert(1)', 'https://example.com', '/a/%zz'])(
  'links nowhere for "%s"',
  (address) => {
    expect(pageAddress('lamp', address)).toBeNull();
  },
);
