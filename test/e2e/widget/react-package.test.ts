import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkTypes, packReact, type PackedReact } from '../../support/browser/packed-react.ts';

let packed: PackedReact;

beforeAll(async () => {
  packed = await packReact();
});

afterAll(() => packed?.[Symbol.asyncDispose]());

it('holds its modules, their types and the styles, and no sources', () => {
  expect(packed.files).toEqual(
    expect.arrayContaining([
      'package.json',
      'dist/index.js',
      'dist/client.js',
      'dist/styles.css',
      'dist/react/index.d.ts',
    ]),
  );
  expect(packed.files.filter((file) => /(?<!\.d)\.tsx?$/.test(file))).toEqual([]);
});

it.each([
  ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ['nodenext', ['--module', 'nodenext']],
])('has types that a project with module resolution %s can use', async (_, options) => {
  await writeFile(
    join(packed.folder, 'page.mts'),
    `import { DocketChat, useDocketChat } from '@docket/react';
import { createClient, createConversation, type ChatMessage } from '@docket/react/client';
const options = { baseUrl: 'https://docket.example', site: 'docs', apiKey: 'svc_dsc_x' };
const conversation = createConversation({ client: createClient(options) });
const messages: ChatMessage[] = conversation.state().messages;
const use = () => useDocketChat(options).status satisfies 'ready' | 'submitted' | 'streaming' | 'error';
// @ts-expect-error the message has no such field
messages[0]?.nothing;
// @ts-expect-error the key is missing
DocketChat({ baseUrl: '', site: '' });
// @ts-expect-error the hook takes options
useDocketChat();
export { use };
`,
  );
  expect(await checkTypes(packed, ['page.mts'], options)).toBe('');
});

it('has a client that runs without a framework', async () => {
  const file = join(packed.folder, 'node_modules/@docket/react/dist/client.js');
  const { createClient, createConversation } = (await import(
    file
  )) as typeof import('../../../dashboard/react/client.ts');
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', site: 'docs', apiKey: 'svc_dsc_x' });
  const conversation = createConversation({ client });
  await conversation.ask('How?');
  expect(conversation.state()).toMatchObject({ status: 'error', error: expect.stringContaining('cannot be reached') });
});

it('has components for browsers, and a client that a server may call, too', async () => {
  const dist = join(packed.folder, 'node_modules/@docket/react/dist');
  const clientOnly: string[] = [];
  for (const file of packed.files.filter((file) => file.endsWith('.js'))) {
    const code = await readFile(join(dist, '..', file), 'utf8');
    if (/^['"]use client/.test(code)) clientOnly.push(file);
  }
  expect(clientOnly).toEqual(['dist/index.js']);
  const { DocketChat } = (await import(join(dist, 'index.js'))) as typeof import('../../../dashboard/react/index.ts');
  // a restored conversation would differ from what a server renders
  expect(renderToString(createElement(DocketChat, { baseUrl: '', site: 'docs', apiKey: 'svc_dsc_x' }))).toBe('');
});
