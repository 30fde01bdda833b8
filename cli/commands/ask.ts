import type { Command } from 'commander';
import { z } from 'zod';
import { asOneLine } from '../../lib/redaction/log-line.ts';
import { CommandError } from '../command-error.ts';
import { parseAnswer, streamOf, whole, type Api } from '../http/api.ts';
import { messagesIn } from '../http/events.ts';
import { connect, type CommandContext } from './context.ts';
import { isJson, plain, print } from './output.ts';

const partSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text-delta'), delta: z.string() }),
  z.object({ type: z.literal('source-url'), url: z.string(), title: z.string().optional() }),
  z.object({ type: z.literal('error'), errorText: z.string() }),
  z.object({ type: z.literal('finish') }),
]);
const typedSchema = z.object({ type: z.string() });
const wantedTypes = new Set<string>(partSchema.options.map(({ shape }) => shape.type.value));

/** Adds `docket ask`. */
export function addAskCommand(program: Command, context: CommandContext): void {
  program
    .command('ask')
    .description('ask the documentation; prints the answer as it comes, then its sources')
    .argument('<question>', 'the question')
    .option('--site <domain>', 'the site (default: DOCKET_SITE, or the site of the local stack)')
    .action(async (question: string, options: { site?: string }, command: Command) => {
      const { api, local } = await connect(context, command, 'assistant');
      const domain = options.site ?? (context.env['DOCKET_SITE'] || local?.domain);
      if (domain === undefined) throw new CommandError('Set the site with --site or DOCKET_SITE.', { exitCode: 2 });
      const write = isJson(command) ? () => {} : (text: string) => process.stdout.write(plain(text));
      const { answer, sources } = await whole(askQuestion(api, { domain, question, write }));
      if (isJson(command)) return print(JSON.stringify({ answer, sources }, null, 2));
      print(answer.endsWith('\n') ? '' : '\n');
      if (sources.length > 0)
        print(['Sources:', ...sources.map(({ title, url }) => asOneLine(`  ${title}  ${url}`))].join('\n'));
    });
}

interface Question {
  domain: string;
  question: string;
  /** Receives the answer as it comes. */
  write(text: string): void;
  signal?: AbortSignal;
}

/** Asks the documentation of a site, and returns the answer with its sources. */
export async function askQuestion(api: Api, { domain, question, write, signal }: Question) {
  const call = api.POST('/discovery/v2/assistant/{domain}/message', {
    params: { path: { domain } },
    body: {
      fp: 'docket-cli',
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: question }] }],
    },
    headers: { Accept: 'text/event-stream' },
    parseAs: 'stream',
    signal,
  });
  return readAnswer(await streamOf(call), write);
}

async function readAnswer(stream: ReadableStream<Uint8Array<ArrayBuffer>>, write: (text: string) => void) {
  let answer = '';
  const sources: { title: string; url: string }[] = [];
  for await (const { data } of messagesIn(stream)) {
    if (data === '[DONE]') continue;
    // later versions may send other types
    if (!wantedTypes.has(parseAnswer(typedSchema, data).type)) continue;
    const part = parseAnswer(partSchema, data);
    switch (part.type) {
      case 'text-delta':
        answer += part.delta;
        write(part.delta);
        break;
      case 'source-url':
        sources.push({ title: part.title ?? part.url, url: part.url });
        break;
      case 'error':
        if (answer !== '') write('\n');
        throw new CommandError(part.errorText);
      case 'finish':
        return { answer, sources };
    }
  }
  if (answer !== '') write('\n');
  throw new CommandError('The answer was interrupted. Ask again.');
}
