import { useInfiniteQuery } from '@tanstack/react-query';
import { NextPage } from '../components/next-page.tsx';
import { Loaded } from '../components/loaded.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { answerOf, api } from '../http/client.ts';
import { Copy } from '../jobs/copy.tsx';
import { headline, plain } from '../plain.ts';

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
              {entries.map(({ id, at, action, subject, subjectName, actor }) => (
                <tr key={id}>
                  <td>
                    <Ago date={at} />
                  </td>
                  <td>
                    <code>{action}</code>
                  </td>
                  <td>{subject !== null && <Named id={subject} name={subjectName} />}</td>
                  <td>
                    {actor.person !== null && `${plain(actor.person)} `}
                    {actor.keyId === null ? 'command line' : <Named id={actor.keyId} name={actor.keyName} />}
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

/** Shows the name of a resource, and its id to copy. */
function Named({ id, name }: { id: string; name: string | null }) {
  return (
    <>
      {name !== null && <>{headline(plain(name), 80)} </>}
      <span className="one-line">
        <code className={name === null ? undefined : 'quiet'}>{id}</code>
        <Copy text={id} label={id} />
      </span>
    </>
  );
}
