import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { openVectorWriter } from '../../../../search/build/vectors.ts';
import { publicPages, type PageAccess } from '../../../../search/query/page-access.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import { buildPage, fileOf } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const folder = temporaryDirectory();
const names = ['staff', 'Partners', 'équipe', 'a b', '"quoted"'];
const spellings = names.flatMap((name) => [name, name.toUpperCase(), ` ${name} `]);

function normalised(name: string): string {
  return name.trim().toLowerCase().normalize('NFC');
}

function mayRead(access: PageAccess, groups: readonly string[] | null): boolean {
  if (access === 'all' || groups === null) return true;
  return groups.some((group) => access.groups.some((own) => normalised(own) === normalised(group)));
}

it('shows a reader every public page, those of their groups, and no other, in generated cases', () => {
  const anyGroups = fc.option(fc.subarray(spellings, { maxLength: 3 }), { nil: null });
  const anyAccess = fc.oneof(
    fc.constant<PageAccess>('all'),
    fc.constant(publicPages),
    fc.record({ groups: fc.subarray([...spellings, 'unknown'], { maxLength: 4 }) }),
  );
  const site = fc.array(anyGroups, { minLength: 20, maxLength: 20 });
  const readers = fc.array(anyAccess, { minLength: 25, maxLength: 25 });
  const numRuns = propertyRuns(20);
  let built = 0;
  let cases = 0;
  fc.assert(
    fc.property(site, readers, (groupsOf, accesses) => {
      const file = join(folder, `access-${built++}.db`);
      const pages = groupsOf.map((restrictedTo, at) =>
        buildPage({
          path: `p${at}`,
          order: at,
          restrictedTo,
          metadata: { title: `Page ${at}` },
          content: `# Lamp\n\nThe lamp has number${at}.`,
        }),
      );
      buildIndex(pages, { file });
      {
        using writer = openVectorWriter(file, { model: 'compatible/embed' });
        writer.add(
          writer.missing,
          writer.missing.map((_text, at) => [1, at / 100]),
        );
      }
      using opened = openSiteIndex(file);
      for (const access of accesses) {
        const index = opened.as(access);
        const meant = index.search({ query: '?', vector: [1, 0], limit: 100 });
        const near = new Set(meant.map(({ path }) => path));
        const found = new Set(index.search({ query: 'lamp number', limit: 100 }).map(({ path }) => path));
        const suggested = new Set(index.suggest({ query: 'pag', limit: 100 }).map(({ path }) => path));
        const listed = new Set(index.pages({ from: 0, limit: 100 }).map(({ path }) => path));
        for (const [at, groups] of groupsOf.entries()) {
          const path = `p${at}`;
          const seen = [
            found.has(path),
            near.has(path),
            suggested.has(path),
            listed.has(path),
            index.page(path) !== null,
            index.hasLink(path, null),
          ];
          expect(seen, `${path} of ${JSON.stringify(groups)} as ${JSON.stringify(access)}`).toEqual(
            Array.from({ length: 6 }, () => mayRead(access, groups)),
          );
          cases += 1;
        }
      }
    }),
    { numRuns },
  );
  expect(cases).toBe(numRuns * 25 * 20);
});

it('finds the public page among many that are hidden', () => {
  const file = join(folder, 'many.db');
  const hidden = Array.from({ length: 600 }, (_, at) =>
    buildPage({
      path: `h${at}`,
      restrictedTo: ['staff'],
      content: `# Set the retry limit\n\nThe retry limit is ${at}.`,
    }),
  );
  buildIndex([...hidden, buildPage({ path: 'open', content: 'Something about the retry limit.' })], { file });
  using opened = openSiteIndex(file);
  const found = (access: PageAccess) => opened.as(access).search({ query: 'set the retry limit', limit: 5 });
  expect(found(publicPages).map(({ path }) => path)).toEqual(['open']);
  expect(found({ groups: ['staff'] })).toHaveLength(5);
  const nearby = opened.as(publicPages).search({ query: 'retry limit', limit: 5, currentPath: 'h7' });
  expect(nearby.map(({ path }) => path)).toEqual(['open']);
  const asked = opened.as(publicPages).search({ query: 'https://example.com/retry/h7', limit: 5 });
  expect(asked.map(({ path }) => path)).toEqual(['open']);
});

it.each([
  ['groups: [staff]', ['staff']],
  ['groups: staff, partners', ['staff', 'partners']],
  ['groups:\n  - staff\n  - 7', ['staff', '7']],
  ['title: A page', null],
  ['groups: []', null],
  ['groups:', null],
  ['Groups: [staff]', ['staff']],
  ['shared: &shared { groups: [staff] }\n<<: *shared', ['staff']],
  // what cannot be understood keeps the page from everybody
  ['groups: { staff: true }', []],
  ['groups: [[staff]]', []],
  ['groups: true', []],
  ['groups: [staff', []],
  ['title: "A\ngroups: [staff]', []],
  ['groups: [staff]\ngroups: []', []],
  ['groups: []\nGroups: [staff]', []],
  ['GROUPS: [staff', []],
])('reads who may see a page from %j', async (frontMatter, expected) => {
  const [page] = [...(await readPages([fileOf('a.md', `---\n${frontMatter}\n---\n\n# A page\n`)]))];
  expect(page).toMatchObject({ restrictedTo: expected });
});

it('keeps a page whose front matter does not end from everybody if it names groups', async () => {
  const [page] = [...(await readPages([fileOf('a.md', '---\ntitle: A\ngroups: [staff]\n\n# A page\n')]))];
  expect(page).toMatchObject({ restrictedTo: [] });
  const [open] = [...(await readPages([fileOf('b.md', '---\n\nSome groups: three of them.\n')]))];
  expect(open).toMatchObject({ restrictedTo: null });
});

it('reads who may see a page below blank lines, and with a byte order mark', async () => {
  const text = '---\ngroups: [staff]\n---\n\n# A page\n';
  for (const start of ['\uFEFF', '\n', ' \r\n\n'])
    expect(await readPages([fileOf('a.md', start + text)])).toMatchObject([{ restrictedTo: ['staff'] }]);
});

it('includes no text of a page for groups in another page', async () => {
  const including =
    "import Prices from './prices.md';\nimport Note from './note.md';\n\n# A\n\n<Prices />\n\n<Note />\n";
  const files = { 'a.mdx': including, 'prices.md': '---\ngroups: [staff]\n---\n\nA secret.\n', 'note.md': 'A note.\n' };
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  const [page] = pages.filter(({ path }) => path === 'a');
  expect(page?.content).toContain('A note.');
  expect(page?.content).not.toContain('secret');
});

it('does not take a section of the navigation for a group of readers', async () => {
  const navigation = { navigation: { groups: [{ group: 'Guides', pages: ['a'] }] } };
  const pages = [...(await readPages([fileOf('docs.json', JSON.stringify(navigation)), fileOf('a.md', '# A\n')]))];
  expect(pages).toMatchObject([{ path: 'a', metadata: { groups: ['Guides'] }, restrictedTo: null }]);
});
