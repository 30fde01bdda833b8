import type { ChatMessage, RecordedRequest } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-wire.ts';
import type { Canaries } from './canaries.ts';

/** How the work of a job ends. */
export type Course =
  | 'published'
  | 'silent'
  | 'provider-error'
  | 'forge-error'
  | 'push-refused'
  | 'setup-failed'
  | 'plan'
  | 'question';

/** A model that says secrets wherever it can say anything. The prompt names the job and its course: `Job 3 (published)`. */
export function secretiveModel(canaries: Canaries) {
  return ({ body }: Pick<RecordedRequest, 'body'>): ScriptedReply => {
    const texts = body.messages.filter(({ role }) => role === 'user').map(textOf);
    const [, job = '0', course = 'published'] = /Job (\d+) \(([\w-]+)\)/.exec(texts[0] ?? '') ?? [];
    const lastUser = body.messages.findLastIndex(({ role }) => role === 'user');
    const step = body.messages.slice(lastUser).filter(({ role }) => role === 'assistant').length;
    if (course === 'silent')
      return { toolCalls: [{ name: 'finish', input: { title: 'Nothing', summary: 'Nothing.' } }] };
    if (course === 'provider-error' && step === 1)
      return { status: 400, errorMessage: `Incorrect API key provided: ${canaries.some(4)}` };
    if (step === 0) {
      return {
        text: inPieces(`I look around. ${canaries.some(6)}`),
        toolCalls: [
          { name: 'read', input: { path: `docs/page-${job}.md` } },
          { name: 'list', input: { path: 'docs' } },
          { name: 'grep', input: { pattern: canaries.plain() } },
          { name: 'docs__look', input: { for: canaries.shaped() } },
          { name: 'docs__fail', input: {} },
          { name: 'desk__look', input: { for: canaries.shaped() } },
          { name: canaries.plain(), input: { note: canaries.shaped() } },
        ],
      };
    }
    const has = (name: string) =>
      body.messages.some(({ tool_calls: calls = [] }) => calls.some((call) => call.function.name === name));
    if (step === 1 && course === 'question' && !has('ask')) {
      const question = `Which one? ${canaries.shaped()} ${canaries.known()}`;
      return { toolCalls: [{ name: 'ask', input: { question, choices: [canaries.plain(), 'Neither'] } }] };
    }
    if (step === 1 && (course !== 'plan' || has('finish'))) {
      const path = `notes/${texts.length}-${job}-${canaries.plain()}.md`;
      return { text: canaries.shaped(), toolCalls: [{ name: 'write', input: { path, content: canaries.some(4) } }] };
    }
    const summary = `I added a note.\n\n${canaries.some(4)}`;
    const input = { title: `Add a note about ${canaries.plain()}`, summary, checked: canaries.shaped() };
    return { toolCalls: [{ name: 'finish', input }] };
  };
}

/** Split where a redactor that examines one chunk at a time finds nothing. */
function inPieces(text: string): string[] {
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

function textOf({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
