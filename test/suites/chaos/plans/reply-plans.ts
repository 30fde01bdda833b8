import type { ScriptedReply } from '../../../support/servers/scripted-model-server.ts';
import type { Random } from './random.ts';

/** One question: the model's answer to it, and its reader's behavior. */
export interface ReplyPlan {
  index: number;
  /** Part of the question, by which the model server recognizes it. */
  marker: string;
  protocol: 'v1' | 'v2';
  behaviour: 'whole' | 'slow' | 'refuses' | 'ends early' | 'stalls' | 'says nothing';
  reply: ScriptedReply;
  /** The model's answer without faults; every word is unique. */
  text: string;
  isResumable: boolean;
  /** After how many bytes the reader leaves: the first time, then each time it returns; finally it stays. */
  cuts: number[];
}

const behaviours = [
  'whole',
  'whole',
  'slow',
  'slow',
  'slow',
  'refuses',
  'ends early',
  'stalls',
  'says nothing',
] as const;

export function planReplies(count: number, random: Random): ReplyPlan[] {
  return Array.from({ length: count }, (_, index) => planReply(index, random));
}

function planReply(index: number, random: Random): ReplyPlan {
  const behaviour = random.pick(behaviours);
  const words = Array.from({ length: random.between(3, 80) }, (_, word) => `q${index}w${word} `);
  const reply = replyOf(behaviour, words, random);
  const cutCount = random.pick([0, 1, 1, 1, 2, 3]);
  return {
    index,
    marker: `question-${index}-end`,
    protocol: random.pick(['v1', 'v2']),
    behaviour,
    reply,
    text: behaviour === 'says nothing' || behaviour === 'refuses' ? '' : words.join(''),
    isResumable: random.next() < 0.85,
    cuts: Array.from({ length: cutCount }, () => random.between(1, 200 + words.length * 70)),
  };
}

function replyOf(behaviour: ReplyPlan['behaviour'], words: string[], random: Random): ScriptedReply {
  const at = random.between(1, words.length);
  switch (behaviour) {
    case 'whole':
      return { text: words };
    case 'slow':
      return { text: words, chunkDelayMs: random.between(5, 40) };
    case 'refuses':
      return { status: random.pick([401, 429, 500, 503]) };
    case 'ends early':
      return { text: words, chunkDelayMs: 2, cut: at };
    case 'stalls':
      return { text: words, chunkDelayMs: 2, stall: random.next() < 0.3 ? true : at };
    case 'says nothing':
      return { text: '' };
  }
}
