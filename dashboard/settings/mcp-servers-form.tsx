import { useMutation, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Field, fieldsOf, linesOf, type DraftFieldsProps } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useDraft } from '../drafts.ts';
import { answerOf, api } from '../http/client.ts';
import type { McpServer } from '../http/types.ts';
import { queryClient } from '../queries.ts';

const readOnlyChoices = [
  ['annotated', 'as the server annotates them'],
  ['all', 'all'],
  ['none', 'none'],
] as const;

const kinds = [
  ['http', 'at a URL (streamable HTTP)'],
  ['command', 'as a command (stdio)'],
] as const;

interface Draft {
  name: string;
  kind: (typeof kinds)[number][0];
  url: string;
  /** The program and its arguments, one per line. */
  command: string;
  tools: string;
  readOnly: McpServer['readOnly'];
  /** New value of the header `Authorization`. The stored one is never shown. */
  authorization: string;
  /** New environment variables, one `NAME=value` per line. Stored ones are never shown. */
  env: string;
  headerNames: string[];
  envNames: string[];
}

const newServer: Draft = {
  name: '',
  kind: 'http',
  url: '',
  command: '',
  tools: '',
  readOnly: 'annotated',
  authorization: '',
  env: '',
  headerNames: [],
  envNames: [],
};

/** Shows a form for the MCP servers of a project's agents. */
export function McpServersPanel({ projectId }: { projectId: string }) {
  const params = { path: { id: projectId } };
  const queryKey = ['mcp-servers', projectId];
  const found = useQuery({
    queryKey,
    queryFn: () => answerOf(api.GET('/v1/projects/{id}/mcp-servers', { params })),
  });
  return (
    <Loaded query={found} problem="MCP servers could not be loaded">
      {({ servers }) => (
        <ServersForm
          projectId={projectId}
          servers={servers}
          save={async (drafts) => {
            const body = { servers: drafts.map(serverOf) };
            const saved = await answerOf(api.PATCH('/v1/projects/{id}/mcp-servers', { params, body }));
            queryClient.setQueryData(queryKey, saved);
          }}
        />
      )}
    </Loaded>
  );
}

interface ServersFormProps {
  projectId: string;
  servers: McpServer[];
  save(drafts: Draft[]): Promise<void>;
}

function ServersForm({ projectId, servers, save }: ServersFormProps) {
  const form = useDraft(`MCP servers of ${projectId}`, { drafts: servers.map(draftOf) });
  // the draft has no secrets
  const drafts = form.values.drafts.map((draft) => ({ ...newServer, ...draft }));
  const change = (changed: Draft[]) => form.change({ drafts: changed });
  const action = useMutation({ mutationFn: () => form.send(() => save(drafts)) });
  return (
    <ActionForm label="Update MCP servers" action={action} draft={form}>
      <h3>MCP servers</h3>
      {drafts.length === 0 && <p className="hint">None. Agents may call the tools of the servers that you add.</p>}
      {drafts.map((draft, at) => (
        <details key={at} className="inner" open={at >= servers.length}>
          <summary>MCP server {draft.name}</summary>
          <div className="form">
            <ServerFields
              draft={draft}
              path={`servers[${at}].`}
              onChange={(changed) => change(drafts.with(at, { ...draft, ...changed }))}
            />
            <Button className="button" onPress={() => change(drafts.toSpliced(at, 1))}>
              Remove server
            </Button>
          </div>
        </details>
      ))}
      <div className="actions">
        <Button className="button" onPress={() => change([...drafts, newServer])}>
          Add MCP server
        </Button>
      </div>
    </ActionForm>
  );
}

function ServerFields({ draft, path, onChange }: DraftFieldsProps<Draft>) {
  const field = fieldsOf(draft, onChange, path);
  return (
    <>
      <Field label="Name" {...field('name')} isRequired isCode />
      <Choice label="Runs" {...field('kind')} options={kinds} />
      <TargetFields draft={draft} field={field} />
      <Field label="Tools agents may call, one per line" {...field('tools')} rows={2} isCode placeholder="all" />
      <Choice label="Read-only calls, which may be repeated" {...field('readOnly')} options={readOnlyChoices} />
    </>
  );
}

function TargetFields({ draft, field }: { draft: Draft; field: ReturnType<typeof fieldsOf<Draft>> }) {
  if (draft.kind === 'command')
    return (
      <>
        <Field
          label="Program and arguments, one per line"
          {...field('command')}
          rows={3}
          isRequired
          isCode
          placeholder={'npx\n-y\n@example/server'}
          hint="Starts on the worker, in its own sandbox without the repository."
        />
        <Field
          label="Environment variables, one NAME=value per line"
          {...field('env')}
          rows={2}
          isCode
          placeholder={draft.envNames.length > 0 ? `${draft.envNames.join(', ')}; new lines replace all` : ''}
          hint="Stored encrypted and never shown again. If you change the command, enter them again."
        />
      </>
    );
  return (
    <>
      <Field label="URL" type="url" {...field('url')} isRequired isCode />
      <Field
        label="Authorization header"
        type="password"
        {...field('authorization')}
        isCode
        placeholder={draft.headerNames.length > 0 ? 'set; a new value replaces all headers' : 'Bearer …'}
        hint="Stored encrypted and never shown again. If you change the URL, enter it again."
      />
    </>
  );
}

function draftOf({ url, command, tools, ...server }: McpServer): Draft {
  return {
    ...server,
    kind: command === null ? 'http' : 'command',
    url: url ?? '',
    command: command?.join('\n') ?? '',
    tools: tools?.join('\n') ?? '',
    authorization: '',
    env: '',
  };
}

function serverOf({ name, kind, tools, readOnly, ...target }: Draft) {
  const named = linesOf(tools);
  return {
    name: name.trim(),
    readOnly,
    tools: named.length === 0 ? null : named,
    ...(kind === 'http' ? httpOf(target) : commandOf(target)),
  };
}

function httpOf({ url, authorization }: Pick<Draft, 'url' | 'authorization'>) {
  const value = authorization.trim();
  return { url: url.trim(), ...(value !== '' && { headers: [{ name: 'Authorization', value }] }) };
}

function commandOf({ command, env }: Pick<Draft, 'command' | 'env'>) {
  const values = linesOf(env).map((line) => {
    const [name = '', ...rest] = line.split('=');
    return { name: name.trim(), value: rest.join('=').trim() };
  });
  // an argument may begin with a space
  const words = command.split('\n').filter((word) => word.trim() !== '');
  return { command: words, ...(values.length > 0 && { env: values }) };
}
