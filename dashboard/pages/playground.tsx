import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { linkTargetOf } from '../assistant/link-target.ts';
import { PassageList } from '../assistant/passage-list.tsx';
import { findPassages } from '../assistant/passages.ts';
import { plainMessage } from '../assistant/plain-message.ts';
import { PlaygroundStart } from '../assistant/playground-start.tsx';
import { QuestionSettings, type ReaderContext } from '../assistant/question-settings.tsx';
import { useSession } from '../components/session.tsx';
import { NoSites, SiteChoice } from '../components/site-choice.tsx';
import { queryClient } from '../queries.ts';
import { Chat } from '../widget/chat.tsx';
import { anonymous, createClientWith } from '../widget/client.ts';
import { createConversation } from '../widget/conversation.ts';
import { defaultLabels } from '../widget/labels.ts';
import { useConversation } from '../widget/use-conversation.ts';
import { useTitle } from '../use-title.ts';
import '../widget/chat.css';
import '../styles/job.css';
import '../styles/assistant.css';

/** Asks a site's assistant as a reader would, and shows the search results. */
export function PlaygroundPage() {
  const { sites } = useSession();
  const { site: domain = sites[0]?.domain ?? '', question } = useSearch({ from: '/playground' });
  const navigate = useNavigate();
  useTitle('Playground');
  if (domain === '') return <NoSites title="Playground" />;
  return (
    <>
      <div className="page-head">
        <h1>Playground</h1>
        <SiteChoice domain={domain} onChange={(site) => void navigate({ to: '/playground', search: { site } })} />
      </div>
      <Playground key={domain} domain={domain} firstDraft={question} />
    </>
  );
}

/** `firstDraft` is a question to start with, as a reader. */
function Playground({ domain, firstDraft }: { domain: string; firstDraft: string | undefined }) {
  const [reader, setReader] = useState<ReaderContext>({
    currentPath: '',
    context: { type: 'textSelection', value: '' },
  });
  const [isCounted, setCounted] = useState(firstDraft !== undefined);
  const { client, conversation } = useMemo(() => {
    const user = isCounted ? anonymous : 'playground';
    // the session cookie authenticates the requests
    const client = createClientWith({ baseUrl: location.origin, site: domain, user }, fetch);
    return { client, conversation: createConversation({ client }) };
  }, [domain, isCounted]);
  const optionsOf = useCallback(() => {
    const [currentPath, value] = [reader.currentPath.trim(), reader.context.value.trim()];
    return { currentPath, context: value === '' ? [] : [{ ...reader.context, value }] };
  }, [reader]);
  const driver = useConversation(client, conversation, optionsOf);
  const { id, text = '' } = driver.messages.findLast(({ role }) => role === 'user') ?? {};
  const passagesQuery = useMemo(
    () => ({ queryKey: ['passages', domain, id], queryFn: () => findPassages(domain, text), staleTime: Infinity }),
    [domain, id, text],
  );
  const passages = useQuery({ ...passagesQuery, enabled: id !== undefined });
  const shown = useMemo(
    () => ({
      ...driver,
      messages: driver.messages.map((message) => (message.role === 'user' ? message : plainMessage(message))),
      // the cards quote the passages that are listed
      search: () => queryClient.fetchQuery(passagesQuery),
    }),
    [driver, passagesQuery],
  );
  const target = useMemo(() => linkTargetOf(domain), [domain]);
  return (
    <div className="playground">
      <div className="playground-chat">
        <Chat
          driver={shown}
          labels={defaultLabels}
          target={target}
          questions={null}
          selection={null}
          onForgetSelection={() => {}}
          welcome={<PlaygroundStart domain={domain} />}
          firstDraft={firstDraft}
          settings={
            <QuestionSettings
              reader={reader}
              onReader={setReader}
              isCounted={isCounted}
              onCounted={setCounted}
              hasStarted={driver.messages.length > 0}
              isBusy={driver.status === 'submitted' || driver.status === 'streaming'}
              onNew={conversation.clear}
            />
          }
        />
      </div>
      <PassageList
        domain={domain}
        search={{ isIdle: id === undefined, isPending: passages.isPending, error: passages.error, data: passages.data }}
      />
    </div>
  );
}
