import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Field } from '../components/fields.tsx';
import { Several } from '../components/several.tsx';
import { answerOf, api } from '../http/client.ts';
import type { Webhook } from '../http/types.ts';

const eventTypes = [
  'job.created',
  'job.completed',
  'job.failed',
  'job.archived',
  'job.unarchived',
  'job.resumed',
  'job.waiting',
  'pull_request.closed',
  'pull_request.merged',
] as const;
type EventType = (typeof eventTypes)[number];

const formats = [
  ['standard', 'Standard Webhooks'],
  ['slack', 'Slack'],
] as const;

function hintOf(format: Webhook['format'], webhook: Webhook | null): string {
  if (format === 'standard') return 'Receives POST requests signed according to Standard Webhooks.';
  if (webhook !== null) return `Posts to ${new URL(webhook.url).host}. Leave it empty to keep the URL.`;
  return 'The URL of a Slack incoming webhook. It is a secret, and is not shown again.';
}

interface WebhookFormProps {
  projectId: string;
  /** Webhook to update; null to create one. */
  webhook: Webhook | null;
  /** Receives the secret of a new webhook, which is shown only once. */
  onSaved(secret: string | null): unknown;
}

/** Creates a webhook or updates the given one. */
export function WebhookForm({ projectId, webhook, onSaved }: WebhookFormProps) {
  const [format, setFormat] = useState(webhook?.format ?? 'standard');
  const isSlack = format === 'slack';
  // the address of a Slack webhook is not shown again
  const [url, setUrl] = useState(isSlack ? '' : (webhook?.url ?? ''));
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [chosen, setChosen] = useState<EventType[]>(
    eventTypes.filter((type) => webhook?.eventTypes.includes(type) === true),
  );
  const save = useMutation({
    mutationFn: async () => {
      const address = url.trim();
      const fields = { description: description.trim() || null, eventTypes: chosen };
      if (webhook === null) {
        const params = { path: { projectId } };
        const body = { format, url: address, ...fields };
        return (await answerOf(api.POST('/v2/agent/{projectId}/webhooks', { params, body }))).secret;
      }
      const params = { path: { projectId, id: webhook.id } };
      const body = { ...(address !== '' && { url: address }), ...fields };
      await answerOf(api.PATCH('/v2/agent/{projectId}/webhooks/{id}', { params, body }));
      return null;
    },
    onSuccess: (secret) => {
      if (webhook === null) {
        setUrl('');
        setDescription('');
        setChosen([]);
      }
      return onSaved(secret);
    },
  });
  return (
    <ActionForm label={webhook === null ? 'Create webhook' : 'Save'} action={save}>
      {webhook === null && <Choice label="Format" value={format} options={formats} onChange={setFormat} />}
      <Field
        label="URL"
        type="url"
        value={url}
        onChange={setUrl}
        isRequired={webhook === null || !isSlack}
        isCode
        placeholder={isSlack ? 'https://hooks.slack.com/services/…' : 'https://hooks.example.com/docket'}
        hint={hintOf(format, webhook)}
      />
      <Field label="Description" value={description} onChange={setDescription} />
      <Several
        label="Events"
        options={eventTypes}
        chosen={chosen}
        onChange={setChosen}
        hint="Leave empty for all events, including future ones."
      />
    </ActionForm>
  );
}
