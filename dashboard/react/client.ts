export { createClient, AnswerError } from '../widget/client.ts';
export type {
  Answer,
  AnswerEvent,
  AskedMessage,
  Client,
  ClientOptions,
  Mark,
  Passage,
  Question,
  QuestionContext,
  Rating,
  ResumeHandle,
  Source,
  SuggestedPage,
  Suggestions,
} from '../widget/client.ts';
export { createConversation } from '../widget/conversation.ts';
export type {
  AskOptions,
  ChatMessage,
  ChatState,
  ChatStatus,
  Conversation,
  ConversationOptions,
  Vote,
} from '../widget/conversation.ts';
