import { setTimeout as delay } from 'node:timers/promises';
import { answerOf } from '../../../cli/http/api.ts';
import type { Stage } from './jobs.ts';

interface Question {
  text: string;
  vote?: 'up' | 'down';
  reasons?: string[];
  comment?: string;
}

const questions: Question[] = [
  { text: 'How do I run a scene?', vote: 'up' },
  { text: 'How often does the controller try a lamp that does not answer?', vote: 'up' },
  { text: 'Is there a mobile app for Android?' },
  { text: 'Is there an app for iPhone?', vote: 'down', reasons: ['it does not answer the question'] },
  { text: 'Which port must the firewall let through?' },
  {
    text: 'Does a lamp keep its schedule without Wi-Fi?',
    vote: 'down',
    reasons: ['it does not answer the question', 'it is out of date'],
    comment: 'I want to know what happens at night when the router is off.',
  },
  { text: 'How do I pair a second lamp?' },
  { text: 'Can two people control one lamp?' },
];

const searches = ['firmware', 'alexa', 'bluetooth mesh', 'firmware', 'alexa', 'firmware'];

/** Asks the questions of readers, rates some of the answers, and dismisses a gap. */
export async function askReaders({ stack, api }: Stage): Promise<void> {
  const { baseUrl, domain, assistantKey } = stack.localJson;
  const post = async (path: string, body: object): Promise<unknown> => {
    const response = await fetch(`${baseUrl}/discovery/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  for (const [number, { text, vote, ...more }] of questions.entries()) {
    const message = { fp: `reader-${number}`, stream: false, messages: [{ role: 'user', content: text }] };
    const { threadId, messageId } = (await post(`v2/assistant/${domain}/message`, message)) as Record<string, string>;
    if (vote !== undefined) await post(`v2/assistant/${domain}/feedback`, { threadId, messageId, vote, ...more });
  }
  const { gaps } = await answerOf(api.GET('/v1/sites/{domain}/gaps', { params: { path: { domain } } }));
  const id = gaps.at(-1)?.id ?? '';
  await answerOf(api.POST('/v1/sites/{domain}/gaps/{id}/dismiss', { params: { path: { domain, id } } }));
  for (const query of searches) await post(`v1/search/${domain}`, { query });
}

/** Compares two configurations of the assistant by a question set. */
export async function evaluateSite({ stack, api }: Stage): Promise<void> {
  const { domain } = stack.localJson;
  const sets = { params: { path: { domain } } };
  const questions = [
    { text: 'How do I run a scene?', expectedPages: ['guides/scenes'], expectedFacts: ['--fade'] },
    { text: 'How do I change the port?', expectedPages: ['reference/configuration'], expectedFacts: ['4170'] },
    { text: 'What can I do if a lamp does not answer?', expectedPages: ['guides/troubleshooting'] },
    { text: 'Which paint suits the gearbox?', expectsAnswer: false },
  ];
  const body = { name: 'First week', questions };
  const { id: setId } = await answerOf(api.POST('/v1/sites/{domain}/question-sets', { ...sets, body }));
  const configurations = [{ retrievalPageSize: 10 }, { retrievalPageSize: 1 }];
  const wanted = { setId, configurations };
  const { id } = await answerOf(api.POST('/v1/sites/{domain}/evaluations', { ...sets, body: wanted }));
  const params = { path: { domain, id } };
  const state = async () => (await answerOf(api.GET('/v1/sites/{domain}/evaluations/{id}', { params }))).state;
  while ((await state()) === 'running') await delay(300);
}

/** Creates what the settings list: keys, a project of a hosted forge, and a webhook whose receiver does not answer. */
export async function createSettings({ stack, api, pool }: Stage): Promise<void> {
  const { projectId } = stack.localJson;
  await answerOf(api.POST('/v1/keys', { body: { kind: 'admin', name: 'continuous integration', expiresInDays: 90 } }));
  await answerOf(
    api.POST('/v1/keys', {
      body: { kind: 'assistant', name: 'docs.lamp.example', allowedOrigins: ['https://docs.lamp.example'] },
    }),
  );
  const { id } = await answerOf(api.POST('/v1/keys', { body: { kind: 'admin', name: 'laptop of Ada' } }));
  await api.DELETE('/v1/keys/{id}', { params: { path: { id } } });
  await answerOf(
    api.POST('/v1/projects', {
      body: { repository: 'https://github.com/lamp-example/firmware-of-the-controller', name: 'Firmware' },
    }),
  );
  const params = { path: { projectId } };
  const webhook = await answerOf(
    api.POST('/v2/agent/{projectId}/webhooks', {
      params,
      body: {
        url: 'http://127.0.0.1:9/docket',
        description: 'Posts to #docs in the team chat',
        eventTypes: ['job.completed', 'job.failed', 'job.waiting'],
      },
    }),
  );
  await api.POST('/v2/agent/{projectId}/webhooks/{id}/ping', { params: { path: { projectId, id: webhook.id } } });
  await answerOf(
    api.POST('/v1/projects/{id}/secrets', {
      params: { path: { id: projectId } },
      body: { name: 'NPM_TOKEN', value: 'of-the-pictures' },
    }),
  );
  await pool.query(
    `update api_keys set last_used_at = now() - interval '3 hours' where name = 'continuous integration'`,
  );
}
