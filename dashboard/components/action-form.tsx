import type { ReactNode } from 'react';
import { Form } from 'react-aria-components';
import { Submit } from './fields.tsx';
import { useMay, type Role } from './session.tsx';

interface ActionFormProps {
  /** Label of the submit button. */
  label: string;
  action: { isPending: boolean; isError: boolean; isSuccess: boolean; error: unknown; mutate(): void };
  children: ReactNode;
  /** Accessible name, which makes the form a landmark of the page. */
  name?: string;
  /** Role that the action needs. Default `admin`. */
  role?: Role;
}

/**
 * Shows a form for one action: its fields, the error if it was refused, and the submit button. Without the role that the
 * action needs, the fields cannot be changed.
 */
export function ActionForm({ label, action, children, name, role = 'admin' }: ActionFormProps) {
  const may = useMay(role);
  return (
    <Form
      className="form"
      {...(name === undefined ? {} : { 'aria-label': name })}
      onSubmit={(event) => {
        event.preventDefault();
        action.mutate();
      }}
    >
      {may ? (
        <>
          {children}
          <Submit label={label} action={action} />
        </>
      ) : (
        <fieldset className="form-locked" disabled>
          {children}
          <p className="hint">This needs the role {role}.</p>
        </fieldset>
      )}
    </Form>
  );
}
