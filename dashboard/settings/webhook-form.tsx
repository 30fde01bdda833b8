import { useMutation } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Field, fieldsOf } from '../components/fields.tsx';
import { Several } from '../components/several.tsx';
import { useDraft } from '../drafts.ts';
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

const formats = [
  ['standard', 'Standard Webhooks'],
  ['slack', 'Slack'],
] as const;

function hintOf(format: Webhook['format'], webhook: Webhook | null): string {
  if (format === 'standard') return 'Receives POST requests signed according to Standard Webhooks.';
  if (webhook !== null) return `Posts to ${new URL(webhook.url).host}. Leave it empty to keep the URL.`;
  return 'The URL of a Slack incoming webhook. It is a secret, and is not shown again.';
}

function draftOf(webhook: Webhook | null) {
  const format = webhook?.format ?? 'standard';
  return {
    format,
    url: format === 'slack' ? '' : (webhook?.url ?? ''),
    /** The address of a Slack webhook, which is not shown again. */
    slackUrl: '',
    description: webhook?.description ?? '',
    chosen: eventTypes.filter((type) => webhook?.eventTypes.includes(type) === true),
  };
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
  const form = useDraft(`webhook ${webhook?.id ?? `of ${projectId}`}`, draftOf(webhook));
  const { format, url, slackUrl, description, chosen } = form.values;
  const isSlack = format === 'slack';
  const request = async () => {
    const address = (isSlack ? slackUrl : url).trim();
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
  };
  const save = useMutation({
    mutationFn: () => form.send(async () => onSaved(await request())),
  });
  const field = fieldsOf(form.values, form.change);
  return (
    <ActionForm label={webhook === null ? 'Create webhook' : 'Save'} action={save} draft={form}>
      {webhook === null && <Choice label="Format" {...field('format')} options={formats} />}
      <Field
        label="URL"
        type="url"
        {...field(isSlack ? 'slackUrl' : 'url')}
        name="url"
        isRequired={webhook === null || !isSlack}
        isCode
        placeholder={isSlack ? 'https://hooks.slack.com/services/…' : 'https://hooks.example.com/docket'}
        hint={hintOf(format, webhook)}
      />
      <Field label="Description" {...field('description')} />
      <Several
        label="Events"
        options={eventTypes}
        chosen={chosen}
        onChange={(chosen) => form.change({ chosen })}
        hint="Leave empty for all events, including future ones."
      />
    </ActionForm>
  );
}
