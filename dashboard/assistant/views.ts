import { searchTexts } from '../search-texts.ts';

/** Filters for the list of conversations. */
export const views = {
  all: {},
  unanswered: { answered: false },
  answered: { answered: true },
  helpful: { vote: 'up' },
  'not helpful': { vote: 'down' },
} as const;
export type ConversationView = keyof typeof views;
export const conversationViews: ConversationView[] = ['all', 'unanswered', 'answered', 'helpful', 'not helpful'];

/** Criteria by which the list of conversations can be narrowed from the analytics. */
const narrowings = ['since', 'until', 'topic', 'version', 'language', 'page'] as const;
export type Narrowing = Partial<Record<(typeof narrowings)[number], string>>;

export interface ConversationSearch extends Narrowing {
  site?: string;
  view?: ConversationView;
  q?: string;
}

/** Returns the criteria that an address names. */
export function narrowingOf(search: Record<string, unknown>): Narrowing {
  return searchTexts(search, ...narrowings);
}
