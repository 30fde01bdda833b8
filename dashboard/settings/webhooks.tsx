import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { Confirm } from '../components/confirm.tsx';
import { Field, Problem, Submit } from '../components/fields.tsx';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { Ago } from '../components/time.tsx';
import { answerOf, api, done, messageOf } from '../http/client.ts';
import type { Webhook } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import { ShownOnce } from './keys.tsx';

/** Who is told when something happens in a project. */
export function WebhooksPage() {
  const { projects } = useSession();
  const [projectId, setProjectId] = useState(projects[0]?.id ?? '');
  if (projectId === '') return <EmptyNote title="There is no project yet" />;
  return (
    <>
      {projects.length > 1 && (
        <label className="inline-field">
          <span>Project</span>
          <select value={projectId} onChange={({ target }) => setProjectId(target.value)}>
            {projects.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <WebhooksOf key={projectId} projectId={projectId} />
    </>
  );
}

function WebhooksOf({ projectId }: { projectId: string }) {
  const queryKey = ['webhooks', projectId];
  const refresh = () => queryClient.invalidateQueries({ queryKey });
  const webhooks = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/webhooks', { params: { path: { projectId } } })),
  });
  if (webhooks.isPending) return <Loading />;
  if (webhooks.isError) return <ErrorNote title="The webhooks could not be read" message={messageOf(webhooks.error)} />;
  return (
    <>
      {webhooks.data.webhooks.map((webhook) => (
        <WebhookCard key={webhook.id} projectId={projectId} webhook={webhook} onChanged={refresh} />
      ))}
      {webhooks.data.webhooks.length === 0 && <p className="quiet">Nobody is told yet.</p>}
      <NewWebhook projectId={projectId} onMade={refresh} />
    </>
  );
}

interface CardProps {
  projectId: string;
  webhook: Webhook;
  onChanged(): unknown;
}

function WebhookCard({ projectId, webhook, onChanged }: CardProps) {
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const path = { projectId, id: webhook.id };
  const toggle = useMutation({
    mutationFn: () =>
      answerOf(
        api.PATCH('/v2/agent/{projectId}/webhooks/{id}', { params: { path }, body: { enabled: !webhook.enabled } }),
      ),
    onSuccess: onChanged,
  });
  const ping = useMutation({
    mutationFn: () => done(api.POST('/v2/agent/{projectId}/webhooks/{id}/ping', { params: { path } })),
    onSuccess: () => setShowsDeliveries(true),
  });
  return (
    <section className="panel" aria-label={webhook.url}>
      <div className="page-head">
        <code>{webhook.url}</code>
        <span className={`badge ${webhook.enabled ? 'badge-good' : 'badge-bad'}`}>
          {webhook.enabled ? 'enabled' : 'disabled'}
        </span>
        {webhook.failingSince !== null && (
          <span className="badge badge-warn">
            failing since <Ago date={webhook.failingSince} />
          </span>
        )}
      </div>
      {webhook.disabledReason !== null && <p className="quiet">{webhook.disabledReason}</p>}
      <p className="quiet">{(webhook.eventTypes ?? ['all events']).join(', ')}</p>
      <Problem error={toggle.error ?? ping.error} />
      <div className="actions">
        <Button className="button" aria-expanded={showsDeliveries} onPress={() => setShowsDeliveries(!showsDeliveries)}>
          Deliveries
        </Button>
        <Button className="button" isDisabled={ping.isPending || !webhook.enabled} onPress={() => ping.mutate()}>
          Ping
        </Button>
        <Button className="button" isDisabled={toggle.isPending} onPress={() => toggle.mutate()}>
          {webhook.enabled ? 'Disable' : 'Enable'}
        </Button>
        <Confirm
          label="Delete"
          what="Delete the webhook"
          title="Delete this webhook?"
          text="What waits to be delivered is not sent any more."
          act={() => done(api.DELETE('/v2/agent/{projectId}/webhooks/{id}', { params: { path } }))}
          onDone={onChanged}
        />
      </div>
      {showsDeliveries && <Deliveries projectId={projectId} id={webhook.id} />}
    </section>
  );
}

function Deliveries({ projectId, id }: { projectId: string; id: string }) {
  const queryKey = ['deliveries', id];
  const deliveries = useQuery({
    queryKey,
    refetchInterval: 3_000,
    queryFn: () =>
      answerOf(
        api.GET('/v2/agent/{projectId}/webhooks/{id}/deliveries', {
          params: { path: { projectId, id }, query: { limit: 20 } },
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
    onSuccess: () => queryClient.invalidateQueries({ queryKey }),
  });
  if (deliveries.isPending) return <Loading />;
  if (deliveries.isError) return <Problem error={deliveries.error} />;
  if (deliveries.data.deliveries.length === 0) return <p className="quiet">Nothing was sent in the last 30 days.</p>;
  return (
    <div className="table-scroll" tabIndex={0} role="group" aria-label="Deliveries">
      <Problem error={redeliver.error} />
      <table className="table">
        <thead>
          <tr>
            <th>Event</th>
            <th>State</th>
            <th>Attempts</th>
            <th>When</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {deliveries.data.deliveries.map((delivery) => {
            const last = delivery.attempts.at(-1);
            return (
              <tr key={delivery.id}>
                <td>
                  <code>{delivery.type}</code>
                </td>
                <td>
                  {delivery.status}
                  {last?.statusCode != null && ` · ${last.statusCode}`}
                  {(delivery.error ?? last?.error) != null && (
                    <div className="hint">{delivery.error ?? last?.error}</div>
                  )}
                </td>
                <td>{delivery.attempts.length}</td>
                <td>
                  <Ago date={delivery.createdAt} />
                </td>
                <td>
                  <Button
                    className="button"
                    isDisabled={redeliver.isPending}
                    onPress={() => redeliver.mutate(delivery.id)}
                  >
                    Send again
                  </Button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function NewWebhook({ projectId, onMade }: { projectId: string; onMade(): unknown }) {
  const [url, setUrl] = useState('');
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v2/agent/{projectId}/webhooks', { params: { path: { projectId } }, body: { url: url.trim() } }),
      ),
    onSuccess: () => {
      setUrl('');
      return onMade();
    },
  });
  return (
    <Form
      className="form panel"
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate();
      }}
    >
      <h2>New webhook</h2>
      <Field
        label="Address"
        type="url"
        value={url}
        onChange={setUrl}
        isRequired
        isCode
        placeholder="https://hooks.example.com/docket"
        hint="It gets all events, signed by Standard Webhooks."
      />
      <Submit label="Make the webhook" action={create} />
      {create.data !== undefined && <ShownOnce secret={create.data.secret} />}
    </Form>
  );
}
