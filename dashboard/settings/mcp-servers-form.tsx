import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Field, linesOf } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
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
          servers={servers}
          save={async (drafts) => {
            const body = { servers: drafts.map(serverOf) };
            const saved = await answerOf(api.PATCH('/v1/projects/{id}/mcp-servers', { params, body }));
            queryClient.setQueryData(queryKey, saved);
            return saved.servers;
          }}
        />
      )}
    </Loaded>
  );
}

function ServersForm({ servers, save }: { servers: McpServer[]; save(drafts: Draft[]): Promise<McpServer[]> }) {
  const [drafts, setDrafts] = useState(() => servers.map(draftOf));
  const action = useMutation({
    mutationFn: () => save(drafts),
    onSuccess: (saved) => setDrafts(saved.map(draftOf)),
  });
  const change = (at: number, part: Partial<Draft>) =>
    setDrafts(drafts.map((draft, position) => (position === at ? { ...draft, ...part } : draft)));
  return (
    <ActionForm label="Update MCP servers" action={action}>
      <h3>MCP servers</h3>
      {drafts.length === 0 && <p className="hint">None. Agents may call the tools of servers that you add.</p>}
      {drafts.map((draft, at) => (
        <details key={at} className="inner" open={at >= servers.length}>
          <summary>MCP server {draft.name}</summary>
          <div className="form">
            <Field label="Name" value={draft.name} onChange={(name) => change(at, { name })} isRequired isCode />
            <Choice label="Runs" value={draft.kind} options={kinds} onChange={(kind) => change(at, { kind })} />
            <TargetFields draft={draft} onChange={(part) => change(at, part)} />
            <Field
              label="Tools agents may call, one per line"
              value={draft.tools}
              onChange={(tools) => change(at, { tools })}
              rows={2}
              isCode
              placeholder="all"
            />
            <Choice
              label="Read-only calls, which may be repeated"
              value={draft.readOnly}
              options={readOnlyChoices}
              onChange={(readOnly) => change(at, { readOnly })}
            />
            <Button className="button" onPress={() => setDrafts(drafts.filter((_, position) => position !== at))}>
              Remove server
            </Button>
          </div>
        </details>
      ))}
      <div className="actions">
        <Button className="button" onPress={() => setDrafts([...drafts, newServer])}>
          Add MCP server
        </Button>
      </div>
    </ActionForm>
  );
}

function TargetFields({ draft, onChange }: { draft: Draft; onChange(part: Partial<Draft>): void }) {
  if (draft.kind === 'command')
    return (
      <>
        <Field
          label="Program and arguments, one per line"
          value={draft.command}
          onChange={(command) => onChange({ command })}
          rows={3}
          isRequired
          isCode
          placeholder={'npx\n-y\n@example/server'}
          hint="Starts on the worker, in a sandbox of its own without the repository."
        />
        <Field
          label="Environment variables, one NAME=value per line"
          value={draft.env}
          onChange={(env) => onChange({ env })}
          rows={2}
          isCode
          placeholder={draft.envNames.length > 0 ? `${draft.envNames.join(', ')}; new lines replace all` : ''}
          hint="Stored encrypted and never shown again. A new command needs them again."
        />
      </>
    );
  return (
    <>
      <Field label="URL" type="url" value={draft.url} onChange={(url) => onChange({ url })} isRequired isCode />
      <Field
        label="Authorization header"
        type="password"
        value={draft.authorization}
        onChange={(authorization) => onChange({ authorization })}
        isCode
        placeholder={draft.headerNames.length > 0 ? 'set; a new value replaces all headers' : 'Bearer …'}
        hint="Stored encrypted and never shown again. A new URL needs it again."
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
