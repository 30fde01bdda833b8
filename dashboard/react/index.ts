'use client';

export { DocketChat, type DocketChatProps } from './docket-chat.tsx';
export { useDocketChat, type DocketChat as DocketChatState, type DocketChatOptions } from './use-docket-chat.ts';
export type { Labels } from '../widget/labels.ts';
export type { ClientOptions, Mark, Passage, QuestionContext, Source } from '../widget/client.ts';
export type { ChatMessage, ChatState, ChatStatus, Vote } from '../widget/chat-state.ts';
