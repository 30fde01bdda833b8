import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Form } from 'react-aria-components';
import { Confirm } from '../components/confirm.tsx';
import { Field, Submit } from '../components/fields.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { useSession } from '../components/session.tsx';
import { Ago } from '../components/time.tsx';
import { answerOf, api, done, messageOf } from '../http/client.ts';
import { queryClient } from '../queries.ts';

const queryKey = ['keys'];
const refresh = () => queryClient.invalidateQueries({ queryKey });

/** Keys of the organization, and the ids that go with them. */
export function KeysPage() {
  const { projects, sites } = useSession();
  const keys = useQuery({ queryKey, queryFn: () => answerOf(api.GET('/v1/keys')) });
  return (
    <>
      <h2>Identifiers</h2>
      <p className="quiet">What addresses of the API are made of.</p>
      <table className="table">
        <thead>
          <tr>
            <th>What</th>
            <th>Name</th>
            <th>In addresses</th>
          </tr>
        </thead>
        <tbody>
          {projects.map(({ id, name }) => (
            <tr key={id}>
              <td>project</td>
              <td>{name}</td>
              <td>
                <code>{id}</code>
              </td>
            </tr>
          ))}
          {sites.map(({ domain }) => (
            <tr key={domain}>
              <td>site</td>
              <td>{domain}</td>
              <td>
                <code>{domain}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>API keys</h2>
      {keys.isPending && <Loading />}
      {keys.isError && <ErrorNote title="The keys could not be read" message={messageOf(keys.error)} />}
      {keys.data !== undefined && (
        <div className="table-scroll" tabIndex={0} role="group" aria-label="API keys">
          <table className="table">
            <thead>
              <tr>
                <th>Kind</th>
                <th>Name</th>
                <th>Made</th>
                <th>Last used</th>
                <th>State</th>
                <th>
                  <span className="visually-hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {keys.data.keys.map((key) => (
                <tr key={key.id}>
                  <td>{key.kind}</td>
                  <td>
                    {key.name ?? <span className="quiet">unnamed</span>} <code className="quiet">{key.id}</code>
                  </td>
                  <td>
                    <Ago date={key.createdAt} />
                  </td>
                  <td>
                    {key.lastUsedAt === null ? <span className="quiet">never</span> : <Ago date={key.lastUsedAt} />}
                  </td>
                  <td>
                    <KeyState revokedAt={key.revokedAt} expiresAt={key.expiresAt} />
                  </td>
                  <td>
                    {key.revokedAt === null && (
                      <Confirm
                        label="Revoke"
                        what="Revoke the key"
                        title="Revoke this key?"
                        text="Whoever uses it is refused from now on. It cannot be brought back."
                        act={() => done(api.DELETE('/v1/keys/{id}', { params: { path: { id: key.id } } }))}
                        onDone={refresh}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <NewKey />
    </>
  );
}

function KeyState({ revokedAt, expiresAt }: { revokedAt: string | null; expiresAt: string | null }) {
  if (revokedAt !== null) return <span className="badge badge-bad">revoked</span>;
  if (expiresAt === null) return <span className="badge badge-good">valid</span>;
  const isOver = Date.parse(expiresAt) < Date.now();
  return (
    <span className={`badge ${isOver ? 'badge-bad' : 'badge-warn'}`}>
      {isOver ? 'expired' : `until ${expiresAt.slice(0, 10)}`}
    </span>
  );
}

function NewKey() {
  const [kind, setKind] = useState<'admin' | 'assistant'>('assistant');
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const create = useMutation({
    mutationFn: () =>
      answerOf(
        api.POST('/v1/keys', {
          body: {
            kind,
            ...(name.trim() === '' ? {} : { name: name.trim() }),
            ...(days.trim() === '' ? {} : { expiresInDays: Number(days) }),
          },
        }),
      ),
    onSuccess: () => {
      setName('');
      return refresh();
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
      <h3>Make a key</h3>
      <label className="field">
        <span className="label">Kind</span>
        <select
          className="input"
          value={kind}
          onChange={({ target }) => setKind(target.value === 'admin' ? 'admin' : 'assistant')}
        >
          <option value="assistant">assistant: public, may stand in a page</option>
          <option value="admin">admin: secret, for servers</option>
        </select>
      </label>
      <div className="field-pair">
        <Field label="Name" value={name} onChange={setName} placeholder="What it is for" />
        <Field label="Valid for so many days" value={days} onChange={setDays} type="number" placeholder="for good" />
      </div>
      <Submit label="Make the key" action={create} />
      {create.data !== undefined && <ShownOnce secret={create.data.key} />}
    </Form>
  );
}

/** A secret that is shown this one time. */
export function ShownOnce({ secret }: { secret: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="note shown-once" role="status">
      <p>Keep it now: it is not shown again.</p>
      <code>{secret}</code>
      <Button
        className="button"
        onPress={() => {
          void navigator.clipboard.writeText(secret).then(() => setCopied(true));
        }}
      >
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
