import { describe, expect, it } from 'vitest';
import { inactiveMarkdown, inactiveWords } from '../../../../activities/publish/inactive-text.ts';
import { bodyOf, commitMessageOf } from '../../../../activities/publish/pull-request-text.ts';
import { readers } from '../../../suites/fuzz/links/readers.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

const gap = '\u200b';

describe('text for titles and commits', () => {
  it.each([
    ['Fixes #12', 'Fixes (#12)'],
    ['closes: acme/lamp#3 and more', 'closes: (acme/lamp#3) and more'],
    ['Resolved\nGH-4', 'Resolved\n(GH-4)'],
    ['fix https://github.com/a/b/issues/5.', 'fix (https://github.com/a/b/issues/5).'],
    ['Implements issue #7', 'Implements issue (#7)'],
    ['Thank @ada, a@b.c and @acme/team', `Thank @${gap}ada, a@b.c and @${gap}acme/team`],
    ['Thank _@ada_, __@bo__, _a_@cy and @.dee', `Thank _@${gap}ada_, __@${gap}bo__, _a_@${gap}cy and @${gap}.dee`],
    ['clo\u017fes #1, fixe\u017f: #2', 'clo\u017fes (#1), fixe\u017f: (#2)'],
    ['\u017f\u212aip-checks: true, --\u017fkip-ci', '\u017f\u212aip-checks = true, \u017fkip-ci'],
    ['Fix the lamp [skip ci] [ci skip] [No CI]', 'Fix the lamp (skip ci) (ci skip) (No CI)'],
    ['Fixes PROJ-1, closes: ACME_2-34', 'Fixes (PROJ-1), closes: (ACME_2-34)'],
    ['fixes eng-12 and completes Eng-13', 'fixes (eng-12) and completes (Eng-13)'],
    ['PROJ-34 #close #time 2h', `PROJ-34 #${gap}close #${gap}time 2h`],
    ['----skip-ci and -----ci-skip', 'skip-ci and ci-skip'],
    ['Done [skip_ci] [ci-skip] ***NO_CI*** --skip-ci', 'Done (skip_ci) (ci-skip) (NO_CI) skip-ci'],
    ['Done\n\nskip-checks: true', 'Done\n\nskip-checks = true'],
    ['Done.\n\nSigned-off-by: A <a@b.c>\rAgent-Job: job_2', 'Done.\n\n  Signed-off-by: A <a@b.c>\n  Agent-Job: job_2'],
  ])('of %j becomes %j', (text, expected) => {
    expect(inactiveWords(text)).toBe(expected);
  });

  it.each([
    'Fix the colour of #12',
    'See #3, !4 and [a](b)',
    'prefix #1',
    'Say who: x',
    'a -- b',
    'Fixes the sha-256 of PROJ-1',
    '[a](b) #tag',
    'no CI yet',
  ])('leaves %j as it is', (text) => {
    expect(inactiveWords(text)).toBe(text);
  });
});

