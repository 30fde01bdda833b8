import { join } from 'node:path';
import { findKeys } from '../../support/canary-keys.ts';
import { findCanaries, type Trace } from '../../support/canary-secrets.ts';
import { hasSsh } from '../../support/ssh/has-ssh.ts';
import { hasUnpacked } from '../chaos/lane.ts';
import { databaseTraces, fileTraces, forgeTraces, gitTraces, temporalTraces } from '../../support/servers/sinks.ts';
import { courses, runJobs, runSshJobs } from './jobs.ts';
import { sshKeys, refusedKeys } from './keys.ts';
import { isMeant } from './meant.ts';
import { configured, createCanaries, type Canaries } from './canaries.ts';
import { addSshProjects } from './ssh.ts';
import { encryptionKeys, repositoryNames, servedBy, setupRan, startLeaksStage, type LeaksStage } from './stage.ts';

const perJob = 62;
const perRequest = 22;
const maxShown = 30;

/**
 * Puts canary secrets into everything that people, repositories, models, forges, receivers and clients can send to a running
 * service, and searches what it wrote for them: database, logs, Temporal, forge, webhooks, responses. Prints its figures and
 * returns the number of secrets found where none may be.
 */
export async function checkLeaks(wanted: number): Promise<number> {
  const jobs = Math.max(courses.length, Math.ceil(wanted / (2 * perJob)));
  const canaries = createCanaries(Object.values(configured), hasSsh ? [sshKeys.ed25519, sshKeys.rsa] : []);
  await using stage = await startLeaksStage(canaries, jobs);
  const answers: Trace[] = [];
  // the worker learns the keys, and the secrets of servers and setups, from these jobs; everything after them contains the keys
  if (!hasSsh) console.log('left out  ssh keys: there is no program ssh here');
  const sshProjects = hasSsh ? await addSshProjects(stage, answers) : [];
  for (const { id } of sshProjects) await stage.equip(id);
  const sshProblems = await runSshJobs(stage, canaries, { projects: sshProjects, answers });
  const ends = await runJobs(stage, canaries, { jobs, answers });
  await askOddly(stage, canaries, {
    count: Math.max(10, Math.ceil((wanted - canaries.count()) / perRequest)),
    answers,
  });
  await askDocumentation(stage, canaries, answers);
  await stage.receiver.until(4);

  const traces = await tracesOf(stage, answers);
  const found = [...findCanaries(traces), ...findKeys(traces, { ...sshKeys, ...refusedKeys })];
  const wrong = found.filter((one) => !isMeant(one));
  const kept = Map.groupBy(found.filter(isMeant), ({ place }) => place);
  console.log(
    `canaries  ${canaries.count()}; jobs: ${[...ends].map(([end, { length }]) => `${end}: ${length}`).join(', ')}`,
  );
  if (hasSsh)
    console.log(
      `ssh keys  ${Object.keys(sshKeys).length} of ${sshProjects.length} projects, and ${Object.keys(refusedKeys).length} refused ones`,
    );
  console.log(
    `searched  ${traces.length} texts: ${[...Map.groupBy(traces, ({ place }) => place.split(':')[0]!)].map(([sink, { length }]) => `${sink}: ${length}`).join(', ')}`,
  );
  console.log(
    `meant     ${[...kept].map(([place, { length }]) => `${place.replace('database: ', '')}: ${length}`).join(', ')}`,
  );
  const problems = wrong.slice(0, maxShown).map(({ place, kind, excerpt }) => `${kind} in ${place}: ${excerpt}`);
  problems.push(...sshProblems);
  if (canaries.count() < wanted) problems.push(`only ${canaries.count()} canary secrets were used`);
  if (kept.size < 5) problems.push('what is meant to be kept was not reached');
  const told = traces.find(({ place }) => place === 'model: request')!.text;
  for (const [name, text] of Object.entries(servedBy))
    if (!told.includes(text)) problems.push(`the MCP server ${name} was not called`);
  if (!answers.some(({ text }) => text.includes(setupRan))) problems.push('no setup has said its secret');
  if (stage.image !== null && !(await hasUnpacked(stage.lane))) problems.push('no command ran in the image');
  const published = stage.github.pullRequests(repositoryNames.open).length;
  if (published === 0) problems.push('no pull request was opened');
  if (ends.size < 2) problems.push('all jobs ended alike');
  for (const problem of problems) console.log(`violation: ${problem}`);
  console.log(`violations: ${Math.max(wrong.length, problems.length)} (aim: 0)`);
  return Math.max(wrong.length, problems.length);
}

