import { useCallback, useMemo, useSyncExternalStore } from 'react';
import type { ChatDriver } from './chat-driver.ts';
import type { Client, QuestionContext } from './client.ts';
import type { AskOptions, Conversation } from './conversation.ts';

/** Connects a conversation to the components. `optionsOf` adds to a question what is known of its reader's page. */
export function useConversation(
  client: Client,
  conversation: Conversation,
  optionsOf: (context: QuestionContext[]) => AskOptions,
): ChatDriver {
  const state = useSyncExternalStore(conversation.subscribe, conversation.state);
  const starterQuestions = useCallback(async () => (await client.suggest('')).questions, [client]);
  return useMemo(
    () => ({
      ...state,
      ask: (question, context) => void conversation.ask(question, optionsOf(context)),
      edit: (id, question, context) => void conversation.edit(id, question, optionsOf(context)),
      stop: conversation.stop,
      rate: conversation.rate,
      clear: conversation.clear,
      search: client.search,
      starterQuestions,
    }),
    [state, client, conversation, optionsOf, starterQuestions],
  );
}
