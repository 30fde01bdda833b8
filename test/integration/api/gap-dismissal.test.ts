import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from './serve.ts';
import { stageGaps, unanswerable } from './stage-gaps.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));

describe('gaps', () => {
  it('leave the open ones when they are dismissed, also with similar later questions, until they are restored', async () => {
    const { ask, gaps, admin, site, organizationId } = await stageGaps(database, api);
    const other = 'Which fonts can the display show?';
    for (const text of [...unanswerable, other]) await ask(text);
    const states = async () => (await gaps()).map(({ label, state, count }) => [label, state, count]);
    const [gap] = await gaps();
    const change = (verb: string) => admin(`/gaps/${gap?.id}/${verb}`, { method: 'POST' });
    const dismissed = await Promise.all([change('dismiss'), change('dismiss')]);
    for (const { status, body } of dismissed)
      expect([status, body.id, body.state, body.mayBegin]).toEqual([200, gap?.id, 'dismissed', false]);

    const label = 'How do I paint the gearbox?';
    for (const text of [label, 'How can I paint a gearbox?']) await ask(text);
    expect(await states()).toEqual([
      [other, 'open', 1],
      [label, 'dismissed', 3],
    ]);
    const { body: figures } = await admin('/analytics');
    expect(figures.gaps.map((one: any) => one.label)).toEqual([other]);
    for (const verb of ['job', 'check'])
      expect(await change(verb)).toMatchObject({
        status: 409,
        body: { error: 'The gap is dismissed; restore it first.' },
      });
    // the oldest question, which names the gap, is gone
    await database.pool.query(
      `delete from threads where site_id = $1 and id = (
         select thread_id from thread_messages join threads on threads.id = thread_id
         where site_id = $1 and content = $2 order by threads.created_at limit 1
       )`,
      [site.id, label],
    );
    expect(await states()).toEqual([
      [other, 'open', 1],
      [label, 'dismissed', 3],
    ]);

    const restored = await Promise.all([change('restore'), change('restore')]);
    for (const { status } of restored) expect(status).toBe(200);
    expect(await states()).toEqual([
      [expect.stringMatching(/gearbox/), 'open', 4],
      [other, 'open', 1],
    ]);
    const { rows } = await database.pool.query(
      `select action from audit_entries where organization_id = $1 and action like 'gap.%' order by created_at`,
      [organizationId],
    );
    expect(rows).toEqual([{ action: 'gap.dismiss' }, { action: 'gap.restore' }]);
  });

  it('are restored to what has become of them since', async () => {
    const { ask, gaps, admin } = await stageGaps(database, api);
    await ask('How do I paint the gearbox?');
    const [gap] = await gaps();
    const change = (verb: string) => admin(`/gaps/${gap?.id}/${verb}`, { method: 'POST' });
    const job = await change('job');
    await change('dismiss');
    expect(await gaps()).toMatchObject([{ state: 'dismissed', job: { id: job.body.id } }]);
    await database.pool.query(`update jobs set status = 'completed', pr_state = 'merged' where id = $1`, [job.body.id]);
    await api.checkGaps();
    expect(await gaps()).toMatchObject([{ state: 'dismissed' }]);
    expect((await change('restore')).body).toMatchObject({ state: 'indexing', job: { id: job.body.id } });
  });
});