/** Sends secrets where a client may put them by mistake. */
async function askOddly(
  { ask, projects, assistantKey }: LeaksStage,
  canaries: Canaries,
  { count, answers }: { count: number; answers: Trace[] },
): Promise<void> {
  const base = `/v2/agent/${projects.open}`;
  for (let request = 0; request < count; request += 1) {
    const tries = [
      ask(`${base}/jobs?access_token=${canaries.plain()}&cursor=${canaries.plain()}`),
      ask(`${base}/job/${canaries.plain()}`),
      ask(`/${canaries.plain()}/job`, { headers: { 'x-request-id': canaries.plain().slice(0, 64) } }),
      ask(`${base}/jobs`, { key: canaries.plain(), headers: { cookie: `session=${canaries.plain()}` } }),
      ask(`${base}/jobs`, {
        headers: { 'user-agent': canaries.plain(), referer: `https://a/?key=${canaries.plain()}` },
      }),
      ask(`${base}/job`, { json: { prompt: 5, [canaries.plain()]: canaries.some(2), model: canaries.plain() } }),
      ask(`${base}/job`, {
        json: { prompt: 'x', source: { repository: `https://u:${canaries.plain()}@github.com/a/b` } },
      }),
      ask(`${base}/webhooks`, { json: { url: `ftp://${canaries.plain()}/`, secret: canaries.plain() } }),
      ask('/v1/session', { json: { key: canaries.plain() } }),
      ask('/v1/session', { json: { link: canaries.plain() } }),
      ask('/v1/projects', {
        json: { repository: `https://x:${canaries.plain()}@a.example/b`, forgeToken: canaries.plain() },
      }),
      ask(`/v1/projects/${projects.open}`, { method: 'PATCH', json: { forgeUrl: canaries.plain() } }),
      ask(`/v1/jobs?q=${canaries.plain()}&cursor=${canaries.plain()}`),
      ask(`/discovery/v1/search/${canaries.plain()}`, { key: assistantKey, json: { query: canaries.plain() } }),
    ];
    for (const { status, text } of await Promise.all(tries)) answers.push({ place: `answer: ${status}`, text });
  }
}

async function askDocumentation({ ask, domain, assistantKey }: LeaksStage, canaries: Canaries, answers: Trace[]) {
  for (const version of ['v1', 'v2']) {
    const json = { fp: 'x', messages: [{ role: 'user', content: `What is on the page? ${canaries.some(2)}` }] };
    // what it quotes is the documentation: the answer is no sink
    await ask(`/discovery/${version}/assistant/${domain}/message`, { key: assistantKey, json });
    const broken = await ask(`/discovery/${version}/assistant/broken-docs/message`, { key: assistantKey, json });
    answers.push({ place: `answer: ${broken.status}`, text: broken.text });
  }
}

async function tracesOf(stage: LeaksStage, answers: Trace[]): Promise<Trace[]> {
  const { lane, servers, github, receiver, repositories, model } = stage;
  const traces: Trace[] = [...answers];
  for await (const trace of databaseTraces(lane.pool)) traces.push(trace);
  const temporal = { address: servers.temporalAddress, namespace: lane.namespace, encryptionKeys };
  for await (const trace of temporalTraces(temporal)) traces.push(trace);
  for await (const trace of fileTraces(servers.home, ['.log', 'temporal.db', 'temporal.db-wal'])) traces.push(trace);
  // where git has its configuration, and a key while it is used
  for await (const { text } of fileTraces(join(lane.home, 'work-1', 'git-home'), ['']))
    traces.push({ place: 'file: home of git', text });
  // what is there of MCP servers while the worker runs, and what is kept for their next starts
  for await (const { text } of fileTraces(stage.temporary, ['']))
    traces.push({ place: 'file: of a running server', text });
  for await (const { text } of fileTraces(join(lane.home, 'work-1'), ['layer.tar']))
    traces.push({ place: 'file: kept of a server', text });
  for (const name of Object.values(repositoryNames)) traces.push(...forgeTraces(github, name));
  for (const repository of repositories) {
    for await (const trace of gitTraces(repository)) traces.push(trace);
  }
  for (const { text } of receiver.received) traces.push({ place: 'webhook: body', text });
  // what a process knows goes to no provider either
  const asked = JSON.stringify(model.requests.map(({ body }) => body));
  return [...traces, { place: 'model: request', text: asked }];
}
