/** What the list of conversations can be narrowed to. */
export const views = {
  all: {},
  unanswered: { answered: false },
  answered: { answered: true },
  liked: { vote: 'up' },
  disliked: { vote: 'down' },
} as const;
export type ConversationView = keyof typeof views;
export const conversationViews: ConversationView[] = ['all', 'unanswered', 'answered', 'liked', 'disliked'];
