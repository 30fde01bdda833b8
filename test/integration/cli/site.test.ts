import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { buildIndexedSite } from '../assistant/site.ts';
import { serveCommands, type ServedCommands } from './served.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let served: ServedCommands;
beforeAll(async () => void (served = await serveCommands({ OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1' })));
afterAll(() => served[Symbol.asyncDispose]());

const docket = (line: string) => served.docket('site', ...wordsOf(line));
const docketJson = (line: string) => served.docketJson('site', ...wordsOf(line));
const wordsOf = (line: string) => line.split(' ').map((word) => (word === "''" ? '' : word));

/** A site of a new organization, whose first index request is answered. */
async function createSite(domain: string): Promise<{ id: string }> {
  const org = await served.act();
  await served.docket('org', 'grant', org, '*');
  const source = '--repository /srv/git/docs.git --ref next --path /docs/./v2/ --refresh-minutes 30';
  const site = await docketJson(`create --domain ${domain} ${source}`);
  expect(site).toMatchObject({ domain, path: 'docs/v2', retentionDays: 30, refreshMinutes: 30 });
  await answerRequest(site.id, null);
  return site;
}

async function answerRequest(id: string, failure: string | null): Promise<void> {
  const sites = createSiteIndexing(served.database.pool);
  await expect.poll(() => sites.startIndexRun(id)).not.toBeNull();
  const request = await sites.startIndexRun(id);
  if (failure === null)
    await served.database.pool.query('update sites set index_failure_message = null where id = $1', [id]);
  else await sites.recordIndexFailure(id, { request, category: 'site_unreadable', message: failure });
  await sites.answerIndexRequest(id, request!);
}

it('changes only the named settings of a site, and re-indexes it when its source changes', async () => {
  await createSite('changing');
  const days = '--retention-days 7 --refresh-minutes 0 --base-url https://docs.example.com';
  expect(await docketJson(`update changing ${days}`)).toMatchObject({
    repository: 'file:///srv/git/docs.git',
    ref: 'next',
    retentionDays: 7,
    refreshMinutes: null,
    baseUrl: 'https://docs.example.com',
    index: { requestedAt: null },
  });
  const answers =
    '--answer-budget 2.50 --instructions Formal --starter-question How? --starter-question Why? --query-rewriting compatible/small --unsupported cut --contact mailto:a@b.example';
  expect(await docketJson(`update changing ${answers}`)).toMatchObject({
    answerBudgetUsd: 2.5,
    instructions: 'Formal',
    starterQuestions: ['How?', 'Why?'],
    queryRewriting: 'compatible/small',
    unsupported: 'cut',
    contact: 'mailto:a@b.example',
  });
  const none = "--answer-budget none --instructions '' --starter-question '' --query-rewriting '' --contact ''";
  expect(await docketJson(`update changing ${none}`)).toMatchObject({
    answerBudgetUsd: null,
    instructions: null,
    starterQuestions: [],
    queryRewriting: null,
    contact: null,
  });
  const folder = temporaryDirectory();
  const file = join(folder, 'sources.json');
  await expect(docket(`update changing --sources ${file}`)).rejects.toThrow(/cannot be read/);
  await writeFile(file, '[{');
  await expect(docket(`update changing --sources ${file}`)).rejects.toThrow(/is not JSON/);
  const blog = { kind: 'repository', repository: 'https://github.com/acme/blog', prefix: 'blog' };
  await writeFile(file, JSON.stringify([blog]));
  expect((await docketJson(`update changing --sources ${file}`)).sources).toMatchObject([{ ...blog, weight: 1 }]);
  const moved = await docketJson("update changing --directory /srv/docs --path v2 --ref ''");
  expect(moved).toMatchObject({ repository: null, directory: '/srv/docs', path: 'v2', ref: null, retentionDays: 7 });
  expect(moved.index.requestedAt).not.toBeNull();
  expect(await docket('show changing')).toMatch(/^index\.pages: +0$/m);
  expect((await docketJson('list')).map(({ domain }: { domain: string }) => domain)).toEqual(['changing']);

  await expect(docket('update changing')).rejects.toThrow(/Use at least one option/);
  await expect(docket('update changing --repository https://elsewhere.org/a/b')).rejects.toThrow(/must be on a host/);
  await expect(docket('update nowhere --ref main')).rejects.toMatchObject({ status: 404 });
  await expect(docket('delete changing')).rejects.toThrow(/--yes/);
  expect(await docketJson('delete changing --yes')).toEqual({ domain: 'changing', deleted: true });
  await expect(docket('delete changing --yes')).rejects.toMatchObject({ status: 404 });
});

it('reads what verifies the tokens of readers from a file, encrypts it, and shows it nowhere', async () => {
  await createSite('guarded');
  const folder = temporaryDirectory();
  const files = { secret: join(folder, 'secret'), pem: join(folder, 'key.pem') };
  const secret = 'shared-by-two-servers-0123456789abcdef';
  await writeFile(files.secret, `${secret}\n`);
  const { publicKey } = generateKeyPairSync('ed25519');
  await writeFile(files.pem, publicKey.export({ type: 'spki', format: 'pem' }));
  const set = (file: string) => docketJson(`update guarded --reader-issuer app --reader-key ${file}`);
  expect(await set(files.pem)).toMatchObject({ readerTokens: { algorithm: 'EdDSA', issuer: 'app' } });
  const shown = await set(files.secret);
  expect(shown).toMatchObject({ readerTokens: { algorithm: 'HS256', issuer: 'app' } });
  const { rows } = await served.database.pool.query(`select * from sites where domain = 'guarded'`);
  expect(rows[0].reader_key).toMatch(/^enc:v1:/);
  expect(JSON.stringify([shown, rows])).not.toContain(secret);
  await expect(docket(`update guarded --reader-key ${files.pem}`)).rejects.toThrow(
    /Use --reader-issuer and --reader-key together/,
  );
  expect(await docketJson("update guarded --reader-issuer ''")).toMatchObject({ readerTokens: null });
});

it('waits for a requested index, and reports the result', async () => {
  const { id } = await createSite('waiting');
  const [shown] = await Promise.all([docketJson('index waiting --wait'), answerRequest(id, null)]);
  expect(shown).toMatchObject({ id, index: { requestedAt: null } });
  await Promise.all([
    expect(docket('index waiting --wait')).rejects.toThrow('could not be indexed. No pages.'),
    answerRequest(id, 'No pages.'),
  ]);
});

it('shows the analytics of a site as figures, lists and CSV', async () => {
  await createSite('counted');
  expect(await docket('analytics counted --days 7')).toMatch(/^questions: +0$/m);
  expect((await docketJson('analytics counted --days 7 --page-version 2')).series).toHaveLength(
    (await docket('analytics counted --days 7 --csv')).trimEnd().split('\n').length - 1,
  );
  expect(await docket('analytics counted --table topics')).toBe('(none)');
  expect(await docketJson('analytics counted --table gaps')).toEqual([]);
  expect(await docket('analytics counted --table cited --csv')).toBe('path,cited,opened');
  await expect(docket('analytics counted --table threads')).rejects.toThrow(/Allowed choices/);
  await expect(docket('analytics nowhere')).rejects.toMatchObject({ status: 404 });
});

it('evaluates the answers of a site, and shows two configurations side by side', async () => {
  const { site, adminKey } = await buildIndexedSite(served.database.pool);
  const { domain } = site;
  served.env['DOCKET_API_KEY'] = adminKey;
  const folder = temporaryDirectory();
  const file = join(folder, 'questions.json');
  await writeFile(file, '{"text": "retries?"}');
  const create = `questions create ${domain} --name Basics --file ${file}`;
  await expect(docket(create)).rejects.toThrow('must be an array');
  await writeFile(file, '[{"text": "retries?", "expectedPage": ["guides/retries"]}]');
  await expect(docket(create)).rejects.toThrow('Did you mean `expectedPages`?');
  await writeFile(file, JSON.stringify([{ text: 'How do I set the retry limit?', expectedFacts: ['retryLimit'] }]));
  const set = await docketJson(create);
  expect(await docketJson(`questions list ${domain}`)).toMatchObject([{ id: set.id, questions: 1 }]);
  expect(await docket(`questions show ${domain} ${set.id}`)).toContain('retryLimit');
  expect(await docketJson(`questions add ${domain} ${set.id} --from gaps`)).toMatchObject({ questions: 1 });
  const evaluation = await docketJson(`evaluate ${domain} ${set.id} --with-passages 1`);
  await served.api.evaluate();
  const shown = await docket(`evaluation ${domain} ${evaluation.id} --wait`);
  expect(shown).toMatch(/^state: +completed$/m);
  expect(shown).toMatch(/^comparison\.verdict: +undecided$/m);
  expect(shown).toMatch(/offline\/extract +1 +off +1 of 1 +100%/);
  expect(await docket(`evaluations ${domain}`)).toContain('2 of 2');
  expect(await docketJson(`evaluation ${domain} ${evaluation.id} --stop`)).toMatchObject({ state: 'completed' });
  expect(await docketJson(`questions delete ${domain} ${set.id}`)).toEqual({ id: set.id, deleted: true });
});

it('docket ask prints an answer and its sources, using an assistant key', { tags: ['slow'] }, async () => {
  const { site, assistantKey, adminKey } = await buildIndexedSite(served.database.pool);
  const ask = (env: NodeJS.ProcessEnv, ...more: string[]) =>
    runDocket(['ask', 'How do I set the retry limit?', '--site', site.domain, ...more], {
      DOCKET_URL: served.api.url,
      ...env,
    });
  const shown = await ask({ DOCKET_ASSISTANT_KEY: assistantKey });
  expect(shown).toMatchObject({ code: 0, error: '', out: expect.stringContaining('retryLimit') });
  expect(shown.out).toMatch(/\nSources:\n {2}.+ {2}\S+retries/);
  const json = JSON.parse((await ask({ DOCKET_API_KEY: assistantKey }, '--json')).out);
  expect(json).toMatchObject({ answer: expect.stringContaining('retryLimit') });
  expect(json.sources[0]).toEqual({ title: expect.any(String), url: expect.stringContaining('retries') });

  const wrongKind = await ask({ DOCKET_API_KEY: adminKey });
  expect(wrongKind).toMatchObject({
    code: 1,
    error: expect.stringContaining('An assistant key (svc_dsc_…) is required'),
  });
  const unknown = await ask({ DOCKET_ASSISTANT_KEY: assistantKey }, '--site', 'nowhere');
  expect(unknown).toMatchObject({ code: 1, out: '', error: expect.stringMatching(/^[^\n]*site[^\n]*\n$/) });
});
