import { z } from 'zod';

interface Service {
  baseUrl: string;
  domain: string;
  assistantKey: string;
}

const eventSchema = z.object({
  type: z.string(),
  delta: z.string().optional(),
  title: z.string().optional(),
  url: z.string().optional(),
  errorText: z.string().optional(),
});

/** Asks one question over HTTP and prints the answer as it streams, then its sources. Throws when there is no answer. */
export async function askQuestion(
  { baseUrl, domain, assistantKey }: Service,
  { question, signal }: { question: string; signal: AbortSignal },
): Promise<void> {
  const address = `${baseUrl}/discovery/v2/assistant/${domain}/message`;
  const body = JSON.stringify({
    fp: 'anonymous',
    messages: [{ id: 'q1', role: 'user', parts: [{ type: 'text', text: question }] }],
  });
  console.log(`POST ${address}`);
  console.log(`  "${question}"\n`);

  const headers = { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' };
  const response = await fetch(address, { method: 'POST', headers, body, signal });
  if (!response.ok || response.body === null) {
    throw new Error(`The question was not answered: ${response.status} ${await response.text()}`);
  }

  const sources: string[] = [];
  let buffer = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    const events = buffer.split('\n\n');
    buffer = events.pop() ?? '';
    for (const event of events) {
      if (!event.startsWith('data: {')) continue;
      const part = eventSchema.parse(JSON.parse(event.slice('data: '.length)));
      if (part.type === 'text-delta') process.stdout.write(part.delta ?? '');
      if (part.type === 'source-url') sources.push(`${part.title ?? ''} (${part.url ?? ''})`);
      if (part.type === 'error') throw new Error(`The answer ended early: ${part.errorText ?? ''}`);
    }
  }
  console.log(`\n\nSources:\n${sources.map((source) => `  - ${source}`).join('\n')}`);
}
