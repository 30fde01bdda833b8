import { describe, expect, it, vi } from 'vitest';
import { renderGroundedQuestion, type Passage } from '../../../models/grounded-question.ts';
import { blocksOf } from '../../../models/offline-extract/blocks.ts';
import { createOfflineExtract } from '../../../models/offline-extract/offline-extract.ts';
import { collect } from './memory-agent.ts';
import { anyCharacter, fc, propertyRuns } from '../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

const notFound = 'I could not find this in the documentation.';

function passage(overrides: Partial<Passage> = {}): Passage {
  return {
    id: '1',
    title: 'Install',
    path: 'install',
    url: '/install',
    headings: [],
    content: 'Run the installer to install Docket.',
    score: 0.9,
    ...overrides,
  };
}

async function restOf(reader: ReadableStreamDefaultReader): Promise<void> {
  while (!(await reader.read()).done);
}

async function ask(question: string, passages: Passage[], weakScore = 0.4, query: string | null = null) {
  const grounded = renderGroundedQuestion({ question, query, passages, weakScore });
  const prompt = [
    { role: 'system', content: 'Answer.' },
    { role: 'user', content: [{ type: 'text', text: grounded }] },
  ];
  const options: any = { prompt };
  const { content, usage } = await createOfflineExtract().doGenerate(options);
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { text, usage, sources: content.filter(({ type }) => type === 'source'), options };
}

