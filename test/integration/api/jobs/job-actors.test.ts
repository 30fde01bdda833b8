import { expect, it } from 'vitest';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

/** An organization, and two people of it: one with a key of her own, one who signed in by a link. */
async function scene() {
  const project = await buildProject(database.pool);
  const { key, row } = await buildKey(database.pool, { organizationId: project.organizationId, name: 'Anna' });
  const { body } = await api.ask('/v1/sign-in-links', { key, json: { name: 'Ben' } });
  const session = await api.ask('/v1/session', { json: { link: body.link } });
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const as = {
    anna: { key },
    ben: { headers: { cookie, origin: api.url } },
  };
  const post = async (who: keyof typeof as, path: string, json: unknown = {}) => {
    const answer = await api.ask(path, { ...as[who], method: 'POST', json });
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body;
  };
  const turns = async (id: string) => (await api.ask(`${jobs}/${id}/turns`, { key })).body.turns;
  const jobs = `/v2/agent/${project.id}/job`;
  const anna = { name: 'Anna', keyId: row.id };
  return { project, key, keyId: row.id, anna, ben: { name: 'Ben', keyId: row.id }, post, turns, jobs };
}

const idsOf = ({ body }: { body: { jobs: { id: string }[] } }) => body.jobs.map(({ id }) => id);

it('names who started, messaged and canceled a job, in its turns', async () => {
  const { anna, ben, post, turns, jobs } = await scene();
  const { id } = await post('anna', jobs, { prompt: 'Go.' });
  await post('ben', `${jobs}/${id}/message`, { prompt: 'On.' });
  expect(await turns(id)).toMatchObject([{ startedBy: anna, endedBy: null, messages: [{ sentBy: ben }] }]);
  await post('ben', `${jobs}/${id}/cancel`);
  await post('ben', `${jobs}/${id}/message`, { prompt: 'Again.' });
  await post('anna', `${jobs}/${id}/cancel`);
  await post('ben', `${jobs}/${id}/archive`);
  expect(await turns(id)).toMatchObject([
    { startedBy: anna, endedBy: ben },
    { startedBy: ben, endedBy: anna, messages: [] },
  ]);
});

it('names who approved a plan as the one who started the next turn, and who rejected it', async () => {
  const { project, anna, ben, post, turns, jobs } = await scene();
  const planned = async () => {
    const { id } = await post('anna', jobs, { prompt: 'Go.', plan: 'review' });
    const wait = { jobId: id, turn: 1, title: 'Plan', plan: 'Do it.', question: null, days: 7 };
    await createWorkerJobStore(database.pool).wait(wait);
    return id;
  };
  const approved = await planned();
  await post('ben', `${jobs}/${approved}/approve`);
  expect(await turns(approved)).toMatchObject([{ startedBy: anna, endedBy: null }, { startedBy: ben }]);
  const rejected = await planned();
  await post('ben', `${jobs}/${rejected}/reject`);
  expect(await turns(rejected)).toMatchObject([{ startedBy: anna, endedBy: ben }]);
  await post('anna', `${jobs}/${rejected}/message`, { prompt: 'Plan again.' });
  expect(await turns(rejected)).toMatchObject([{ endedBy: ben }, { startedBy: anna, endedBy: null }]);
  const cancelled = await planned();
  await post('ben', `${jobs}/${cancelled}/cancel`);
  await post('anna', `${jobs}/${cancelled}/message`, { prompt: 'Plan again.' });
  expect(await turns(cancelled)).toMatchObject([{ endedBy: ben }, { endedBy: null }]);
  const { id } = await buildJob(database.pool, project);
  expect(await turns(id)).toMatchObject([{ startedBy: { name: null, keyId: null } }]);
});

it('filters the list by who started a job, also after the key was revoked, and for its organization only', async () => {
  const { key, keyId, anna, ben, post, jobs, project } = await scene();
  const { key: later } = await buildKey(database.pool, { organizationId: project.organizationId });
  const one = await post('anna', jobs, { prompt: 'One.' });
  const two = await post('ben', jobs, { prompt: 'Two.' });
  expect((await api.ask('/v1/jobs', { key })).body.jobs).toMatchObject([{ startedBy: ben }, { startedBy: anna }]);
  await api.ask(`/v1/keys/${keyId}`, { key: later, method: 'DELETE' });
  expect(idsOf(await api.ask('/v1/jobs?startedBy=Anna', { key: later }))).toEqual([one.id]);
  expect(idsOf(await api.ask('/v1/jobs?startedBy=Ben', { key: later }))).toEqual([two.id]);
  expect(idsOf(await api.ask('/v1/jobs?startedBy=Carl', { key: later }))).toEqual([]);
  const stranger = await scene();
  expect(idsOf(await api.ask('/v1/jobs?startedBy=Anna', { key: stranger.key }))).toEqual([]);
});

it('names who requested the merge of a pull request last, and who closed it', async () => {
  const { project, anna, ben, post, key } = await scene();
  const open = async (head: string) => {
    const row = await openPullRequest(project, head);
    return `/v1/pull-requests/${row.id}`;
  };
  const merged = await open('docket/merged');
  expect((await api.ask(merged, { key })).body).toMatchObject({ merge: { requestedBy: null }, closedBy: null });
  await post('anna', `${merged}/merge`);
  await post('ben', `${merged}/merge`);
  expect((await api.ask(merged, { key })).body).toMatchObject({ merge: { requestedBy: ben }, closedBy: null });
  const closed = await open('docket/closed');
  await post('anna', `${closed}/close`);
  expect((await api.ask(closed, { key })).body).toMatchObject({ merge: { requestedBy: null }, closedBy: anna });
});

async function openPullRequest(project: ProjectRow, head: string) {
  const row = await createWorkerPullRequestStore(database.pool).create({
    repository: project.repository,
    head,
    base: 'main',
    title: 'Change',
    body: '',
    draft: false,
  });
  await buildJob(database.pool, project, { status: 'completed', prId: row.id });
  return row;
}
