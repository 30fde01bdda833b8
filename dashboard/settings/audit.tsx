import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { Ago } from '../components/time.tsx';
import { answerOf, api, messageOf } from '../http/client.ts';

/** Who administered what. */
export function AuditPage() {
  const audit = useInfiniteQuery({
    queryKey: ['audit'],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v1/audit', { params: { query: { limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) } } }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  if (audit.isPending) return <Loading />;
  if (audit.isError) return <ErrorNote title="The log could not be read" message={messageOf(audit.error)} />;
  const entries = audit.data.pages.flatMap((page) => page.entries);
  return (
    <>
      <div className="table-scroll" tabIndex={0} role="group" aria-label="What was administered">
        <table className="table">
          <thead>
            <tr>
              <th>When</th>
              <th>What</th>
              <th>To what</th>
              <th>By</th>
            </tr>
          </thead>
          <tbody>
            {entries.map(({ id, at, action, subject, actor }) => (
              <tr key={id}>
                <td>
                  <Ago date={at} />
                </td>
                <td>
                  <code>{action}</code>
                </td>
                <td>
                  <code>{subject}</code>
                </td>
                <td>
                  <code>{actor.keyId ?? 'the command line'}</code>
                  {actor.sessionId !== null && <span className="quiet"> in the dashboard</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length === 0 && <p className="quiet">Nothing yet.</p>}
      {audit.hasNextPage && (
        <Button className="button" isDisabled={audit.isFetching} onPress={() => void audit.fetchNextPage()}>
          Earlier
        </Button>
      )}
    </>
  );
}
