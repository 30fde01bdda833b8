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
