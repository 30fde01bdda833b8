import { useMutation, useQuery } from '@tanstack/react-query';
import { ActionForm } from '../components/action-form.tsx';
import { Choice } from '../components/choice.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Field, fieldsOf, Problem } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { LongList } from '../components/long-list.tsx';
import { roles, useSession, type Role } from '../components/session.tsx';
import { Table } from '../components/table.tsx';
import { Ago } from '../components/time.tsx';
import { useDraft } from '../drafts.ts';
import { dayOf } from '../format.ts';
import { allPages } from '../http/all-pages.ts';
import { answerOf, api, done } from '../http/client.ts';
import type { Key } from '../http/types.ts';
import { Copy } from '../components/copy.tsx';
import { queryClient } from '../queries.ts';
import { KeyRules, KeyRuleFields, noRules, rulesOf } from './key-rules.tsx';
import { ShownOnce } from './shown-once.tsx';

const queryKey = ['keys'];
const refresh = () => queryClient.invalidateQueries({ queryKey });

async function readKeys() {
  const pages = await allPages((query) => answerOf(api.GET('/v1/keys', { params: { query } })));
  return { keys: pages.flatMap((page) => page.keys) };
}

/** Shows the organization's keys and the ids used with them. */
export function KeysPage() {
  const { projects, sites } = useSession();
  const identifiers = [
    ...projects.map(({ id, name }) => ({ what: 'project', name, id })),
    ...sites.map(({ domain }) => ({ what: 'site', name: domain, id: domain })),
  ];
  const keys = useQuery({ queryKey, queryFn: readKeys });
  return (
    <>
      <h2>Identifiers</h2>
      <p className="quiet">The ids used in API URLs.</p>
      <LongList items={identifiers} what="identifiers" textOf={({ name, id }) => `${name} ${id}`}>
        {(shown) => (
          <Table name="Identifiers" columns={['Type', 'Name', 'In URLs']}>
            {shown.map((identifier) => (
              <Identifier key={identifier.id} {...identifier} />
            ))}
          </Table>
        )}
      </LongList>
      <h2>API keys</h2>
      <p className="quiet">
        An admin key is secret: use it on servers and in this dashboard. Its role limits what it may do. An assistant
        key is public and safe to embed in a page. Give each person a key with their name; the name appears next to
        their actions.
      </p>
      <NewKey />
      <Loaded query={keys} problem="Keys could not be loaded">
        {({ keys }) => (
          <LongList items={keys} what="keys" textOf={({ name, id }) => `${name ?? ''} ${id}`}>
            {(shown) => (
              <Table name="API keys" columns={['Name', 'Kind', 'Role', 'State', 'Last used', 'Created']} hasActions>
                {shown.map((key) => (
                  <KeyRow key={key.id} row={key} />
                ))}
              </Table>
            )}
          </LongList>
        )}
      </Loaded>
    </>
  );
}

function Identifier({ what, name, id }: { what: string; name: string; id: string }) {
  return (
    <tr>
      <td>{what}</td>
      <td>{name}</td>
      <td>
        <span className="one-line">
          <code>{id}</code>
          <Copy text={id} label={id} />
        </span>
      </td>
    </tr>
  );
}

function KeyRow({ row }: { row: Key }) {
  const { id, kind, role, name, createdAt, lastUsedAt, revokedAt, expiresAt } = row;
  const isOwn = useSession().keyId === id;
  return (
    <tr>
      <td>
        <span className="key-name">{name ?? <span className="quiet">unnamed</span>}</span>{' '}
        <code className="quiet">{id}</code>
        {isOwn && <span className="badge key-own">this session</span>}
        {kind === 'assistant' && revokedAt === null && <KeyRules row={row} onSaved={refresh} />}
      </td>
      <td>{kind}</td>
      <td>{role !== null && (revokedAt === null && !isOwn ? <KeyRole id={id} name={name} role={role} /> : role)}</td>
      <td>
        <KeyState revokedAt={revokedAt} expiresAt={expiresAt} />
      </td>
      <td>{lastUsedAt === null ? <span className="quiet">never</span> : <Ago date={lastUsedAt} />}</td>
      <td>
        <Ago date={createdAt} />
      </td>
      <td className="row-actions">
        {revokedAt === null && (
          <Confirm
            label="Revoke"
            what="Revoke key"
            title={`Revoke ${name ?? 'this key'}?`}
            text={`${isOwn ? 'You are signed in with this key: revoking it signs you out. ' : ''}Requests with this key are rejected immediately. This cannot be undone.`}
            act={() => done(api.DELETE('/v1/keys/{id}', { params: { path: { id } } }))}
            onDone={refresh}
          />
        )}
      </td>
    </tr>
  );
}

function KeyState({ revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>) {
  if (revokedAt !== null) return <span className="badge badge-bad">revoked</span>;
  if (expiresAt === null) return <span className="badge badge-good">active</span>;
  const isOver = Date.parse(expiresAt) < Date.now();
  return (
    <span className={`badge ${isOver ? 'badge-bad' : 'badge-good'}`}>
      {isOver ? 'expired' : `expires ${dayOf(expiresAt)}`}
    </span>
  );
}

/** Changes what an admin key may do. */
function KeyRole({ id, name, role }: { id: string; name: string | null; role: Role }) {
  const change = useMutation({
    mutationFn: (wanted: Role) =>
      answerOf(api.PATCH('/v1/keys/{id}', { params: { path: { id } }, body: { role: wanted } })),
    onSettled: refresh,
  });
  return (
    <>
      <select
        aria-label={`Role of ${name ?? id}`}
        value={change.variables ?? role}
        disabled={change.isPending}
        onChange={({ target }) => change.mutate(roles.find((one) => one === target.value) ?? role)}
      >
        {roles.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
      <Problem error={change.error} />
    </>
  );
}

const kinds = [
  ['assistant', 'assistant (public)'],
  ['admin', 'admin (secret)'],
] as const;

const roleOptions = [
  ['admin', 'admin: everything'],
  ['member', 'member: jobs, pull requests, gaps and evaluations'],
  ['viewer', 'viewer: read only'],
] as const;

const newKey: { kind: 'admin' | 'assistant'; role: Role; name: string; days: string } = {
  kind: 'assistant',
  role: 'member',
  name: '',
  days: '',
};

function NewKey() {
  const draft = useDraft('new key', { ...newKey, ...noRules });
  const { kind, name, role, days, ...rules } = draft.values;
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/keys', {
          body: {
            kind,
            ...(name.trim() === '' ? {} : { name: name.trim() }),
            ...(days.trim() === '' ? {} : { expiresInDays: Number(days) }),
            ...(kind === 'assistant' ? rulesOf(rules) : { role }),
          },
        }),
      ),
    onSuccess: () => {
      draft.forget();
      return refresh();
    },
  });
  const field = fieldsOf(draft.values, draft.change);
  return (
    <details className="panel">
      <summary>New key</summary>
      <ActionForm label="Create key" action={create} draft={draft} name="New key">
        <div className="field-triple">
          <Field label="Name" {...field('name')} placeholder="who or what uses it" />
          <Choice label="Kind" {...field('kind')} options={kinds} />
          <Field
            label="Expires after (days)"
            {...field('days')}
            name="expiresInDays"
            type="number"
            placeholder="never"
          />
        </div>
        {kind === 'admin' && <Choice label="Role" {...field('role')} options={roleOptions} />}
        {kind === 'assistant' && <KeyRuleFields draft={rules} onChange={draft.change} />}
      </ActionForm>
      {create.data !== undefined && <ShownOnce secret={create.data.key} />}
    </details>
  );
}
