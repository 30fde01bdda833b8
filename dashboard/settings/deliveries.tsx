import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { NextPage } from '../components/next-page.tsx';
import { Problem } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { duration, fullTime, plural } from '../format.ts';
import { byCursor, pageEvery } from '../http/all-pages.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { Delivery, Webhook } from '../http/types.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';

interface DeliveriesProps {
  projectId: string;
  webhook: Webhook;
  /** Called when a delivery is sent again, which may change the webhook's own state. */
  onSent(): unknown;
}

/** Shows the deliveries of a webhook, including failed ones. */
export function Deliveries({ projectId, webhook: { id, enabled }, onSent }: DeliveriesProps) {
  const queryKey = ['deliveries', id];
  const deliveries = useInfiniteQuery({
    queryKey,
    ...byCursor,
    refetchInterval: pageEvery(2_000),
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v2/agent/{projectId}/webhooks/{id}/deliveries', {
          params: { path: { projectId, id }, query: { limit: 20, cursor: pageParam || undefined } },
        }),
      ),
  });
  const redeliver = useMutation({
    mutationFn: (deliveryId: string) =>
      done(
        api.POST('/v2/agent/{projectId}/webhooks/{id}/deliveries/{deliveryId}/redeliver', {
          params: { path: { projectId, id, deliveryId } },
        }),
      ),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey });
      await onSent();
    },
  });
  return (
    <div className="deliveries">
      <Problem error={redeliver.error} />
      <Loaded query={deliveries} problem="Deliveries could not be loaded">
        {({ pages }) => {
          const all = pages.flatMap((page) => page.deliveries);
          if (all.length === 0) return <p className="quiet">No deliveries in the last 30 days.</p>;
          return (
            <Table name="Deliveries" columns={['Event', 'State', 'When']} hasActions>
              {all.map((delivery) => (
                <tr key={delivery.id}>
                  <td>
                    <code>{delivery.type}</code>
                    {delivery.jobId !== null && <code className="quiet block">{delivery.jobId}</code>}
                  </td>
                  <td>
                    <DeliveryState delivery={delivery} />
                  </td>
                  <td>
                    <Ago date={delivery.createdAt} />
                  </td>
                  <td className="row-actions">
                    <Button
                      className="button"
                      isDisabled={redeliver.isPending || !enabled}
                      onPress={() => redeliver.mutate(delivery.id)}
                    >
                      Redeliver
                    </Button>
                  </td>
                </tr>
              ))}
            </Table>
          );
        }}
      </Loaded>
      <NextPage list={deliveries} label="Earlier" />
    </div>
  );
}

/** Shows the state of a delivery, with the result of each attempt in its details. */
function DeliveryState({ delivery }: { delivery: Delivery }) {
  const { attempts, status, error, nextAttemptAt } = delivery;
  const last = attempts[0];
  return (
    <>
      <span className={`badge ${badgeOf(delivery)}`}>{wordOf(delivery)}</span>
      {error !== null && <p className="hint">{error}</p>}
      {status === 'pending' && last !== undefined && nextAttemptAt !== null && (
        <p className="hint">Next attempt at {fullTime(nextAttemptAt)}.</p>
      )}
      {attempts.length > 0 && (
        <details className="attempts">
          <summary>{plural(attempts.length, 'attempt')}</summary>
          <ul>
            {attempts.map(({ startedAt, durationMs, statusCode, response, error }) => (
              <li key={startedAt}>
                <strong>{statusCode ?? 'no response'}</strong>{' '}
                <span className="quiet">
                  {fullTime(startedAt)}, {duration(durationMs)}
                </span>
                {error !== null && <p className="hint">{plain(error)}</p>}
                {response !== null && response !== '' && <pre className="hint">{plain(response)}</pre>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function wordOf({ status, attempts }: Delivery): string {
  if (status === 'delivered') return `delivered · ${attempts[0]?.statusCode ?? ''}`;
  if (status === 'failed') return 'failed';
  const [last] = attempts;
  return last === undefined ? 'in flight' : `failed · ${last.statusCode ?? 'no response'}`;
}

function badgeOf({ status, attempts }: Delivery): string {
  if (status === 'delivered') return 'badge-good';
  if (status === 'failed') return 'badge-bad';
  return attempts.length === 0 ? 'badge-active' : 'badge-warn';
}
