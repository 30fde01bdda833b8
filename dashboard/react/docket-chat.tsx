import { useMemo, useSyncExternalStore } from 'react';
import { Chat } from '../widget/chat.tsx';
import { defaultLabels, type Labels } from '../widget/labels.ts';
import { useDocketChat, type DocketChatOptions } from './use-docket-chat.ts';
import { usePageSelection } from './use-page-selection.ts';

export interface DocketChatProps extends DocketChatOptions {
  /** Questions to start with; by default those of the site. */
  questions?: string[];
  labels?: Partial<Labels>;
  /** Base of relative links: the URL of the documentation. By default the page's own URL. */
  pagesUrl?: string;
}

/**
 * Shows a chat with a documentation site. It fills its parent and needs `@docket/react/styles.css`. Another site or `id`
 * is another conversation. A server renders nothing, because the conversation is kept in the browser.
 */
export function DocketChat(props: DocketChatProps) {
  const isHydrated = useSyncExternalStore(
    neverChanges,
    () => true,
    () => false,
  );
  if (!isHydrated) return null;
  return <Conversation key={JSON.stringify([props.baseUrl, props.site, props.id])} {...props} />;
}

function Conversation({ questions, labels, pagesUrl, ...options }: DocketChatProps) {
  const chat = useDocketChat(options);
  const { selection, takeSelection, forgetSelection } = usePageSelection();
  const target = useMemo(() => ({ pagesUrl: pagesUrl ?? document.baseURI }), [pagesUrl]);
  return (
    <Chat
      driver={chat}
      labels={{ ...defaultLabels, ...labels }}
      target={target}
      questions={questions ?? null}
      selection={selection}
      onForgetSelection={forgetSelection}
      onFocusField={takeSelection}
    />
  );
}

function neverChanges(): () => void {
  return () => {};
}