describe('the extractive answerer', () => {
  it('quotes the passage below a link to it', async () => {
    const { text, sources } = await ask('How do I install it?', [
      passage({ headings: ['Install', 'On [Linux]'], url: '/install#linux' }),
    ]);
    expect(text).toBe('From [Install › On \\[Linux\\]](/install#linux):\n\nRun the installer to install Docket.');
    expect(sources).toEqual([{ type: 'source', sourceType: 'url', id: '1', url: '/install#linux', title: 'Install' }]);
  });

  it('quotes what the query is about that was searched for', async () => {
    expect((await ask('Und dort?', [passage()])).text).toBe(notFound);
    const { text } = await ask('Und dort?', [passage()], 0.4, 'How do I install Docket?');
    expect(text).toContain('Run the installer');
  });

  it('quotes the best passage, and others that add to it', async () => {
    const passages = [
      passage({ id: '1', url: '/a', path: 'a', content: 'To install, run a.', score: 0.8 }),
      passage({ id: '2', url: '/b', path: 'b', content: 'To install on Linux, run b.', score: 0.79 }),
      passage({ id: '3', url: '/c', path: 'c', content: 'Linux has its own installer.', score: 0.79 }),
      passage({ id: '4', url: '/a#d', path: 'a', content: 'The installer asks for a name.', score: 0.7 }),
      passage({ id: '5', url: '/e', path: 'e', content: 'The Windows one has a window.', score: 0.78 }),
    ];
    const { sources } = await ask('install on Linux', passages);
    expect(sources.map((source) => 'url' in source && source.url)).toEqual(['/b']);
    const both = await ask('install on Linux or Windows', passages);
    expect(both.sources.map((source) => 'url' in source && source.url)).toEqual(['/b', '/e']);
    expect((await ask('install', passages)).sources.map((source) => 'url' in source && source.url)).toEqual([
      '/a',
      '/a#d',
    ]);
  });

  it.each([
    ['no passage', 'How do I install it?', []],
    ['a score below the threshold', 'How do I install it?', [passage({ score: 0.39 })]],
    ['no word of the question', 'Which colours has a zebra?', [passage()]],
    ['an empty passage', 'install', [passage({ content: ' \n', title: 'Install' })]],
  ])('says that it found nothing when there is %s', async (_, question, passages) => {
    const { text, sources } = await ask(question, passages);
    expect(text).toBe(notFound);
    expect(sources).toEqual([]);
  });

  it('says that it found nothing for a prompt without passages', async () => {
    const prompt: any = [{ role: 'user', content: [{ type: 'text', text: 'How do I install it?' }] }];
    const { content } = await createOfflineExtract().doGenerate({ prompt });
    expect(content).toEqual([{ type: 'text', text: notFound }]);
  });

  it.each([
    ['How are keys deleted?', 'Deleting a key takes effect at once.'],
    ['retries', 'A retry waits.'],
    ['createOrganization', 'First create an organization.'],
    ['鍵を削除', '鍵の削除は即時です。'],
  ])('recognizes the words of %j in %j', async (question, content) => {
    expect((await ask(question, [passage({ title: 'X', content })])).text).toContain(content);
  });

  it('keeps a code block whole with the words that introduce it', async () => {
    const code = `\`\`\`sh\n${'install --now\n'.repeat(120)}\n\n# install the rest\n\`\`\``;
    const content = `${'Something else. '.repeat(100)}\n\nTo install Docket:\n\n${code}\n\n${'Other things. '.repeat(100)}`;
    const { text } = await ask('How do I install Docket?', [passage({ content })]);
    expect(text).toContain(`To install Docket:\n\n${code}`);
    expect(text).not.toContain('Something else');
  });

  it('starts a long list at the line that answers, and ends it with a whole one', async () => {
    const items = Array.from(
      { length: 90 },
      (_, at) => `- \`option${at}\`: ${at === 75 ? 'the timeout of requests' : 'something else'}.`,
    );
    const { text } = await ask('request timeout', [passage({ title: 'Options', content: items.join('\n') })]);
    const lines = text.split('\n').filter((line) => line !== '');
    expect(lines.slice(1, 3)).toEqual(['…', items[75]]);
    expect(lines.slice(2, -1).every((line) => items.includes(line))).toBe(true);
  });

  it('keeps the header of a table with the rows that answer', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => `| key${at} | ${at === 110 ? 'retries' : 'something'} |`);
    const head = ['| Key | Meaning |', '| --- | --- |'];
    const { text } = await ask('retries', [passage({ title: 'Options', content: [...head, ...rows].join('\n') })]);
    expect(text.split('\n').slice(2)).toEqual([...head, ...rows.slice(110)]);
  });

  it('quotes a passage of usual length whole, whatever it begins with', async () => {
    const content = `${'It starts. '.repeat(80)}\n\n${'It goes on. '.repeat(40)}\n\nThe limit is 17.`;
    const { text } = await ask('Where does it start?', [passage({ title: 'Limits', content })]);
    expect(text).toContain('The limit is 17.');
  });

  it('keeps the steps before the one that answers', async () => {
    const steps = ['Open', 'Choose', 'Verify'].map((name) => `**${name} it**\n\n1. ${`${name} `.repeat(30)}`);
    const content = `${'Something else. '.repeat(110)}\n\n${steps.join('\n\n')}`;
    const { text } = await ask('verify', [passage({ title: 'Domain', content })]);
    expect(text.endsWith(steps.join('\n\n'))).toBe(true);
    expect(text).not.toContain('Something else');
  });

  it('omits images, anchors, rules and empty code', async () => {
    const content = 'Install it.\n\n![A picture](/a.png)\n\n<a id="x"></a>\n\n---\n\n```js\n```';
    expect((await ask('install', [passage({ content })])).text).toMatch(/:\n\nInstall it\.$/);
  });

  it('closes a fence that a passage leaves open', () => {
    expect(blocksOf('a\n\n~~~~js\n```\nx\n~~~')).toEqual([
      { text: 'a', isCode: false },
      { text: '~~~~js\n```\nx\n~~~\n~~~~', isCode: true },
    ]);
  });

  it('streams what it generates word by word, with the sources first', async () => {
    const { text, options, usage } = await ask('install', [passage()]);
    const { stream } = await createOfflineExtract().doStream(options);
    const parts = await collect(stream);
    const deltas = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []));
    expect(deltas.join('')).toBe(text);
    expect(deltas.length).toBe(text.match(/\S+/g)?.length);
    expect(parts.map(({ type }) => type).slice(0, 3)).toEqual(['stream-start', 'source', 'text-start']);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'stop' }, usage });
  });

  it('stops streaming when it is aborted', async () => {
    const { options } = await ask('install', [passage()]);
    const controller = new AbortController();
    const { stream } = await createOfflineExtract().doStream({ ...options, abortSignal: controller.signal });
    const reader = stream.getReader();
    await reader.read();
    controller.abort(new Error('gone'));
    await expect(restOf(reader)).rejects.toThrow('gone');
    await expect(createOfflineExtract().doStream({ ...options, abortSignal: controller.signal })).rejects.toThrow(
      'gone',
    );
  });

  it('answers any question about any passages', async () => {
    const text = fc.string({ unit: anyCharacter });
    const passages = fc.array(
      fc
        .tuple(text, text, text, fc.double())
        .map(([title, url, content, score]) => passage({ title, url, content, score })),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(text, passages, async (question, passages) => {
        expect((await ask(question, passages)).text).not.toBe('');
      }),
      { numRuns: propertyRuns(50) },
    );
  });
});
