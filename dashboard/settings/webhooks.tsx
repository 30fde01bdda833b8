import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Problem } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { EmptyNote } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { fullTime } from '../format.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { Webhook } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import { Deliveries } from './deliveries.tsx';
import { ShownOnce } from './shown-once.tsx';
import { WebhookForm } from './webhook-form.tsx';

/** Shows the webhooks of a project. */
export function WebhooksPage() {
  const { projects } = useSession();
  const [projectId, setProjectId] = useState(projects[0]?.id ?? '');
  if (projectId === '') return <EmptyNote title="No projects yet" />;
  return (
    <>
      {projects.length > 1 && (
        <div className="filters">
          <Choice
            label="Project"
            value={projectId}
            options={projects.map(({ id, name }) => [id, name] as const)}
            onChange={setProjectId}
            isInline
          />
        </div>
      )}
      <WebhooksOf key={projectId} projectId={projectId} />
    </>
  );
}

function WebhooksOf({ projectId }: { projectId: string }) {
  const [secret, setSecret] = useState<string | null>(null);
  const queryKey = ['webhooks', projectId];
  const refresh = () => queryClient.invalidateQueries({ queryKey });
  const webhooks = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v2/agent/{projectId}/webhooks', { params: { path: { projectId } } })),
  });
  return (
    <Loaded query={webhooks} problem="Webhooks could not be loaded">
      {({ webhooks }) => (
        <>
          {webhooks.length === 0 && (
            <EmptyNote title="No webhooks yet">
              A webhook sends a request to your URL when a job ends or waits, or when its pull request is merged.
            </EmptyNote>
          )}
          {secret !== null && <ShownOnce secret={secret} />}
          {webhooks.map((webhook) => (
            <WebhookCard key={webhook.id} projectId={projectId} webhook={webhook} onChanged={refresh} />
          ))}
          <details className="panel">
            <summary>New webhook</summary>
            <WebhookForm
              projectId={projectId}
              webhook={null}
              onSaved={(made) => {
                setSecret(made);
                return refresh();
              }}
            />
          </details>
        </>
      )}
    </Loaded>
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
    onSuccess: () => {
      setShowsDeliveries(true);
      return queryClient.invalidateQueries({ queryKey: ['deliveries', webhook.id] });
    },
  });
  return (
    <section className="panel" aria-label={webhook.url}>
      <div className="page-head">
        <h2>
          <code>{webhook.url}</code>
        </h2>
        <span className={`badge ${webhook.enabled ? 'badge-good' : 'badge-bad'}`}>
          {webhook.enabled ? 'enabled' : 'disabled'}
        </span>
        {webhook.failingSince !== null && (
          <span className="badge badge-warn">
            <span>failing since {fullTime(webhook.failingSince)}</span>
          </span>
        )}
      </div>
      {webhook.description !== null && <p>{webhook.description}</p>}
      {webhook.disabledReason !== null && <p className="field-error">{webhook.disabledReason}</p>}
      <p className="hint">
        {webhook.format === 'slack' && 'Slack · '}
        {webhook.eventTypes.length === 0 ? 'all events' : webhook.eventTypes.join(', ')}
      </p>
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
          what="Delete webhook"
          title="Delete this webhook?"
          text="Pending deliveries are dropped."
          act={() => done(api.DELETE('/v2/agent/{projectId}/webhooks/{id}', { params: { path } }))}
          onDone={onChanged}
        />
      </div>
      {showsDeliveries && <Deliveries projectId={projectId} webhook={webhook} onSent={onChanged} />}
      <details className="inner">
        <summary>Edit</summary>
        <WebhookForm projectId={projectId} webhook={webhook} onSaved={onChanged} />
      </details>
    </section>
  );
}
