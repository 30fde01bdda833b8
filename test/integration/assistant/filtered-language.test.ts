import { afterAll, beforeAll, expect, it } from 'vitest';
import { serveModelApi, type ModelApi } from './model-api.ts';
import { publishPages, question } from './site.ts';

let api: ModelApi;
beforeAll(async () => {
  api = await serveModelApi();
});
afterAll(() => api?.[Symbol.asyncDispose]());

it('reads and cites a page in a language in which the site shows it', async () => {
  const { database, docs, model } = api;
  const locales = "locales: { root: { label: 'English', lang: 'en' }, fr: { label: 'Français' } }";
  await publishPages(database.pool, docs.site, {
    'astro.config.mjs': `import starlight from '@astrojs/starlight';\nexport default { integrations: [starlight({ ${locales} })] };`,
    'src/content/docs/index.mdx': '---\ntitle: Home\n---\nHome of animals.\n',
    'src/content/docs/zebra.md': '---\ntitle: Zebra\n---\nZebras have stripes.\n',
    'src/content/docs/fr/index.mdx': '---\ntitle: Accueil\n---\nAccueil des animaux.\n',
  });
  const askIn = async (language: string) => {
    model.script(
      { toolCalls: [{ name: 'read_page', input: { path: '/zebra' } }] },
      { text: 'Zebras have stripes, see [Zebra](/zebra).' },
    );
    const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
    const json = question('Do zebras have stripes?', { stream: false, filter: { language } });
    const [{ body }] = await Promise.all([
      api.apis[0]!.ask(path, { key: docs.assistantKey, json }),
      model.nextRequest(),
    ]);
    const { messages } = (await model.nextRequest()).body;
    return { sources: body.sources, page: String(messages.findLast(({ role }) => role === 'tool')?.content) };
  };
  for (const language of ['en', 'fr']) {
    const { sources, page } = await askIn(language);
    expect(sources).toMatchObject([{ title: 'Zebra' }]);
    expect(page).toContain('Zebras have stripes.');
  }
});
