import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSdkClient } from '../../support/sdk-clients/sdk-client.ts';
import { sdkVersions } from '../../support/sdk-clients/sdk-client-interface.ts';
import { startAssistantStack, type AssistantStack } from '../../support/sdk-clients/sdk-client-service.ts';

let running: AssistantStack;

beforeAll(async () => {
  running = await startAssistantStack();
});

afterAll(() => running?.[Symbol.asyncDispose]());

afterEach(() => {
  expect(running.model.violations).toEqual([]);
  expect(running.model.pending()).toBe(0);
});

/** The messages of the model's last call, as text. */
function lastPrompt(): string {
  return JSON.stringify(running.model.requests.at(-1)?.body.messages);
}

describe.each(sdkVersions)('AI SDK %s', (version) => {
  it('shows what is wrong with a key, and continues with the right one', async () => {
    const { service, model } = running;
    const client = await createSdkClient({ version, service });
    const callsBefore = model.requests.length;
    await client.ask('How do I pair a lamp?', { key: `${service.assistantKey.slice(0, -1)}!` });

    expect(client.status()).toBe('error');
    expect(JSON.parse(client.error() ?? '')).toEqual({ error: expect.stringMatching(/key/) });
    expect(client.roles()).toEqual(['user']);
    expect(model.requests).toHaveLength(callsBefore);

    model.script({ text: 'Hold its button.' });
    await client.ask('How do I pair it?');
    expect(client.error()).toBeNull();
    expect(client.status()).toBe('ready');
    expect(client.text()).toBe('Hold its button.');
    expect(client.roles()).toEqual(['user', 'user', 'assistant']);
  });

  it('keeps the text before an error in the stream, shows the error, and takes another question', async () => {
    const { service, model } = running;
    const client = await createSdkClient({ version, service });
    // the connection is cut only after the text before it has arrived
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'five ', 'seconds.'], stall: 4, cut: 5 });
    const asked = client.ask('How do I pair a lamp?');
    await client.untilShown('Hold its');
    model.requests.at(-1)!.release();
    await asked;

    expect(client.error()).toMatch(/^The answer was interrupted .*Ask again\.$/);
    expect(client.status()).toBe('error');
    expect(client.text()).toMatch(/^Hold its/);
    expect(client.roles()).toEqual(['user', 'assistant']);
    const { header, ...places } = client.threadPlaces();
    expect(header).toMatch(/^thr_/);
    expect(Object.values(places)).toContain(header);

    model.script({ text: 'Run lamp pair.' });
    await client.ask('And then?');
    expect(client.error()).toBeNull();
    expect(client.text()).toBe('Run lamp pair.');
    expect(client.roles()).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(client.threadPlaces()['header']).toBe(header);
    expect(lastPrompt()).toContain('Hold its');
  });

  it('ends the model call when it stops, without an error, and takes another question', async () => {
    const { service, model } = running;
    const client = await createSdkClient({ version, service });
    model.script({ text: ['Hold ', 'its ', 'button ', 'for ', 'ever.'], stall: 4 });
    const asked = client.ask('How do I pair a lamp?');
    await client.untilShown('Hold its');
    const call = model.requests.at(-1)!;
    await client.stop();
    await asked;

    expect(await call.closed).toBe('aborted');
    expect(client.error()).toBeNull();
    expect(client.status()).toBe('ready');
    expect(client.text()).toMatch(/^Hold its/);
    expect(client.text()).not.toContain('ever');

    const reloaded = await createSdkClient({
      version,
      service,
      messages: client.saved(),
      threadId: client.threadPlaces()['header'],
    });
    model.script({ text: 'Run lamp pair.' });
    await reloaded.ask('And then?');
    expect(reloaded.error()).toBeNull();
    expect(reloaded.text()).toBe('Run lamp pair.');
    expect(reloaded.roles()).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(reloaded.threadPlaces()['header']).toBe(client.threadPlaces()['header']);
    expect(lastPrompt()).toContain('Hold its');
  });
});
