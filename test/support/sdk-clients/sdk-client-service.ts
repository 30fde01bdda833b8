import { setTimeout as delay } from 'node:timers/promises';
import type { LocalJson } from '../../../local/local-json.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../stack/stack.ts';

export interface AssistantStack extends AsyncDisposable {
  stack: TestStack;
  service: LocalJson;
  model: ScriptedModelServer;
}

/** The whole service with a scripted model behind the assistant, its sample site indexed. */
export async function startAssistantStack(variables: NodeJS.ProcessEnv = {}): Promise<AssistantStack> {
  await using resources = new AsyncDisposableStack();
  const model = resources.use(await startScriptedModelServer());
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/scripted',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'model-key-0123456789',
    ...variables,
  };
  const stack = resources.use(await startTestStack({ env }));
  await whenIndexed(stack.localJson);
  const running = resources.move();
  return { stack, service: stack.localJson, model, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The sample site is indexed in the background; until then its endpoints answer 503. The hook's time limit ends the wait. */
export async function whenIndexed({ baseUrl, domain, assistantKey }: LocalJson): Promise<void> {
  for (;;) {
    const response = await fetch(`${baseUrl}/discovery/v1/search/${domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'lamp' }),
    });
    const text = await response.text();
    if (response.ok) return;
    if (response.status !== 503) throw new Error(`The search answered ${response.status}: ${text}`);
    await delay(100);
  }
}
