import { describe, expect, it } from 'vitest';
import { conversationPageSchema, emptySearchesSchema } from '../../../api/sites/gap-schemas.ts';
import { agentJobSchema } from '../../../db/jobs/agent-job.ts';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';
import { buildSite, buildKey } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { pages, publishPages } from '../assistant/site.ts';
import { comparable, serveApi } from './serve.ts';
import { stageGaps, unanswerable } from './stage-gaps.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));

describe('feedback', () => {
  it('is stored with the answer, replaced when it is given again, and shown with the conversation', async () => {
    const { ask, site, assistantKey, adminKey, admin } = await stageGaps(database, api);
    const { threadId, messageId } = await ask('How do I set the retry limit?');
    const path = `/discovery/v2/assistant/${site.domain}/feedback`;
    const first = await api.ask(path, { key: assistantKey, json: { threadId, messageId, vote: 'up' } });
    expect([first.status, first.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const json = { threadId, messageId, vote: 'down', reasons: ['outdated'], comment: 'It is 5 now.' };
    const second = await api.ask(path.replace('v2', 'v1'), { key: assistantKey, json });
    expect(second.body).toEqual(json);
    const thread = await api.ask(`/discovery/v1/assistant/${site.domain}/thread/${threadId}`, { key: adminKey });
    expect(thread.body.messages.map((message: any) => message.feedback)).toEqual([
      null,
      { vote: 'down', reasons: ['outdated'], comment: 'It is 5 now.' },
    ]);
    const { conversations } = conversationPageSchema.parse((await admin('/conversations?vote=down')).body);
    expect(conversations).toMatchObject([{ threadId, up: 0, down: 1, questions: 1, unanswered: 0 }]);
    expect(conversations[0]?.sources[0]?.title).toContain('Retries');
  });

  it('is refused for anything but an answer of the site, and with an unknown key', async () => {
    const { ask, site, assistantKey, adminKey } = await stageGaps(database, api);
    const other = await stageGaps(database, api);
    const theirs = await other.ask('How do I set the retry limit?');
    const own = await ask('How do I set the retry limit?');
    const path = `/discovery/v2/assistant/${site.domain}/feedback`;
    const rate = (json: object, key = assistantKey) => api.ask(path, { key, json: { vote: 'up', ...json } });
    const foreign = await rate(theirs);
    expect(foreign.status).toBe(404);
    expect(comparable(foreign)).toMatchObject({ text: (await rate({ threadId: 'thr_x', messageId: 'msg_x' })).text });
    expect((await rate({ ...own, vote: 'sideways' })).status).toBe(400);
    expect((await rate({ ...own, comment: 'a'.repeat(2_001) })).status).toBe(400);
    expect((await rate(own, adminKey)).status).toBe(403);
    const preflight = await api.ask(path, {
      method: 'OPTIONS',
      headers: { origin: 'https://docs.example', 'access-control-request-method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-methods')]).toEqual([
      204,
      'GET,POST,DELETE,OPTIONS',
    ]);
  });
});

describe('conversations', () => {
  it('can be listed by whether they were answered, by words and in pages', async () => {
    const { ask, admin } = await stageGaps(database, api);
    for (const text of ['How do I set the retry limit?', 'How do I paint the gearbox?', 'What is the default delay?'])
      await ask(text);
    const list = async (query: string) =>
      conversationPageSchema
        .parse((await admin(`/conversations?${query}`)).body)
        .conversations.map((row) => row.question);
    expect(await list('answered=false')).toEqual(['How do I paint the gearbox?']);
    expect(await list('answered=true')).not.toContain('How do I paint the gearbox?');
    expect(await list('q=GEARBOX')).toEqual(['How do I paint the gearbox?']);
    const { body } = await admin('/conversations?limit=2');
    const rest = await list(`limit=2&cursor=${body.nextCursor}`);
    expect([...body.conversations.map((row: any) => row.question), ...rest]).toEqual(await list(''));
    for (const query of ['answered=maybe', 'vote=left', 'cursor=x', 'limit=1000'])
      expect((await admin(`/conversations?${query}`)).status).toBe(400);
  });

  it('count searches without results, ignoring case', async () => {
    const { site, assistantKey, admin } = await stageGaps(database, api);
    const search = (query: string) =>
      api.ask(`/discovery/v1/search/${site.domain}`, { key: assistantKey, json: { query } });
    for (const query of ['zyxwvut', 'Zyxwvut ', 'qqqqq', 'retry limit']) await search(query);
    await expect
      .poll(async () => emptySearchesSchema.parse((await admin('/searches')).body).searches)
      .toMatchObject([
        { query: 'zyxwvut', count: 2 },
        { query: 'qqqqq', count: 1 },
      ]);
    expect((await admin('/searches?days=0')).status).toBe(400);
  });
});

describe('gaps', () => {
  it('group unanswered questions, without those that were answered, asked in the dashboard, or interrupted', async () => {
    const { ask, gaps, site } = await stageGaps(database, api);
    for (const text of unanswerable) await ask(text);
    await ask('How do I set the retry limit?');
    await ask('Is there a dark mode for gearboxes?', { fp: 'playground' });
    const voted = await ask('What is the default of retryDelayMs?');
    await database.pool.query(
      `insert into message_feedback (thread_id, message_id, vote, reasons, comment)
       values ($1, $2, 'down', '{outdated}', 'It is 5 now.')`,
      [voted.threadId, voted.messageId],
    );
    const { id: brokenOff } = (
      await database.pool.query(`select id from threads where site_id = $1 order by created_at desc limit 1`, [site.id])
    ).rows[0];
    await database.pool.query(
      `insert into thread_messages (thread_id, id, role, content, answered, ending) values
       ($1, 'q', 'user', 'How loud is it?', null, null), ($1, 'a', 'assistant', '', false, 'aborted')`,
      [brokenOff],
    );
    expect(await gaps()).toMatchObject([
      {
        label: 'How do I paint the gearbox?',
        state: 'open',
        count: 3,
        questions: [
          { text: 'How do I paint the gearbox?', count: 2, answeredNow: null, notFound: 2, votedDown: 0, remarks: [] },
          { text: 'paint a gearbox', count: 1, notFound: 1 },
        ],
        job: null,
      },
      {
        label: 'What is the default of retryDelayMs?',
        state: 'open',
        questions: [{ notFound: 0, votedDown: 1, remarks: ['outdated: It is 5 now.'] }],
      },
    ]);
  });

  it('become a job once, and are answered when its change is merged and indexed and answers them', async () => {
    const { ask, gaps, admin, site, project, adminKey } = await stageGaps(database, api);
    for (const text of unanswerable) await ask(text);
    const [gap] = await gaps();
    const made = await Promise.all([1, 2, 3].map(() => admin(`/gaps/${gap?.id}/job`, { method: 'POST' })));
    const ids = new Set(made.map(({ body }) => agentJobSchema.parse(body).id));
    expect(ids.size).toBe(1);
    const [jobId] = ids;
    const again = await admin(`/gaps/${gap?.id}/job`, { method: 'POST', json: { instructions: 'other words' } });
    expect([again.status, again.body.id]).toEqual([200, jobId]);
    const listed = await api.ask(`/v1/jobs?q=${jobId}`, { key: adminKey });
    expect(listed.body.jobs).toMatchObject([{ startedBy: { keyId: expect.any(String) } }]);
    const { rows } = await database.pool.query('select prompt from job_turns where job_id = $1', [jobId]);
    expect(rows[0].prompt).toContain('- "How do I paint the gearbox?" (asked 2 times)');
    expect(await gaps()).toMatchObject([
      { state: 'working', job: { id: jobId, projectId: project.id, prState: null } },
    ]);
    await api.checkGaps();
    expect(await gaps()).toMatchObject([{ state: 'working' }]);

    await database.pool.query(
      `update jobs set status = 'completed', pr_link = 'https://x', pr_state = 'merged' where id = $1`,
      [jobId],
    );
    await api.checkGaps();
    expect(await gaps()).toMatchObject([{ state: 'indexing', checkedAt: null }]);
    expect((await api.ask(`/v1/sites/${site.domain}`, { key: adminKey })).body.index.requestedAt).not.toBeNull();

    await publishPages(database.pool, site, {
      ...pages,
      'gearbox.md': '# Paint the gearbox\n\nTo paint the gearbox, use a brush and the paint of the gearbox.\n',
    });
    await database.pool.query('update sites set index_requested_at = null where id = $1', [site.id]);
    await Promise.all([api.checkGaps(), api.checkGaps()]);
    const [answered] = await gaps();
    expect(answered).toMatchObject({
      state: 'answered',
      questions: [{ answeredNow: true }, { answeredNow: true }],
      checkedAt: expect.any(String),
    });
    // asking again does not create a reader's conversation
    const { body } = await admin('/conversations');
    expect(body.conversations).toHaveLength(unanswerable.length);
  });

  it('stay unanswered when the change does not help, and can get another job', async () => {
    const { ask, gaps, admin, site, project } = await stageGaps(database, api);
    const { threadId, messageId } = await ask('How do I paint the gearbox?');
    await database.pool.query(
      `insert into message_feedback (thread_id, message_id, vote, comment) values ($1, $2, 'down', 'In red, please.')`,
      [threadId, messageId],
    );
    const [gap] = await gaps();
    const path = `/gaps/${gap?.id}`;
    const checked = await admin(`${path}/check`, { method: 'POST' });
    expect([checked.status, checked.body.state]).toEqual([202, 'indexing']);
    await database.pool.query('update sites set index_requested_at = null where id = $1', [site.id]);
    await api.checkGaps();
    const remarks = ['In red, please.'];
    expect(await gaps()).toMatchObject([
      { state: 'unanswered', questions: [{ answeredNow: false, remarks }], job: null },
    ]);

    const first = await admin(`${path}/job`, { method: 'POST' });
    expect(first.status).toBe(201);
    await database.pool.query(`update jobs set status = 'failed' where id = $1`, [first.body.id]);
    // a project of another repository, which may work on the site's
    await database.pool.query(
      `update projects set repository = 'https://github.com/acme/code', allowed_repositories = '{https://github.com/Acme/Docs}'
       where id = $1`,
      [project.id],
    );
    const second = await admin(`${path}/job`, { method: 'POST' });
    expect([second.status, second.body.source?.repository]).toEqual([201, 'https://github.com/Acme/Docs']);
    expect(second.body.id).not.toBe(first.body.id);

    // concurrent requests wait for the same job
    await ask('How do I paint the gearbox?');
    expect(await gaps()).toMatchObject([{ id: gap?.id, state: 'working' }]);
  });

  it('lead to their conversations, also those that were searched for in other words', async () => {
    const { ask, gaps, admin } = await stageGaps(database, api);
    await ask(`How do I paint the gearbox${' and the gearbox'.repeat(30)}?`);
    const { threadId } = await ask('And for the submarine?');
    await database.pool.query(
      `update thread_messages set search_query = 'anchor of the submarine' where thread_id = $1 and role = 'user'`,
      [threadId],
    );
    const found = (await gaps()).map(({ label }) => admin(`/conversations?q=${encodeURIComponent(label)}`));
    const pages = (await Promise.all(found)).map(({ body }) => conversationPageSchema.parse(body).conversations);
    expect(pages.map((page) => page.length)).toEqual([1, 1]);
  });

  it('count all questions, also those above the 20 that are listed', async () => {
    const { ask, gaps, admin } = await stageGaps(database, api);
    for (let letter = 0; letter < 23; letter += 1)
      await ask(`How do I paint the gearbox ${'qwzk'[letter % 4]}${letter}?`);
    const [gap, ...others] = await gaps();
    expect([others.length, gap?.questions.length, gap?.count]).toEqual([0, 20, 23]);
    const shown = gap?.questions.map(({ lastAskedAt }) => lastAskedAt).toSorted() ?? [];
    expect(Date.parse(gap?.lastAskedAt ?? '')).toBeGreaterThan(Date.parse(shown.at(-1) ?? ''));
    expect((await admin('/analytics?days=7')).body.gaps).toMatchObject([{ id: gap?.id, count: 23 }]);
  });

  it('belong to their site', async () => {
    const mine = await stageGaps(database, api);
    await mine.ask('How do I paint the gearbox?');
    const [gap] = await mine.gaps();
    const theirs = await stageGaps(database, api);
    const verbs = ['job', 'check', 'dismiss', 'restore'];
    for (const path of [...verbs.map((verb) => `/gaps/${gap?.id}/${verb}`), '/gaps/none/job'])
      expect((await theirs.admin(path, { method: 'POST' })).status).toBe(404);
    const site = await buildSite(database.pool);
    const { key } = await buildKey(database.pool, { organizationId: mine.organizationId });
    expect((await api.ask(`/v1/sites/${site.domain}/gaps`, { key })).status).toBe(404);
  });
});

it('lists the gaps of 2,000 long questions off the event loop, and once for the same questions', async () => {
  const { site, organizationId, adminKey, gaps } = await stageGaps(database, api);
  const [letters, length] = ['abcdefghjklmnpqrstvwxz', 330];
  let seed = 7;
  const letter = () => letters[(seed = (seed * 48_271) % 2_147_483_647) % letters.length]!;
  const texts = Array.from({ length: 2_000 }, () => Array.from({ length }, () => letter() + letter()).join(' '));
  await database.pool.query(
    `with threads as (
       insert into threads (id, site_id, organization_id, fp)
       select 'thr_' || lpad(at::text, 24, '0'), $1, $2, 'reader ' || at % 20 from generate_series(1, 2000) as at returning id
     )
     select count(*) from threads`,
    [site.id, organizationId],
  );
  await database.pool.query(
    `insert into thread_messages (thread_id, id, role, content, answered, ending)
     select 'thr_' || lpad(at::text, 24, '0'), role, role, text, case role when 'assistant' then false end,
            case role when 'assistant' then 'finished' end
     from unnest($1::text[]) with ordinality as asked (text, at), unnest(array['user', 'assistant']) with ordinality as roles (role, nth)
     order by at, nth`,
    [texts],
  );
  // only the service's work: reading and checking a list takes this process as long as the limit
  const list = async () => {
    const headers = { authorization: `Bearer ${adminKey}` };
    return (await fetch(`${api.url}/v1/sites/${site.domain}/gaps`, { headers })).text();
  };
  const blocks: number[] = [];
  using _ = watchEventLoop({ blockedMs: 50, onBlocked: ({ cpuMs }) => blocks.push(cpuMs) });
  const first = await list();
  const usedBefore = process.cpuUsage();
  const second = await list();
  expect(process.cpuUsage(usedBefore).user / 1e6).toBeLessThan(1);
  expect(blocks).toEqual([]);
  expect(JSON.parse(second)).toEqual(JSON.parse(first));
  expect((await gaps()).length).toBe(500);
}, 120_000);
