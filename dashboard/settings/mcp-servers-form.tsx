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

interface Draft {
  name: string;
  url: string;
  tools: string;
  readOnly: McpServer['readOnly'];
  /** New value of the header `Authorization`. The stored one is never shown. */
  authorization: string;
  headerNames: string[];
}

const newServer: Draft = { name: '', url: '', tools: '', readOnly: 'annotated', authorization: '', headerNames: [] };

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
            <Field label="URL" type="url" value={draft.url} onChange={(url) => change(at, { url })} isRequired isCode />
            <Field
              label="Authorization header"
              type="password"
              value={draft.authorization}
              onChange={(authorization) => change(at, { authorization })}
              isCode
              placeholder={draft.headerNames.length > 0 ? 'set; a new value replaces all headers' : 'Bearer …'}
              hint="Stored encrypted and never shown again. A new URL needs it again."
            />
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

function draftOf({ tools, ...server }: McpServer): Draft {
  return { ...server, tools: tools?.join('\n') ?? '', authorization: '' };
}

function serverOf({ name, url, tools, readOnly, authorization }: Draft) {
  const named = linesOf(tools);
  const value = authorization.trim();
  return {
    name: name.trim(),
    url: url.trim(),
    readOnly,
    tools: named.length === 0 ? null : named,
    ...(value !== '' && { headers: [{ name: 'Authorization', value }] }),
  };
}
