import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ActionForm } from '../components/action-form.tsx';
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

interface WebhookFormProps {
  projectId: string;
  /** Webhook to update; null to create one. */
  webhook: Webhook | null;
  /** Receives the secret of a new webhook, which is shown only once. */
  onSaved(secret: string | null): unknown;
}

/** Creates a webhook or updates the given one. */
export function WebhookForm({ projectId, webhook, onSaved }: WebhookFormProps) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [chosen, setChosen] = useState<EventType[]>(
    eventTypes.filter((type) => webhook?.eventTypes.includes(type) === true),
  );
  const save = useMutation({
    mutationFn: async () => {
      const body = { url: url.trim(), description: description.trim() || null, eventTypes: chosen };
      if (webhook === null) {
        const params = { path: { projectId } };
        return (await answerOf(api.POST('/v2/agent/{projectId}/webhooks', { params, body }))).secret;
      }
      const params = { path: { projectId, id: webhook.id } };
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
      <Field
        label="URL"
        type="url"
        value={url}
        onChange={setUrl}
        isRequired
        isCode
        placeholder="https://hooks.example.com/docket"
        hint="Receives POST requests signed according to Standard Webhooks."
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