/** Patterns that the services document, or show in their source, for commit messages and pull request titles. */
const services: [name: string, pattern: RegExp][] = [
  ['GitHub Actions', /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks: ?true/im],
  ['GitLab', /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i],
  ['Gitea and Forgejo', /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]/i],
  ['Bitbucket', /\[(?:skip ci|ci skip)\]/i],
  [
    'Azure Pipelines',
    /\[(?:skip (?:ci|azurepipelines|azpipelines|azp)|(?:ci|azurepipelines|azpipelines|azp) skip)\]|\*\*\*NO_CI\*\*\*|skip-checks: ?true/i,
  ],
  ['CircleCI, Semaphore, Drone, Buildkite', /\[(?:ci[ -]skip|skip[ -]ci)\]/i],
  ['Travis', /\[(?:skip[ -](?:travis(?:[ -]?ci)?|ci)|(?:travis(?:[ -]?ci)?|ci)[ -]skip)\]/i],
  ['Jenkins', /.*\[ci skip\].*/i],
  ['AppVeyor', /\[(?:skip ci|ci skip|skip appveyor|appveyor skip)\]/i],
  ['Netlify', /\[(?:skip ci|ci skip|skip netlify|netlify skip)\]/i],
  ['Vercel', /\[(?:skip vercel|vercel skip|skip ci)\]/i],
  ['Cloudflare', /\[(?:ci[ -]skip|skip[ -]ci|cf-(?:pages|workers)-skip)\]/i],
  ['Codeship', /--(?:skip-ci|ci-skip)/i],
  ['Woodpecker', /\[(?:ci *skip|skip *ci)\]/i],
  ['Drone and Harness', /\[(?:ci skip|skip ci)\]|\*\*\*no_ci\*\*\*/i],
  ['Buildkite and Scrutinizer', /\[(?:ci[ _-]skip|skip[ _-]ci)\]/i],
  [
    'Render, Amplify, semantic-release, Screwdriver',
    /\[(?:skip[ -](?:render|deploy|cd|release|pr)|(?:render|deploy|release)[ -]skip)\]/i,
  ],
  ['pre-commit.ci', /\[(?:skip pre-commit\.ci|pre-commit\.ci skip)\]/i],
  [
    'Bitbucket, issues',
    /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|reopen(?:s|ing)?|hold(?:s|ing)?|wontfix|invalidat(?:e|es|ing)):? +(?:issues? +)?#\d+/i,
  ],
  [
    'GitLab, issues',
    /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +(?:issues? +)?(?:#\d+|[A-Z][A-Z_0-9]+-\d+)/,
  ],
  [
    'Linear',
    /\b(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|complet(?:e[sd]?|ing)|implement(?:s|ed|ing)?):? +(?:#\d+|[a-z][a-z\d]*-\d+)/i,
  ],
  ['Jira', /\b[A-Z][A-Z0-9_]+-\d+[^\n]*#(?:close|resolve|comment|time|start-progress)\b/],
];

/** Prow, Lighthouse and GitLab read commands in lines of a description, even in code. */
const command = /^\/[a-z]/im;

it('leaves nothing that a service acts on, however it is spelled', () => {
  const blank = fc.constantFrom(' ', '_', '-', '  ', '\u00a0', '\u2003', '\t', '', '\n');
  const word = fc.constantFrom(
    'skip',
    'ci',
    'no',
    'actions',
    'CI',
    'Skip',
    'azp',
    'azurepipelines',
    'travis',
    'travis-ci',
    'appveyor',
    'netlify',
    'vercel',
    'cf',
    'pages',
    'checks',
    'NO_CI',
    'no_ci',
    'render',
    'release',
    'cd',
    'pre-commit.ci',
    'wontfix',
    'holds',
    'skip-checks',
    'true',
    'fixes',
    'Closes',
    'PROJ-1',
    'eng-7',
    '#12',
    '/lgtm',
    '/hold cancel',
    '```',
    '#close',
    'word',
  );
  const sign = fc.constantFrom('[', ']', '***', ':', ': ', '--', ', ', '', '(', ')');
  const text = fc.array(fc.oneof(word, blank, sign), { maxLength: 14 });
  const mark = fc.tuple(word, blank, word).map((parts) => ['[', ...parts, ']']);
  fc.assert(
    fc.property(fc.array(fc.oneof(text, mark), { maxLength: 4 }), (parts) => {
      const message = parts.flat().join('');
      const text = { jobId: 'job_1', title: 'x', prompts: [message], message, unfinished: message };
      const code = { ...text, message: `\`${message.replaceAll('`', '')}\``, checked: message, template: message };
      const bodies = [bodyOf(text), bodyOf(code)];
      const said = [inactiveWords(message), commitMessageOf({ ...text, title: message }), ...bodies];
      expect(services.filter(([, pattern]) => said.some((one) => pattern.test(one)))).toEqual([]);
      expect(bodies.filter((body) => command.test(body))).toEqual([]);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

it('starts no line of a description with a GitLab or Prow command', () => {
  const message =
    'Done.\n/merge\n  /assign @root\n\n````text\n/usr/bin\n```\n/close\n`````\n/approve\n```a`\r/label ~x';
  const body = bodyOf({ jobId: 'job_1', title: 'x', prompts: ['/lgtm\nfix it'], message, unfinished: null });
  expect(body).toContain('```text\n /lgtm\nfix it\n```');
  expect(body).toContain(
    `Done.\n\\/merge\n  \\/assign @${gap}root\n\n\`\`\`\`text\n /usr/bin\n\`\`\`\n /close\n\`\`\`\`\`\n\\/approve\n\`\`\`a\`\n\\/label ~x`,
  );
});

it('recognizes a command spelled with a letter that forges fold to ASCII', () => {
  const body = bodyOf({ jobId: 'job_1', title: 'x', prompts: ['fix it'], message: '/\u017fpend 3h', unfinished: null });
  expect(body).toContain('\\/\u017fpend 3h');
});

describe('Markdown for descriptions', () => {
  it.each([
    ['Use `@scope/x <b> fixes #1` here', 'Use `@scope/x <b> fixes #1` here'],
    ['```html\n<p>@ada</p>\n```\n@ada', `\`\`\`html\n<p>@ada</p>\n\`\`\`\n@${gap}ada`],
    ['~~~\n@ada\n~~~~', '~~~\n@ada\n~~~~'],
    ['See <https://x.test/@a> and <b>', `See <https://x.test/@${gap}a> and &lt;b>`],
    ['<a href="`">x`', '&lt;a href="`">x`'],
    ['a < b & c', 'a < b & c'],
    ['&#64;ada &commat;ada', '&amp;#64;ada &amp;commat;ada'],
    ['fixes \\#1, closes **#2**', 'fixes \\(#1), closes **(#2)**'],
    ['![x](https://a.test/p) \\![x][1] `![x](y)`', '&#33;[x](https://a.test/p) \\&#33;[x][1] `![x](y)`'],
  ])('turns %j into %j', (text, expected) => {
    expect(inactiveMarkdown(text)).toBe(expected);
  });

  it.each([
    ['a span that goes on in the next line', '`a\nb` @ada `c'],
    ['a span in two cells of a table', '| `a | @ada ` |'],
    ['an escaped backtick', '\\`a @ada `'],
    ['a block that ends with its list', '1. a\n   ```\n@ada\n   ```'],
    ['a block that is none', '```a`b\n@ada'],
    ['a block that is closed by more', '```\na\n````\n@ada'],
    ['another line break', '```\ra\r```\r@ada'],
    ['an address whose end is no code', 'https://a.test/`@ada`'],
    ['an address without a scheme whose end is no code', 'WWW.a.test/``@ada``'],
  ])('recognizes a mention after %s', (_, text) => {
    expect(inactiveMarkdown(text)).toContain(`@${gap}ada`);
  });

  it('loads no image in any reader', () => {
    const piece = fc.constantFrom('![x](https://evil.example/p)', '![x][1]', '\n\n[1]: https://evil.example/p\n\n', '\\', '!', '[', '`', '``', '<img src="https://evil.example/p">', '<b>', '\n', '\n> ', '\n- ', '\n```\n', '\n    ', '|', '&', '*', 'https://evil.example/p'); // prettier-ignore
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const text = inactiveMarkdown(pieces.join(''));
        expect(readers.filter(({ render }) => /<img\b/i.test(render(text))).map(({ name }) => name)).toEqual([]);
      }),
      { numRuns: propertyRuns(150) },
    );
  });

  it('closes an open code block, and neutralizes comments inside it', () => {
    expect(inactiveMarkdown('Done:\n````js\n<!-- a -->\n```')).toBe('Done:\n````js\n&lt;!-- a -->\n```\n````');
  });

  it('keeps text that triggers nothing, whatever it is', () => {
    const words = fc.array(fc.constantFrom('a', 'Fix', '#1', '`', '```', '\n', ' ', '|', 'b.c', '*', '- '));
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join('');
        const bare = (said: string) => said.replaceAll(/[()`\n]/g, '');
        expect(bare(inactiveMarkdown(text))).toBe(bare(text));
      }),
    );
  });
});
