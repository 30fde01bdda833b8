import { useInfiniteQuery } from '@tanstack/react-query';
import { NextPage } from '../components/next-page.tsx';
import { Loaded } from '../components/loaded.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { answerOf, api } from '../http/client.ts';

/** Shows the audit log of administrative actions. */
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
  return (
    <Loaded query={audit} problem="The audit log could not be loaded">
      {({ pages }) => {
        const entries = pages.flatMap((page) => page.entries);
        if (entries.length === 0) return <EmptyNote title="No changes yet" />;
        return (
          <>
            <Table name="Audit log" columns={['Time', 'Action', 'Subject', 'By']}>
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
                  <td className="one-line">
                    {actor.person !== null && `${actor.person} `}
                    <code>{actor.keyId ?? 'command line'}</code>
                    {actor.sessionId !== null && <span className="quiet"> in the dashboard</span>}
                  </td>
                </tr>
              ))}
            </Table>
            <NextPage list={audit} label="Earlier" />
          </>
        );
      }}
    </Loaded>
  );
}
